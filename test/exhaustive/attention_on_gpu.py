"""The attention kernel's values on a card: modules and bounds made here, held to them there.

    python test/exhaustive/attention_on_gpu.py make FOLDER
    python FOLDER/attention_on_gpu.py run FOLDER [--only=PART]

`make` needs this project, and puts an artifact, its operands, the attention without rounding and
the bound of docs/xla_gpu.md for each case into FOLDER, with a copy of this file. `run` needs jax
with CUDA and numpy alone. It prints, for each case, the largest distance as a share of the bound,
and whether a second run gives the same bits; it exits with 1 where a value is off. Not a test that
pytest runs; test_attention_on_gpu.py makes a small case.
"""

import argparse
import dataclasses
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SUMS = 2.0**-12
"""What the tensor core's sums are off by, as a share of the sum of magnitudes."""
LONG = {"causal": True, "result": "f32"}
CASES: Mapping[str, Mapping[str, Any]] = {
    "plain": {"sizes": (2, 4, 4, 512, 512, 128, 128)},
    "f32": {"sizes": (1, 2, 2, 256, 1024, 128, 128), "result": "f32"},
    "causal": {"sizes": (1, 3, 3, 1280, 1280, 128, 128), **LONG},
    "causal_64": {"sizes": (1, 3, 3, 1024, 1024, 64, 64), **LONG},
    "odd": {"sizes": (3, 6, 2, 333, 1001, 80, 71), "result": "f16"},
    "causal_odd": {"sizes": (1, 6, 2, 601, 777, 96, 128), **LONG},
    "window": {"sizes": (1, 4, 1, 1000, 1000, 128, 128), "window": 300, **LONG},
    "cache": {"sizes": (5, 8, 2, 3, 3000, 128, 128), "offsets": 5, **LONG},
    "zero": {"sizes": (2, 2, 2, 300, 300, 64, 64), "offsets": 2, "blind": "zero", **LONG},
    "mean": {"sizes": (2, 2, 2, 300, 300, 64, 64), "offsets": 2, "blind": "mean", **LONG},
    "heads_as_rows": {"sizes": (3, 2, 2, 8, 1500, 128, 128), "offsets": 3, "row_step": 0, **LONG},
    "e5m2": {"sizes": (1, 2, 2, 500, 900, 128, 128), "q_format": "f8E5M2", "p_format": "f8E5M2"},
    "many_heads": {"sizes": (2, 40, 40, 150, 400, 64, 64), **LONG},
    "lse": {"sizes": (2, 4, 2, 1000, 1100, 128, 128), "lse": True, **LONG},
    "lse_odd": {"sizes": (1, 3, 3, 333, 500, 80, 71), "lse": True},
}  # fmt: skip


