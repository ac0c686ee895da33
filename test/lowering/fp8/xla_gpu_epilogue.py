"""What XLA:GPU fuses into an FP8 matmul behind the dot: the second half of the oracle.

From openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc (commit 01631ca806a9): HandleMultiply,
HandleDivide, HandleAdd, HandleMaximum, HandleConvert and what they call. A reshape that XLA puts
between a dot and its users (its bitcast) is not looked through: the oracle takes canonical dots.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from xla_gpu_hlo import (
    broadcast_scalar,
    defining,
    element,
    is_f8,
    is_scalar,
    is_zero,
    name,
    other_operands,
    shape,
    splat,
    users,
)

MAXIMA = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
EPILOGUE_OPS = {"add", "multiply", "divide", "maximum", "clamp"}


@dataclass
class Gemm:
    """The custom call, as it grows; `value`, of a module that may be gone, is what it is by now."""

    value: ir.Value = field(repr=False)
    operand_types: Sequence[str]
    d_type: str
    has_a_scale: bool
    is_sliced: bool
    """Its operands are padded to multiples of 16, and its result is sliced."""
    alpha: float = 1.0
    bias_type: str = ""
    """The type of the matrix bias, C, if beta is 1."""
    epilogue: str = "DEFAULT"
    has_d_scale: bool = False
    has_amax: bool = False
    fused: list[str] = field(default_factory=list)

    def absorb(self, value: ir.Value, what: str) -> None:
        self.value = value
        self.fused.append(what)


def fuse_epilogue(gemm: Gemm, platform: str) -> str:
    """Let `gemm` grow over its users; what of an epilogue stays outside, or nothing."""
    handlers: list[Callable[[Gemm, ir.Operation], bool]] = [
        _alpha,
        _scale_d,
        _gelu,
        _vector_bias,
        _matrix_bias,
        _relu,
    ]
    if platform == "cuda":  # F8ConvertD: not for ROCm
        handlers.append(_convert_d)
    while any(handler(gemm, user) for user in users(gemm.value) for handler in handlers):
        pass
    left = [name(user) for user in users(gemm.value) if _is_epilogue(user)]
    return f"{', '.join(left)} stays outside" if left else ""


def _is_epilogue(user: ir.Operation) -> bool:
    return name(user) in EPILOGUE_OPS or (name(user) == "convert" and is_f8(user.results[0]))


def _has_one_user(gemm: Gemm) -> bool:
    return len(users(gemm.value)) == 1


def _alpha(gemm: Gemm, user: ir.Operation) -> bool:
    if name(user) != "multiply" or not _has_one_user(gemm) or gemm.is_sliced or gemm.bias_type:
        return False
    for other in other_operands(user, gemm.value):
        number = splat(other)
        if number is not None and len(users(other)) == 1:
            gemm.alpha *= number
            # XLA asks for no epilogue here: behind a bias or a GELU the result is another.
            is_same = gemm.epilogue in ("DEFAULT", "RELU")
            gemm.absorb(user.results[0], "alpha" if is_same else "alpha before the epilogue")
            return True
    return False


def _scale_d(gemm: Gemm, user: ir.Operation) -> bool:
    """F8ScaleD: a factor of the result becomes the first operand's scale, if that has none."""
    if name(user) not in ("multiply", "divide") or not _has_one_user(gemm) or gemm.is_sliced:
        return False
    if gemm.has_a_scale or gemm.bias_type or gemm.epilogue not in ("DEFAULT", "RELU"):
        return False
    if name(user) == "divide" and user.operands[0] != gemm.value:
        return False
    for other in other_operands(user, gemm.value):
        scale = broadcast_scalar(other)
        if scale is None or not is_scalar(scale) or len(users(other)) != 1:
            continue
        gemm.has_a_scale = True
        gemm.absorb(user.results[0], "a_scale")
        return True
    return False


def _is_near(value: ir.Value, expected: float) -> bool:
    actual = splat(value)
    if actual is None:
        return False
    return abs(actual - expected) < abs(actual + expected) * 128 * EPSILON[element(value)]


def _factor(value: ir.Value, op: str, matches: Callable[[ir.Value], bool]) -> list[ir.Value]:
    """MultiplyAnyOrder and AddAnyOrder: what stands beside an operand that matches."""
    found = defining(value, op)
    if found is None:
        return []
    left, right = found.operands
    return [b for a, b in ((left, right), (right, left)) if matches(a)]


