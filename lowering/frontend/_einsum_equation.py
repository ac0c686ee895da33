"""The equations of `einsum` and `unary_einsum`: one label per dimension, checked against the types.

As in numpy: a letter is a label, `...` stands for dimensions that broadcast, aligned at their ends,
where a size of 1 fits any; spaces mean nothing. `->` is not optional.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error

_TERM = re.compile(r"[a-zA-Z]*(\.\.\.)?[a-zA-Z]*")

Labels = tuple[str, ...]
"""A label per dimension; those that `...` stands for are `.0`, `.1`, ..., from the last one."""


@dataclass(frozen=True)
class Equation:
    """The labels of the operands, of the result, and the size that goes with each."""

    operands: tuple[Labels, ...]
    result: Labels
    sizes: dict[str, int]


def parse(op: ir.Operation) -> Equation:
    """The equation of an op whose shapes are static; raises `Fp8Error` where it does not fit."""
    text = ir.StringAttr(op.attributes["einsum_config"]).value
    sides = text.replace(" ", "").split("->")
    if len(sides) != 2:
        raise op_error(op, f"has the equation '{text}': it needs one '->', and the result after it")
    terms = sides[0].split(",")
    if len(terms) != len(op.operands):
        raise op_error(
            op, f"has {len(op.operands)} operands, its equation '{text}' {len(terms)}: name each"
        )
    for term in (*terms, sides[1]):
        if not _TERM.fullmatch(term):
            raise op_error(op, f"has '{term}' in its equation: use letters and at most one '...'")
    shapes = [tuple(operand.type.shape) for operand in op.operands]
    pairs = list(zip(terms, shapes, strict=True))
    operands = tuple(_operand_labels(op, term, shape) for term, shape in pairs)
    spread = max(sum(label.startswith(".") for label in labels) for labels in operands)
    result = _expanded(sides[1], spread)
    sizes = _sizes(op, operands, shapes)
    for label in result:
        if label not in sizes:
            raise op_error(
                op, f"has the label '{label}' in its result alone: broadcast that after it"
            )
    shape, declared = [sizes[label] for label in result], list(op.results[0].type.shape)
    if shape != declared:
        raise op_error(op, f"gives {shape} by its equation '{text}': declare that, not {declared}")
    return Equation(operands, result, sizes)


def _operand_labels(op: ir.Operation, term: str, shape: Sequence[int]) -> Labels:
    letters = len(term.replace("...", ""))
    spread = len(shape) - letters
    if spread < 0 or (spread and "..." not in term):
        raise op_error(
            op, f"has '{term}' for an operand of rank {len(shape)}: give a label per dimension"
        )
    return _expanded(term, spread)


def _expanded(term: str, spread: int) -> Labels:
    before, dots, after = term.partition("...")
    between = [f".{place}" for place in reversed(range(spread))] if dots else []
    return (*before, *between, *after)


def _sizes(
    op: ir.Operation, operands: Sequence[Labels], shapes: Sequence[Sequence[int]]
) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, shape in zip(operands, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            known = sizes.setdefault(label, size)
            if size == known or (label.startswith(".") and size == 1):
                continue
            if not label.startswith(".") or known != 1:
                what = "'...'" if label.startswith(".") else f"the label '{label}'"
                raise op_error(op, f"has {what} for sizes {known} and {size}: make them equal")
            sizes[label] = size
    return sizes