def make(folder: Path, only: str = "") -> None:
    """Write the cases whose names have `only` in them."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(__file__, folder / Path(__file__).name)
    sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
    for name, case in CASES.items():
        if only in name:
            _make(folder / name, dict(case))
            print(name, flush=True)


def _make(stem: Path, case: dict[str, Any]) -> None:
    import gpu_attention

    import mlir_fp8
    from mlir_fp8.lowering.gpu.kernels.attention.kernel import attention_kernel
    from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention

    shape = Attention(*case.pop("sizes"), **case)
    given = gpu_attention.operands(shape)
    if shape.offsets:
        low = 0 if shape.blind == "nan" else -20
        offsets = np.linspace(low, shape.keys - 1, shape.offsets)
        given = dataclasses.replace(given, offsets=offsets.astype(np.int32))
    with np.errstate(all="ignore"):
        wanted, bound = gpu_attention.exact(shape, given)
        bound += _of_sums(shape, given, gpu_attention.probabilities(shape, given)[0])
    operands = gpu_attention.kernel_operands(shape, given)
    names = {"uint8": "ui8", "float32": "f32", "int32": "i32"}
    taken = [f"{'x'.join(map(str, each.shape))}x{names[str(each.dtype)]}" for each in operands]
    given_types = [f"{shape.result_bytes}xui8"]
    more: dict[str, np.ndarray] = {}
    if shape.lse:
        given_types.append(f"{shape.batch}x{shape.heads}x{shape.rows}xf32")
        more["lse"], more["lse_bound"] = gpu_attention.exact_lse(shape, given)
        more["lse_bound"] = more["lse_bound"] + SUMS * _score_sizes(shape, given).max(-1)
    module = kernel_module(attention_kernel(shape), taken, given_types, shape.workspace)
    stem.with_suffix(".mlirbc").write_bytes(mlir_fp8.serialize(module))
    np.savez(
        stem.with_suffix(".npz"),
        **more,
        allow_pickle=False,
        wanted=wanted.astype(np.float32),
        bound=bound.astype(np.float32),
        result=shape.result,
        **{f"operand{i}": each for i, each in enumerate(operands)},
    )


def _of_sums(shape: Any, given: Any, p: np.ndarray) -> np.ndarray:
    """What the tensor core's sums of scores and of values add to the bound."""
    v = np.abs(given.v.astype(np.float64)).repeat(shape.heads // shape.shared, 1)
    far = SUMS * (1 + 2 * _score_sizes(shape, given).max(-1, keepdims=True))
    return far * (p @ v) * np.abs(given.out_factor[..., None, None])


def _score_sizes(shape: Any, given: Any) -> np.ndarray:
    """Sums of magnitudes."""
    q, k = (np.abs(each.astype(np.float64)) for each in (given.q, given.k))
    k = k.repeat(shape.heads // shape.shared, 1)
    return q @ k.swapaxes(2, 3) * np.abs(given.factor[..., None, None])


def kernel_module(kernel: Any, taken: Sequence[str], given: Sequence[str], workspace: int) -> Any:
    """A module that is the kernel alone, of tensors of the types `taken`, which gives those of the
    types `given`."""
    from torch_mlir import ir

    from mlir_fp8.base.context import make_context
    from mlir_fp8.lowering.gpu.xla.calls import KernelCalls

    arguments = ", ".join(f"%a{i}: tensor<{each}>" for i, each in enumerate(taken))
    results = [f"tensor<{each}>" for each in given]
    types, names = ", ".join(results), ", ".join(f"%0#{i}" for i in range(len(results)))
    text = f"func.func private @none() -> ({types})\nfunc.func @main({arguments}) -> ({types}) {{\n"
    text += f"%0:{len(results)} = func.call @none() : () -> ({types})\nreturn {names} : {types}\n}}"
    context = make_context()
    module = ir.Module.parse(text, context)
    declared, main = (each.operation for each in module.body.operations)
    block = main.regions[0].blocks[0]
    call = block.operations[0].operation
    with context, ir.Location.unknown(), ir.InsertionPoint(call):
        made_types = [ir.Type.parse(each) for each in (*results, f"tensor<{workspace}xi8>")]
        calls = KernelCalls("sm_90a", context)
        made = calls.build(kernel, list(block.arguments), made_types)
    for old, new in zip(call.results, made, strict=False):
        old.replace_all_uses_with(new)
    call.erase()
    declared.erase()
    return module


def run(folder: Path, only: str = "") -> int:
    """How many cases are off; needs no part of this project."""
    wrong = 0
    for file in sorted(each for each in folder.glob("*.mlirbc") if only in each.stem):
        held = np.load(file.with_suffix(".npz"))
        operands = [held[f"operand{i}"] for i in range(6) if f"operand{i}" in held]
        runs = on_card(file, operands)
        first, second = (b"".join(each.tobytes() for each in run) for run in runs)
        share = _share(runs[0][0].tobytes(), str(held["result"]), held["wanted"], held["bound"])
        if "lse" in held:
            of_lse = _share(runs[0][1].tobytes(), "f32", held["lse"], held["lse_bound"])
            share = max(share, of_lse)
        is_wrong = not share <= 1 or first != second
        wrong += is_wrong
        said = "WRONG" if is_wrong else "right"
        same = "the same" if first == second else "other"
        print(f"{file.stem:16} {share:8.3f} of the bound, {same} bits again: {said}", flush=True)
    return wrong


def _share(found: bytes, result: str, wanted: np.ndarray, bound: np.ndarray) -> float:
    """The largest distance as a share of the bound; infinite where only one is NaN."""
    import ml_dtypes

    element = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}[result]
    numbers = np.frombuffer(found, element).astype(np.float64).reshape(wanted.shape)
    is_nan = np.isnan(wanted)
    if (np.isnan(numbers) != is_nan).any():
        return float("inf")
    return float(np.max(np.where(is_nan, 0, np.abs(numbers - wanted) / np.maximum(bound, 1e-30))))


def on_card(file: Path, operands: list[np.ndarray]) -> list[list[np.ndarray]]:
    """The results of two runs."""
    run, taken = loaded(file, operands)
    return [[np.asarray(each) for each in run(taken)] for _ in range(2)]


def loaded(file: Path, operands: Sequence[np.ndarray]) -> tuple[Callable[[Any], list[Any]], Any]:
    """What runs the module on arrays of the card, and `operands` as those."""
    import jax  # pyright: ignore[reportMissingImports]
    from jax._src import compiler  # pyright: ignore[reportMissingImports]
    from jax._src.interpreters import mlir  # pyright: ignore[reportMissingImports]
    from jax._src.lib import xla_client  # pyright: ignore[reportMissingImports]
    from jaxlib.mlir.dialects import stablehlo  # pyright: ignore[reportMissingImports]

    device = jax.devices("gpu")[0]
    with mlir.make_ir_context() as context:
        module = stablehlo.deserialize_portable_artifact(context, file.read_bytes())
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        devices = xla_client.DeviceList((device,))
        executable = device.client.compile_and_load(module, devices, options)

    def run(taken: Any) -> list[Any]:
        results = executable.execute_sharded(taken).disassemble_into_single_device_arrays()
        return [each[0] for each in results]

    return run, [jax.device_put(each, device) for each in operands]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("make", "run"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    if options.action == "make":
        make(options.folder, options.only)
        return 0
    return min(run(options.folder, options.only), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