def _gelu(gemm: Gemm, user: ir.Operation) -> bool:
    x = gemm.value
    if name(user) != "multiply" or gemm.epilogue not in ("DEFAULT", "BIAS"):
        return False

    def is_x(value: ir.Value) -> bool:
        return value == x

    values = other_operands(user, x)
    steps: list[tuple[str, Callable[[ir.Value], bool]]] = [
        ("multiply", lambda value: splat(value) == 0.5),
        ("add", lambda value: splat(value) == 1.0),
        ("tanh", is_x),
        ("multiply", lambda value: _is_near(value, math.sqrt(2 / math.pi))),
        ("add", is_x),
        ("multiply", lambda value: _is_near(value, 0.044715)),
        ("multiply", is_x),
        ("multiply", is_x),
    ]
    for op, matches in steps:
        if any(len(users(value)) != 1 for value in values):
            return False
        if op == "tanh":
            found = [defining(value, "tanh") for value in values]
            values = [each.operands[0] for each in found if each is not None]
        else:
            values = [other for value in values for other in _factor(value, op, matches)]
    if x not in values:
        return False
    auxiliary = "_AUX" if len(users(x)) > 4 else ""
    gemm.epilogue = {"DEFAULT": "GELU", "BIAS": "BIAS_GELU"}[gemm.epilogue] + auxiliary
    gemm.absorb(user.results[0], "gelu")
    return True


def _vector_bias(gemm: Gemm, user: ir.Operation) -> bool:
    if name(user) != "add" or not _has_one_user(gemm) or gemm.epilogue != "DEFAULT":
        return False
    for other in other_operands(user, gemm.value):
        broadcast = defining(other, "broadcast_in_dim")
        if broadcast is None or len(shape(broadcast.operands[0])) != 1 or gemm.bias_type:
            continue
        dims = list(ir.DenseI64ArrayAttr(broadcast.attributes["broadcast_dimensions"]))
        if dims == [len(shape(gemm.value)) - 1] and _has_bias_type(gemm, broadcast.operands[0]):
            gemm.epilogue = "BIAS"
            gemm.absorb(user.results[0], "bias")
            return True
    return False


def _has_bias_type(gemm: Gemm, bias: ir.Value) -> bool:
    if element(bias) != "f32":
        return True
    convert = defining(bias, "convert")
    source = "" if convert is None else element(convert.operands[0])
    return (source, gemm.d_type) in {("bf16", "f32"), ("bf16", "bf16"), ("f16", "f16")}


def _matrix_bias(gemm: Gemm, user: ir.Operation) -> bool:
    if name(user) != "add" or not _has_one_user(gemm) or gemm.bias_type:
        return False
    if gemm.epilogue not in ("DEFAULT", "BIAS"):
        return False
    for other in other_operands(user, gemm.value):
        if (
            defining(other, "broadcast_in_dim") is None
            and not is_f8(other)
            and splat(other) is None
        ):
            gemm.bias_type = element(other)
            gemm.absorb(user.results[0], "matrix bias")
            return True
    return False


def _relu(gemm: Gemm, user: ir.Operation) -> bool:
    if name(user) != "maximum" or not _has_one_user(gemm):
        return False
    if gemm.epilogue not in ("DEFAULT", "BIAS"):
        return False
    if not any(is_zero(other) for other in other_operands(user, gemm.value)):
        return False
    gemm.epilogue = {"DEFAULT": "RELU", "BIAS": "BIAS_RELU"}[gemm.epilogue]
    gemm.absorb(user.results[0], "relu")
    return True


def _convert_d(gemm: Gemm, user: ir.Operation) -> bool:
    """F8ConvertD: a scale, a clamp to the format's range, a convert, and a maximum beside them."""
    if gemm.is_sliced or gemm.has_d_scale or (gemm.bias_type not in ("", "bf16", "f16")):
        return False
    scaled, scale = gemm.value, None
    if name(user) in ("multiply", "divide"):
        if name(user) == "divide" and user.operands[0] != gemm.value:
            return False
        scales = [broadcast_scalar(other) for other in other_operands(user, gemm.value)]
        scaled, scale = user.results[0], next((each for each in scales if each is not None), None)
        if scale is None or not is_scalar(scale):
            return False
    clamps = [each for each in users(scaled) if name(each) == "clamp"]
    if len(clamps) != 1 or clamps[0].operands[1] != scaled or len(users(clamps[0].results[0])) != 1:
        return False
    convert = users(clamps[0].results[0])[0]
    if name(convert) != "convert" or element(convert.results[0]) not in MAXIMA:
        return False
    bound = MAXIMA[element(convert.results[0])]
    if (splat(clamps[0].operands[0]), splat(clamps[0].operands[2])) != (-bound, bound):
        return False
    beside = [each for each in users(gemm.value) if each not in (user, clamps[0])]
    if beside and (len(users(gemm.value)) != 2 or not _is_amax(gemm, beside[0])):
        return False
    gemm.has_amax = bool(beside)
    gemm.has_d_scale = scale is not None
    gemm.d_type = element(convert.results[0])
    gemm.absorb(convert.results[0], "quantize")
    return True


def _is_amax(gemm: Gemm, op: ir.Operation) -> bool:
    if name(op) == "abs":
        if len(users(op.results[0])) != 1:
            return False
        op = users(op.results[0])[0]
    elif not gemm.epilogue.endswith("RELU"):
        return False
    if name(op) != "reduce" or len(op.operands) != 2:
        return False
    start = splat(op.operands[1])
    dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    body = [each.operation for each in op.regions[0].blocks[0].operations]
    is_maximum = len(body) == 2 and name(body[0]) == "maximum"
    return is_maximum and start is not None and start <= 0 and len(dims) == len(shape(gemm.value))
