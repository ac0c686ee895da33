"""Which kernel XLA:GPU made of each dot of a module, beside what our rules predict."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.explaining.explain import explain
from mlir_fp8.explaining.hlo_instructions import Instruction, computations
from mlir_fp8.explaining.optimized_hlo import TARGET, explain_optimized, is_optimized, places_of
from mlir_fp8.explaining.verdicts import FUSED, PARTLY, Row

_OWN_KERNEL = "__gpu$xla.gpu.ptx"


@dataclass(frozen=True)
class Kernel:
    """What XLA made of a dot: a call or a fusion, its operands, and where it is in the HLO."""

    name: str
    operands: str
    location: str
    is_fp8: bool


@dataclass(frozen=True)
class Outcome:
    """A dot of the module: the row that predicts, and the kernels that bear its place.

    Dots that no place or name tells apart have the same kernels. `disagreement` says in what the
    HLO is not what was predicted; it is empty where it is.
    """

    row: Row
    kernels: tuple[Kernel, ...]
    disagreement: str


@dataclass(frozen=True)
class Comparison:
    """All outcomes of a module, in its order; `others` are products of no dot of it."""

    file: str
    hlo: str
    outcomes: tuple[Outcome, ...]
    others: tuple[Kernel, ...]

    @property
    def disagreements(self) -> list[Outcome]:
        return [each for each in self.outcomes if each.disagreement]

    def to_dict(self) -> dict[str, Any]:
        """The data under stable keys, as docs/explain.md describes them."""
        return {"version": 1, **asdict(self), "disagreements": len(self.disagreements)}


def compared(module: ir.Module, hlo: str, *, name: str, hlo_name: str, **device: str) -> Comparison:
    """Match the dots of `module` to the products of `hlo`, optimized HLO text, by place and name.

    `device` are `compute_capability` and `cuda_version` of `explain`. Raises `Fp8Error` where `hlo`
    is no such text, or has no product with a place of the module.
    """
    if not is_optimized(hlo):
        reason = "is no HLO that XLA:GPU has optimized: it holds no fusion or call"
        raise Fp8Error(f"{hlo_name}: {reason}")
    rows = explain(module, TARGET, name=name, **device).rows
    products = explain_optimized(hlo, hlo_name).rows
    sizes = [_sizes(each.operands) for each in products]
    found = {index: _matches(row, products, sizes) for index, row in enumerate(rows)}
    if rows and products and not any(found.values()):
        reason = "has no product with a place in this module"
        raise Fp8Error(f"{hlo_name}: {reason} ({name}): give the HLO that XLA made of it")
    rest = _instructions(hlo)
    outcomes = tuple(
        _outcome(
            row,
            [products[each] for each in found[index]],
            [rows[other] for other, theirs in found.items() if theirs == found[index]],
            _others_at(row, rest, hlo_name),
        )
        for index, row in enumerate(rows)
    )
    claimed = {each for indices in found.values() for each in indices}
    others = tuple(_kernel(row) for index, row in enumerate(products) if index not in claimed)
    return Comparison(name, hlo_name, outcomes, others)


def _matches(row: Row, products: Sequence[Row], sizes: Sequence[list[int]]) -> list[int]:
    """Those at the place of `row`; of several there, as a gradient's are, those of its `sizes`.

    What XLA leaves no place of, the bodies of loops that JAX writes as functions, by name and size.
    """
    own = _sizes(row.operands)
    alike = {index for index, each in enumerate(sizes) if each == own}
    there = [
        index
        for index, each in enumerate(products)
        if any(_is_at(row, place, each.scope) for place in each.callers)
        or (not each.callers and index in alike and each.scope == row.scope)
    ]
    return [each for each in there if each in alike] or there


def _sizes(operands: str) -> list[int]:
    """How many elements each operand has, in rising order: types of MLIR or HLO between commas."""
    shapes = re.findall(r"<([\dx]+)x\w+>|\[([\d,]+)\]", operands)
    return sorted(math.prod(map(int, re.findall(r"\d+", a or b))) for a, b in shapes)


def _is_at(row: Row, place: str, scope: str) -> bool:
    """Whether HLO that bears `place` and the name `scope` was made of the dot of `row`.

    Of a name the last part, the op itself, does not count: a dot that takes in the transpose of its
    result has that one's. XLA puts the name of a call before those of what it inlines.
    """
    own, of_hlo = (each.rpartition("/")[0] for each in (row.scope, scope))
    if row.scope and scope and own and not f"/{of_hlo}".endswith(f"/{own}"):
        return False
    file, *numbers = _split(row.location)
    other, *theirs = _split(place)
    is_same_file = other in ("-", file) or other.rpartition("/")[2] == file.rpartition("/")[2]
    return is_same_file and all(a == b for a, b in zip(numbers, theirs, strict=False))


def _split(place: str) -> list[str]:
    """File, line, and column if there is one."""
    head, _, last = place.rpartition(":")
    before, _, line = head.rpartition(":")
    return [before, line, last] if line.isdecimal() else [head, last]


def _outcome(
    row: Row, products: Sequence[Row], alike: Sequence[Row], others: Sequence[Kernel]
) -> Outcome:
    """`alike` are the rows, this one too, that have the same products."""
    kernels = tuple(map(_kernel, products))
    wanted = sum(_is_predicted(each) for each in alike)
    made = sum(each.is_fp8 for each in kernels)
    if not kernels:
        return Outcome(row, tuple(others), _lost(row))
    if made == wanted or (made == len(kernels) and wanted == len(alike)):
        return Outcome(row, kernels, "")
    verb = "runs in FP8" if _is_predicted(row) else "does not run in FP8"
    names = ", ".join(dict.fromkeys(each.name for each in kernels))
    return Outcome(row, kernels, f"{verb} by our rules, and XLA made {names} of it")


def _lost(row: Row) -> str:
    return "runs in FP8 by our rules, and XLA made no product of it" if _is_predicted(row) else ""


def _is_predicted(row: Row) -> bool:
    return row.answers[0].verdict in (FUSED, PARTLY)


def _kernel(row: Row) -> Kernel:
    is_fp8 = row.answers[0].verdict == FUSED
    return Kernel(row.op, row.operands, row.location, is_fp8)


def _instructions(hlo: str) -> list[Instruction]:
    found = computations(hlo)
    called = {each.attributes.get("calls") for one in found for each in one.instructions.values()}
    launched = [one for one in found if one.name not in called]
    return [each for one in launched for each in one.instructions.values()]


def _others_at(row: Row, instructions: Sequence[Instruction], hlo: str) -> list[Kernel]:
    """Fusions and kernels of our own that bear the place of a dot that is no product any more."""
    kernels: list[Kernel] = []
    for each in instructions:
        kind: Mapping[str, str] = each.attributes
        is_own = kind.get("custom_call_target") == _OWN_KERNEL
        places = places_of(each)
        if (is_own or each.opcode == "fusion") and any(
            _is_at(row, place, each.attributes["op_name"]) for place in places
        ):
            name = _OWN_KERNEL if is_own else f"fusion {kind.get('kind', '')}".rstrip()
            kernels.append(Kernel(name, "", f"{hlo}:{each.line}:{each.column}", is_fp8=False))
    return kernels
