"""Casts to small floats as the PyTorch at hand does them on the CPU.

All go by way of f32, which f64 and integers are rounded to first. From PyTorch 2.12 on, numbers
beyond f8E4M3FN's range, infinity too, become its largest; before, NaN. f8E5M2 has infinity. Casts
to f8E8M0FNU drop the sign and round the exponent to nearest, ties up; 0 is its smallest code.
"""

import torch
from torch.fx import Node
from torch_mlir import ir

from mlir_fp8.torch.functions import Body, writes
from mlir_fp8.torch.installed import release

SATURATES = release(torch.__version__) >= (2, 12)
"""Whether casts to f8E4M3FN saturate."""
_LARGEST = 448.0
_SMALL = {
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
}
_prims, _aten = torch.ops.prims, torch.ops.aten


def _to_small(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in _SMALL


@writes(_prims.convert_element_type.default, _aten._to_copy.default, when=_to_small)
def convert(body: Body) -> None:
    """A cast to a small float."""
    body.give(convert_value(body, "%arg0", body.inputs[0], body.outputs[0], body.function.node))


def convert_value(
    body: Body,
    value: str,
    source: ir.RankedTensorType,
    target: ir.RankedTensorType,
    node: Node | None = None,
) -> str:
    """The name of `value` cast to the small float of `target`."""
    if source == target:
        return value
    element = str(target.element_type)
    wide = ir.RankedTensorType.get(source.shape, ir.F32Type.get(source.context))
    if str(source.element_type) not in ("f32", "bf16", "f16"):
        value, source = body.let(f"stablehlo.convert {value} : ({source}) -> {wide}"), wide
    if element == "f8E8M0FNU":
        value = body.let(f"stablehlo.convert {value} : ({source}) -> {wide}")
        return _exponent(body, value, wide, target)
    if element == "f8E4M3FN" and SATURATES and not (node and _is_clamped(node)):
        low, high = body.constant(-_LARGEST, source), body.constant(_LARGEST, source)
        value = body.let(f"stablehlo.clamp {low}, {value}, {high} : {source}")
    return body.let(f"stablehlo.convert {value} : ({source}) -> {target}")


def _is_clamped(node: Node) -> bool:
    """Whether what `node` casts is within f8E4M3FN's range by the op that made it."""
    made = node.args[0]
    if not isinstance(made, Node) or made.target != _aten.clamp.default:
        return False
    bounds = [*made.args[1:], made.kwargs.get("min"), made.kwargs.get("max")]
    numbers = [each for each in bounds if isinstance(each, int | float)]
    return len(numbers) == 2 and all(abs(each) <= _LARGEST for each in numbers)


def _exponent(body: Body, value: str, wide: object, target: ir.RankedTensorType) -> str:
    """The exponent of f32 bits, one more from 1.5 on; a subnormal number's rounds up above 3/4.

    As c10/util/Float8_e8m0fnu.h.
    """
    shape = "x".join([*map(str, target.shape), ""])
    bits, codes, bools = (f"tensor<{shape}{each}>" for each in ("i32", "ui8", "i1"))
    raw = body.let(f"stablehlo.bitcast_convert {value} : ({wide}) -> {bits}")
    mask = body.constant(0x7FFFFFFF, bits)
    raw = body.let(f"stablehlo.and {raw}, {mask} : {bits}")
    width = body.constant(23, bits)
    exponent = body.let(f"stablehlo.shift_right_logical {raw}, {width} : {bits}")
    fraction = body.let(f"stablehlo.and {raw}, {body.constant(0x7FFFFF, bits)} : {bits}")

    def compare(left: str, direction: str, right: int) -> str:
        limit = body.constant(right, bits)
        types = f"({bits}, {bits}) -> {bools}"
        return body.let(f"stablehlo.compare {direction}, {left}, {limit}, SIGNED : {types}")

    normal_up = compare(fraction, "GE", 0x400000)
    subnormal_up = compare(fraction, "GT", 0x400000)
    is_subnormal = compare(exponent, "EQ", 0)
    goes_up = body.let(
        f"stablehlo.select {is_subnormal}, {subnormal_up}, {normal_up} : {bools}, {bools}"
    )
    is_finite = compare(exponent, "NE", 255)
    goes_up = body.let(f"stablehlo.and {goes_up}, {is_finite} : {bools}")
    step = body.let(f"stablehlo.convert {goes_up} : ({bools}) -> {bits}")
    exponent = body.let(f"stablehlo.add {exponent}, {step} : {bits}")
    code = body.let(f"stablehlo.convert {exponent} : ({bits}) -> {codes}")
    return body.let(f"stablehlo.bitcast_convert {code} : ({codes}) -> {target}")
