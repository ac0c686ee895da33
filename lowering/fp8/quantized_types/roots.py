"""Where FP8 begins whose scales are known: quantizers and constants, and what reads them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.dialects._fp8_scales import DATA_TYPES
from mlir_fp8.lowering.fp8.quantized_types.constants import float_constant, known_numbers, spread
from mlir_fp8.lowering.fp8.quantized_types.layouts import MOVES, Layout, layout_of
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

PRODUCTS = ("fp8.scaled_dot", "fp8.scaled_convolution")
_RUN_TIME = "its scale is known at run time alone, and a type has constants (StaticScaling)"
_OTHER = "it is dequantized by another scale than it was quantized by"
_MOVED = "moves take its scales where a type has no place for them"
_NO_NUMBER = "a scale of it is no positive normal number of f32"


@dataclass(eq=False)
class Root:
    """A tensor of small floats, `op`'s result; how it is scaled, and what becomes of it.

    `layouts` has the layout of each value that moves make of it, itself included. `left` says why
    it stays as it is.
    """

    op: ir.Operation
    layout: Layout | None = None
    layouts: dict[ir.Value, Layout] = field(default_factory=dict)
    reads: list[tuple[ir.Operation, int]] = field(default_factory=list)
    left: str = ""

    @property
    def is_constant(self) -> bool:
        return self.op.name == "stablehlo.constant"

    def numbers(self) -> np.ndarray:
        """What a constant whose scale is known stands for, f32."""
        codes = float_constant(self.value)
        assert codes is not None and self.layout is not None
        return codes.astype(np.float32) * spread(self.layout.array(codes.ndim), codes.shape)

    @property
    def value(self) -> ir.Value:
        return self.op.results[0]


def find_roots(module: ir.Operation, refusal: Callable[[Root], str], *, both: bool) -> list[Root]:
    """All roots, those that stay with their reason, of `refusal` too.

    With `both`, a product has both operands among those that do not stay, or none.
    """
    roots = [Root(op) for op in operations(module, "fp8.quantize")]
    roots += [Root(op) for op in operations(module, "stablehlo.constant") if _is_small(op)]
    for root in roots:
        _look(root)
    roots = [each for each in roots if each.reads or not each.is_constant]
    for root in roots:
        root.left = root.left or refusal(root)
    if both:
        _leave_halves(roots)
    return roots


def _is_small(op: ir.Operation) -> bool:
    value = op.results[0]
    return has_static_shape(value) and str(element_type(value)) in DATA_TYPES


def _look(root: Root) -> None:
    """Find what reads `root`, and by which scale."""
    if not root.is_constant:
        scale = read_scale(root.op.operands[1], is_inverse=is_set(root.op, "inverse"))
        if scale is None:
            root.left = _RUN_TIME
        else:
            root.layout = layout_of(scale, root.value.type.shape)
    values, known = [root.value], {root.value}
    for value in values:
        for op, index in _uses(value):
            if op.name in MOVES and index == 0 and len(op.results) == 1:
                if op.results[0] not in known:
                    known.add(op.results[0])
                    values.append(op.results[0])
            elif (op.name == "fp8.dequantize" and index == 0) or (
                op.name in PRODUCTS and index in (0, 1)
            ):
                root.reads.append((op, index))
            else:
                root.left = root.left or f"'{op.name}' reads its codes"
    if root.is_constant and not root.left and root.reads:
        _scale_constant(root)
    if not root.left and root.layout is not None:
        root.left = _follow(root)


def _uses(value: ir.Value) -> list[tuple[ir.Operation, int]]:
    return [(use.owner.operation, use.operand_number) for use in value.uses]


def read_scale(value: ir.Value, *, is_inverse: bool) -> np.ndarray | None:
    """The numbers of a scale, f32; None where they are known at run time alone."""
    numbers = known_numbers(value)
    if numbers is None:
        return None
    with np.errstate(all="ignore"):
        numbers = numbers.astype(np.float32)
        return np.float32(1) / numbers if is_inverse else numbers


def scale_at(op: ir.Operation, index: int) -> np.ndarray | None:
    """The scale by which `op` dequantizes its operand `index`; None where it is no constant."""
    scale, is_inverse = scale_operand(op, index)
    if scale is None:
        return np.ones((), np.float32)
    return read_scale(scale, is_inverse=is_inverse)


def scale_operand(op: ir.Operation, index: int) -> tuple[ir.Value | None, bool]:
    """The scale of operand `index` of `op`, if it has one, and whether it is a reciprocal."""
    if op.name == "fp8.dequantize":
        return op.operands[1], is_set(op, "inverse")
    parts = product_parts(op)
    return ((parts.a_scale, parts.a_inverse), (parts.b_scale, parts.b_inverse))[index]


def _scale_constant(root: Root) -> None:
    """Give a constant the scale of what reads it, back through moves."""
    op, index = root.reads[0]
    scale = scale_at(op, index)
    if scale is None:
        root.left = _RUN_TIME
        return
    shape = list(root.value.type.shape)
    wanted = layout_of(scale, op.operands[index].type.shape)
    for layout in _candidates(wanted, shape, is_same=op.operands[index] == root.value):
        root.layout = layout
        if not _follow(root):
            return


def _candidates(wanted: Layout, shape: Sequence[int], *, is_same: bool) -> Iterator[Layout]:
    if wanted.axis is None or is_same:
        yield wanted
        return
    for dim, size in enumerate(shape):
        if size == len(wanted.numbers):
            yield Layout(wanted.numbers, dim)


def _follow(root: Root) -> str:
    """Give each value that moves make of `root` its layout; why that does not fit its readers."""
    assert root.layout is not None
    if not root.layout.is_usable:
        return _NO_NUMBER
    root.layouts = {root.value: root.layout}
    for value in (values := [root.value]):
        for op, _ in _uses(value):
            if op.name not in MOVES or op.results[0] in root.layouts:
                continue
            layout = root.layouts[value].after(op)
            if layout is None:
                return _MOVED
            root.layouts[op.results[0]] = layout
            values.append(op.results[0])
    for op, index in root.reads:
        scale = scale_at(op, index)
        if scale is None:
            return _RUN_TIME
        if layout_of(scale, op.operands[index].type.shape) != root.layouts[op.operands[index]]:
            return _OTHER
    return ""


def _leave_halves(roots: Sequence[Root]) -> None:
    """Leave the roots of products of which an operand is left, and so on."""
    changed = True
    while changed:
        changed = False
        taken = {value for root in roots if not root.left for value in root.layouts}
        for root in roots:
            for op, index in root.reads if not root.left else ():
                if op.name in PRODUCTS and op.operands[1 - index] not in taken:
                    side = ("right", "left")[index]
                    root.left = f"the {side} operand of a product of it stays"
                    changed = True
                    break
