"""Random programs of collectives on eight devices, by XLA: with FP8 on the wire, and without."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import sharded_programs

import mlir_fp8
from mlir_fp8.passes.pass_pipeline import run_pipeline

pytest.importorskip("jax")

GROUPS = {
    "x": [[0, 4], [1, 5], [2, 6], [3, 7]],
    "y": [[0, 1, 2, 3], [4, 5, 6, 7]],
    "xy": [[0, 1, 2, 3, 4, 5, 6, 7]],
}
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
MOST = 8192
BOUND = 0.3
"""Elements in a wrong place make it more than 1, a rounding to E4M3 some 0.03."""
OPTIONS = ("", " scales=row", " scales=shard", " as-bits power-of-two")


@dataclass
class Writer:
    """The body of a computation on one device's part, op by op."""

    numbers: np.random.Generator
    element: str
    shape: list[int] = field(default_factory=lambda: [16, 32])
    lines: list[str] = field(default_factory=list)
    value: str = "%x"
    collectives: int = 0

    def type(self, shape: list[int] | None = None) -> str:
        return f"tensor<{'x'.join(map(str, shape or self.shape))}x{self.element}>"

    def emit(self, text: str, shape: list[int]) -> None:
        """`text` with $V, what there is, and $T and $R, the types before and after."""
        name = f"%v{len(self.lines)}"
        filled = text.replace("$V", self.value).replace("$T", self.type())
        self.lines.append(f"      {name} = {filled.replace('$R', self.type(shape))}")
        self.value, self.shape = name, shape
        self.collectives += text.startswith('"')

    def step(self) -> None:
        kinds = (self.gather, self.exchange, self.permute, self.scatter,
                 self.reduce, self.elementwise, self.transpose, self.dot)  # fmt: skip
        kinds[self.numbers.integers(len(kinds))]()

    def group(self) -> tuple[int, str]:
        rows = GROUPS[str(self.numbers.choice(list(GROUPS)))]
        size = len(rows[0])
        return size, f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{size}xi64>, {CHANNEL}"

    def gather(self) -> None:
        size, group = self.group()
        dim = int(self.numbers.integers(2))
        shape = [n * size if at == dim else n for at, n in enumerate(self.shape)]
        if np.prod(shape) > MOST:
            return
        self.emit(f'"stablehlo.all_gather"($V) <{{all_gather_dim = {dim} : i64, {group},'
                  " use_global_device_ids}> : ($T) -> $R", shape)  # fmt: skip

    def exchange(self) -> None:
        size, group = self.group()
        split, joined = (int(each) for each in self.numbers.integers(2, size=2))
        if self.shape[split] % size:
            return
        shape = list(self.shape)
        shape[split] //= size
        shape[joined] *= size
        self.emit(f'"stablehlo.all_to_all"($V) <{{split_dimension = {split} : i64,'
                  f" concat_dimension = {joined} : i64, split_count = {size} : i64, {group}}}>"
                  " : ($T) -> $R", shape)  # fmt: skip

    def permute(self) -> None:
        targets = self.numbers.permutation(8)[: self.numbers.integers(4, 9)]
        pairs = [[at, int(target)] for at, target in enumerate(targets)]
        self.emit(f'"stablehlo.collective_permute"($V) <{{source_target_pairs = dense<{pairs}>'
                  f" : tensor<{len(pairs)}x2xi64>, {CHANNEL}}}> : ($T) -> $R",
                  self.shape)  # fmt: skip

    def scatter(self) -> None:
        size, group = self.group()
        dim = int(self.numbers.integers(2))
        if self.shape[dim] % size:
            return
        shape = [n // size if at == dim else n for at, n in enumerate(self.shape)]
        self.sum(f"scatter_dimension = {dim} : i64, {group}", "reduce_scatter", shape)

    def reduce(self) -> None:
        self.sum(self.group()[1], "all_reduce", self.shape)

    def sum(self, attributes: str, name: str, shape: list[int]) -> None:
        scalar = f"tensor<{self.element}>"
        self.emit(f'"stablehlo.{name}"($V) <{{{attributes}, use_global_device_ids}}> ({{\n'
                  f"      ^bb0(%a: {scalar}, %b: {scalar}):\n"
                  f"        %s = stablehlo.add %a, %b : {scalar}\n"
                  f"        stablehlo.return %s : {scalar}\n      }}) : ($T) -> $R",
                  shape)  # fmt: skip

    def elementwise(self) -> None:
        name = self.numbers.choice(["negate", "tanh", "abs"])
        self.emit(f"stablehlo.{name} $V : $T", self.shape)

    def transpose(self) -> None:
        self.emit("stablehlo.transpose $V, dims = [1, 0] : ($T) -> $R", self.shape[::-1])

    def dot(self) -> None:
        rows = self.shape[0]
        if rows * rows > MOST:
            return
        before = self.value
        self.emit(f"stablehlo.dot_general $V, {before}, contracting_dims = [1] x [1]"
                  " : ($T, $T) -> $R", [rows, rows])  # fmt: skip


def random_program(seed: int) -> tuple[str, list[np.ndarray], int]:
    """A module, its argument, and how many collectives it has."""
    numbers = np.random.default_rng(seed)
    writer = Writer(numbers, str(numbers.choice(["f32", "bf16"])))
    while writer.collectives < 3:
        writer.step()
    rows, columns = writer.shape
    first, last = (
        f"tensor<128x32x{writer.element}>",
        f"tensor<{8 * rows}x{columns}x{writer.element}>",
    )
    body = "\n".join(writer.lines)
    text = f"""module attributes {{mhlo.num_partitions = 8 : i32}} {{
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @main(%g: {first} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x", "y"}}, {{}}]>}}) -> {last} {{
    %0 = sdy.manual_computation(%g) in_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>]
        out_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>] manual_axes={{"x", "y"}}
        (%x: tensor<16x32x{writer.element}>) {{
{body}
      sdy.return {writer.value} : {writer.type()}
    }} : ({first}) -> {last}
    return %0 : {last}
  }}
}}"""  # noqa: E501
    return text, [numbers.normal(size=(128, 32)).astype(np.float32)], writer.collectives


def test_random_collectives(tmp_path: Path, exhaustive: bool) -> None:
    modules = {}
    for seed in range(60 if exhaustive else 4):
        text, arrays, _ = random_program(seed)
        modules[f"{seed}.wide"] = (text, arrays)
        for number, options in enumerate(OPTIONS if exhaustive else [OPTIONS[seed % 4]]):
            module = mlir_fp8.load(text)
            passes = [f"fp8-quantize-collectives{{min-bytes=0{options}}}"]
            dots = ["fp8-quantize-dots{recipe=current}"] if seed % 2 else []
            run_pipeline(module, [*passes, *dots, "fp8-legalize-to-stablehlo"])
            modules[f"{seed}.{number}"] = (str(module), arrays)
    made = sharded_programs.run(tmp_path, modules)
    for name, ((got,), _) in made.items():
        ((want,), _) = made[f"{name.partition('.')[0]}.wide"]
        size = np.linalg.norm(want)
        assert np.linalg.norm(got - want) <= BOUND * size, (name, modules[name][0])
