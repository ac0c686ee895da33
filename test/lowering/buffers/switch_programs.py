"""Random loops that branch in every iteration between tensors that are kept, swapped, updated.

Each program is a tree that is written as StableHLO and, for the values, evaluated by numpy.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

ROW, COUNT = "tensor<4xi32>", "tensor<i32>"
TURNS = 5
_PLAIN = ("add", "reverse", "fill", "update", "shift", "select")


@dataclass(frozen=True)
class Step:
    """`results` are what `kind` makes of `operands`, or what each block gives."""

    kind: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    blocks: tuple["Block", ...] = ()
    amount: int = 0


@dataclass
class Block:
    steps: list[Step] = field(default_factory=list)
    given: tuple[str, ...] = ()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def names(self, count: int) -> tuple[str, ...]:
        self.count += count
        return tuple(f"v{self.count - index}" for index in range(count))

    def block(self, seen: Sequence[str], gives: int, depth: int) -> Block:
        block, rows = Block(), list(seen)
        for _ in range(self.random.randint(0, 2) if depth else 2):
            step = self.step(rows, depth)
            block.steps.append(step)
            rows += step.results
        # Swapped, twice the same, old or new.
        latest = rows[-max(gives, 3) :]
        block.given = tuple(self.random.choice(latest + rows[:gives]) for _ in range(gives))
        return block

    def step(self, rows: Sequence[str], depth: int) -> Step:
        kinds = [*_PLAIN, *(["case", "case", "if", "while"] if depth < 3 else [])]
        kind = "case" if not depth else self.random.choice(kinds)
        operands = tuple(self.random.choice(rows) for _ in range(2))
        amount = self.random.randint(0, 4)
        if kind in _PLAIN:
            return Step(kind, self.names(1), operands, amount=amount)
        gives = self.random.randint(1, 3) if depth else max(2, len(rows) - 1)
        if kind == "while":
            carried = self.names(gives)
            starts = tuple(self.random.choice(rows) for _ in range(gives))
            inner = self.block([*rows, *carried], gives, depth + 1)
            return Step(kind, self.names(gives), starts, (Block(given=carried), inner))
        sides = {"case": 3, "if": 2}[kind]
        blocks = tuple(self.block(rows, gives, depth + 1) for _ in range(sides))
        return Step(kind, self.names(gives), operands, blocks, amount)


def switch_program(seed: int) -> tuple[tuple[str, ...], Block]:
    """What the loop carries, and its body."""
    maker = _Maker(seed)
    carried = maker.names(maker.random.choice((2, 2, 3)))
    return carried, maker.block(carried, len(carried), 0)


def text(carried: Sequence[str], body: Block) -> str:
    """A module that takes and gives the carried tensors."""
    types = ", ".join([ROW] * len(carried))
    loop = Step(
        "while", ("r",), tuple(f"x{n}" for n in carried), (Block(given=tuple(carried)), body)
    )
    lines = _loop(loop, f"r:{len(carried) + 1}", TURNS, "i", "zero")
    arguments = ", ".join(f"%x{name}: {ROW}" for name in carried)
    results = ", ".join(f"%r#{index + 1}" for index in range(len(carried)))
    constants = [
        f"%{name} = stablehlo.constant dense<{value}> : {COUNT}"
        for name, value in (("zero", 0), ("one", 1), ("three", 3), ("two", 2), ("four", 4))
    ]
    return "\n".join(
        [f"func.func @main({arguments}) -> ({types}) {{", *constants, *lines,
         f"return {results} : {types}", "}"]
    )  # fmt: skip


def _lines(block: Block, counter: str) -> list[str]:
    return [line for step in block.steps for line in _written(step, counter)]


def _written(step: Step, counter: str) -> list[str]:
    name = step.results[0]
    if step.kind in _PLAIN:
        a, b = step.operands
        return [_PLAIN_TEXT[step.kind].format(n=name, a=a, b=b, k=step.amount, i=counter)]
    count = len(step.results)
    if step.kind == "while":
        lines = _loop(step, f"{name}t:{count + 1}", 2, f"{name}i", "zero")
        pieces = [f"{name}t#{index + 1}" for index in range(count)]
    else:
        n = {"case": "three", "if": "two"}[step.kind]
        sides = [
            "\n".join(["{", *_lines(side, counter), _return(side.given), "}"])
            for side in step.blocks
        ]
        lines = [
            f"%{name}k = stablehlo.constant dense<{step.amount}> : {COUNT}",
            f"%{name}s = stablehlo.add %{counter}, %{name}k : {COUNT}",
            f"%{name}c = stablehlo.remainder %{name}s, %{n} : {COUNT}",
            f'%{name}t:{count} = "stablehlo.case"(%{name}c) ({", ".join(sides)}) : ({COUNT}) -> '
            f"({', '.join([ROW] * count)})",
        ]
        pieces = [f"{name}t#{index}" for index in range(count)]
    # Under names of their own, which is no op in the end.
    for result, piece in zip(step.results, pieces, strict=True):
        lines.append(f"%{result} = stablehlo.reshape %{piece} : ({ROW}) -> {ROW}")
    return lines


def _return(given: Sequence[str]) -> str:
    names = ", ".join(f"%{name}" for name in given)
    return f"stablehlo.return {names} : {', '.join([ROW] * len(given))}"


def _loop(step: Step, results: str, turns: int, counter: str, zero: str) -> list[str]:
    names, body = step.blocks[0].given, step.blocks[1]
    starts = zip((counter, *names), (zero, *step.operands), strict=True)
    carried = ", ".join(f"%{name} = %{start}" for name, start in starts)
    types = ", ".join([COUNT, *[ROW] * len(names)])
    given = ", ".join(f"%{each}" for each in (f"{counter}n", *body.given))
    return [
        f"%{results} = stablehlo.while({carried}) : {types}",
        "cond {",
        f"%{counter}e = stablehlo.constant dense<{turns}> : {COUNT}",
        f"%{counter}p = stablehlo.compare LT, %{counter}, %{counter}e "
        f": ({COUNT}, {COUNT}) -> tensor<i1>",
        f"stablehlo.return %{counter}p : tensor<i1>",
        "} do {",
        *_lines(body, counter),
        f"%{counter}n = stablehlo.add %{counter}, %one : {COUNT}",
        f"stablehlo.return {given} : {types}",
        "}",
    ]


_PLAIN_TEXT = {
    "add": f"%{{n}} = stablehlo.add %{{a}}, %{{b}} : {ROW}",
    "reverse": f"%{{n}} = stablehlo.reverse %{{a}}, dims = [0] : {ROW}",
    "fill": f"%{{n}} = stablehlo.constant dense<{{k}}> : {ROW}",
    "update": f"""%{{n}}s = stablehlo.slice %{{b}} [1:2] : ({ROW}) -> tensor<1xi32>
      %{{n}}m = stablehlo.remainder %{{i}}, %four : {COUNT}
      %{{n}} = stablehlo.dynamic_update_slice %{{a}}, %{{n}}s, %{{n}}m
        : ({ROW}, tensor<1xi32>, {COUNT}) -> {ROW}""",
    "shift": f"""%{{n}}s = stablehlo.slice %{{b}} [0:3] : ({ROW}) -> tensor<3xi32>
      %{{n}} = stablehlo.dynamic_update_slice %{{a}}, %{{n}}s, %one
        : ({ROW}, tensor<3xi32>, {COUNT}) -> {ROW}""",
    "select": f"""%{{n}}p = stablehlo.compare GT, %{{i}}, %one : ({COUNT}, {COUNT}) -> tensor<i1>
      %{{n}} = stablehlo.select %{{n}}p, %{{a}}, %{{b}} : tensor<i1>, {ROW}""",
}


def evaluated(
    carried: Sequence[str], body: Block, inputs: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """What the module of `text` gives."""
    rows = list(inputs)
    for turn in range(TURNS):
        rows = _block(body, dict(zip(carried, rows, strict=True)), turn)
    return rows


def _block(block: Block, values: dict[str, np.ndarray], turn: int) -> list[np.ndarray]:
    values = dict(values)
    for step in block.steps:
        values.update(zip(step.results, _step(step, values, turn), strict=True))
    return [values[name] for name in block.given]


def _step(step: Step, values: dict[str, np.ndarray], turn: int) -> list[np.ndarray]:
    rows = [values[name] for name in step.operands]
    if step.kind in ("case", "if"):
        sides = step.blocks
        return _block(sides[(turn + step.amount) % len(sides)], values, turn)
    if step.kind == "while":
        carried = step.blocks[0].given
        for inner in range(2):
            rows = _block(
                step.blocks[1], {**values, **dict(zip(carried, rows, strict=True))}, inner
            )
        return rows
    a, b = rows
    if step.kind in ("update", "shift"):
        made = a.copy()
        if step.kind == "shift":
            made[1:] = b[:3]
        else:
            made[turn % 4] = b[1]
        return [made]
    if step.kind == "select":
        return [a if turn > 1 else b]
    plain = {"add": a + b, "reverse": a[::-1], "fill": np.full_like(a, step.amount)}
    return [plain[step.kind]]
