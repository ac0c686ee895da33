"""Operands that are codes times scales of blocks: MXFP8, MXFP6, MXFP4, NVFP4 and their like."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf, decoded_code

BLOCK = 16
"""Codes of which, or of multiples of which, kernels take one scale."""
_BF16 = FORMATS["bf16"]
_LEAST_PLACE = 1 - _BF16.bias - _BF16.mantissa_bits
"""The exponent of bf16's smallest number."""


@dataclass(frozen=True)
class ScaledCodes:
    """What an operand is computed of; without a scale these are codes alone."""

    format: FloatFormat
    leaf: int
    """The number of the leaf that has the codes."""
    scale: FloatFormat | None = None
    scale_leaf: int = 0
    scale_root: ir.Value | None = None
    """The scale as f32."""

    @property
    def is_exact(self) -> bool:
        """Whether bf16 has enough bits for each product of a code and a scale."""
        if not self.format.signed or not self.format.has_zero:
            return False
        bits = self.format.mantissa_bits + 1
        if self.scale is not None and self.scale.mantissa_bits:
            bits += self.scale.mantissa_bits + 1
        return bits <= _BF16.mantissa_bits + 1

    @property
    def last_place(self) -> int:
        """The exponent of the last place of all numbers."""
        scale = 0 if self.scale is None else _exponent(self.scale)
        return _exponent(self.format) + scale

    @property
    def has_wide_range(self) -> bool:
        """Whether some numbers are subnormal in f32, or beyond it: those of scales of f8E8M0FNU."""
        return self.scale is not None and not self.scale.has_zero

    @property
    def lossy_scales(self) -> int:
        """The code of the first scale with which no number is below bf16's last place."""
        if self.scale is None:
            return 0
        return max(0, _LEAST_PLACE - self.last_place)


def scaled_codes(expression: Expression) -> ScaledCodes | None:
    """`expression` as codes, or codes times a code that scales a group of them; else None."""
    root = expression.resolved(expression.root)
    plain = _code(expression, root)
    if plain is not None:
        return ScaledCodes(*plain) if len(expression.leaves) == 1 else None
    if isinstance(root, Leaf) or isinstance(root.owner, ir.Block):
        return None
    op = root.owner.operation
    if op.name != "arith.mulf" or len(expression.leaves) != 2:
        return None
    factors = [expression.resolved(each) for each in op.operands]
    found = [_code(expression, each) for each in factors]
    for code, scale, root in zip(found, reversed(found), reversed(factors), strict=True):
        if code is None or scale is None or isinstance(root, Leaf):
            continue
        if expression.leaves[scale[1]].is_repeated and not expression.leaves[code[1]].is_repeated:
            return ScaledCodes(*code, *scale, root)
    return None


def _code(expression: Expression, value: Leaf | ir.Value) -> tuple[FloatFormat, int] | None:
    """The format of the code that `value` decodes, and the number of the leaf that has it."""
    if isinstance(value, Leaf):
        return None
    fmt, code = decoded_code(value)
    leaf = expression.resolved(code)
    if fmt is None or not isinstance(leaf, Leaf):
        return None
    return fmt, next(i for i, each in enumerate(expression.leaves) if each is leaf)


def _exponent(fmt: FloatFormat) -> int:
    """Of the last place of all numbers of a format."""
    smallest = fmt.smallest_subnormal if fmt.has_zero else fmt.smallest_normal
    return math.frexp(smallest)[1] - 1
