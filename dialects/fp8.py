"""The `fp8` dialect: what StableHLO has no word for. Ops print and parse in generic form.

`"fp8.convert"(%x) {rounding = "toward_zero", saturate} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>`

A context knows the dialect after `load_fp8_dialect` of fp8_loading.py, which loading a module that
mentions it does. The docstring of an op's class is its specification; docs/fp8_dialect.md tells the
whole. The functions here build ops at the current insertion point and location, and infer types;
what the verifier refuses they do, and leave no op.

To add an op: a class in a file `_fp8_NAME.py`, which fp8_loading.py imports, and whose
`verify_invariants` refuses in one line what breaks its docstring; its builder here; its
decomposition in `lowering/fp8/ops/decompositions.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_attention import Attention
from mlir_fp8.dialects._fp8_attention_backward import (
    AttentionBackward,
    attention_backward_refusal,
)
from mlir_fp8.dialects._fp8_attention_builder import AttentionOptions, build_attention
from mlir_fp8.dialects._fp8_attention_parts import AttentionParts, attention_parts
from mlir_fp8.dialects._fp8_attention_rules import attention_refusal
from mlir_fp8.dialects._fp8_attributes import SIZES, is_set
from mlir_fp8.dialects._fp8_convert import Convert, convert_refusal
from mlir_fp8.dialects._fp8_dialect import Fp8
from mlir_fp8.dialects._fp8_product_builder import ProductOptions, build, build_product
from mlir_fp8.dialects._fp8_product_parts import Product, product_parts
from mlir_fp8.dialects._fp8_product_rules import product_refusal
from mlir_fp8.dialects._fp8_product_shapes import convolution_shape, dot_shape
from mlir_fp8.dialects._fp8_products import ScaledConvolution, ScaledDot
from mlir_fp8.dialects._fp8_quantization import (
    Dequantize,
    Quantize,
    dequantize_refusal,
    quantize_refusal,
)
from mlir_fp8.dialects._fp8_ragged import ScaledRaggedDot
from mlir_fp8.dialects._fp8_ragged_parts import RaggedParts, ragged_parts, ragged_shape
from mlir_fp8.dialects._fp8_ragged_rules import ragged_refusal
from mlir_fp8.dialects._fp8_uniform import (
    TYPE,
    UniformDequantize,
    UniformQuantize,
    uniform_dequantize_refusal,
    uniform_quantize_refusal,
)
from mlir_fp8.dialects._fp8_unpack import UnpackCodes, unpack_refusal
from mlir_fp8.dialects._fp8_update_scale import UpdateScale, update_scale_refusal
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.uniform_types import quant, storage_type

__all__ = [
    "REFUSALS",
    "Attention",
    "AttentionBackward",
    "AttentionOptions",
    "AttentionParts",
    "Convert",
    "Dequantize",
    "Fp8",
    "Product",
    "ProductOptions",
    "Quantize",
    "RaggedParts",
    "ScaledConvolution",
    "ScaledDot",
    "ScaledRaggedDot",
    "UniformDequantize",
    "UniformQuantize",
    "UnpackCodes",
    "UpdateScale",
    "attention",
    "attention_backward",
    "attention_parts",
    "convert",
    "dequantize",
    "is_set",
    "product_parts",
    "quantize",
    "ragged_parts",
    "scaled_convolution",
    "scaled_dot",
    "scaled_ragged_dot",
    "uniform_dequantize",
    "uniform_quantize",
    "unpack",
    "update_scale",
]

REFUSALS: dict[str, Callable[[ir.Operation], str]] = {
    "fp8.attention": attention_refusal,
    "fp8.attention_backward": attention_backward_refusal,
    "fp8.convert": convert_refusal,
    "fp8.dequantize": dequantize_refusal,
    "fp8.quantize": quantize_refusal,
    "fp8.scaled_convolution": product_refusal,
    "fp8.scaled_dot": product_refusal,
    "fp8.scaled_ragged_dot": ragged_refusal,
    "fp8.uniform_dequantize": uniform_dequantize_refusal,
    "fp8.uniform_quantize": uniform_quantize_refusal,
    "fp8.unpack": unpack_refusal,
    "fp8.update_scale": update_scale_refusal,
}
"""By name of the op: what its verifier says against one, in one line, or nothing."""


def quantize(
    x: ir.Value, scale: ir.Value, fmt: ir.Type, *, inverse: bool = False, saturate: bool = True
) -> ir.Value:
    """`fp8.quantize`: `x` over `scale` (times it if `inverse`), as small floats `fmt`.

    `x`: bf16, f16, f32 or f64; the result has its shape. See `Quantize`.
    """
    flags = _flags(inverse=inverse, saturate=saturate)
    return _checked(build("fp8.quantize", [_tensor(_shape(x), fmt)], [x, scale], flags))[0]


def dequantize(
    q: ir.Value, scale: ir.Value, element: ir.Type, *, inverse: bool = False
) -> ir.Value:
    """`fp8.dequantize`: `q` times `scale` (over it if `inverse`), in `element`.

    `q`: f8, f6 or f4; the result has its shape, in bf16, f16, f32 or f64. See `Dequantize`.
    """
    flags = _flags(inverse=inverse)
    return _checked(build("fp8.dequantize", [_tensor(_shape(q), element)], [q, scale], flags))[0]


def uniform_quantize(x: ir.Value, type_: ir.Type) -> ir.Value:
    """`fp8.uniform_quantize`: what `type_`, a `!quant.uniform<...>`, stores for `x`.

    `x` is of the expressed type; the result has its shape. See `UniformQuantize`.
    """
    attributes: dict[str, ir.Attribute] = {TYPE: ir.TypeAttr.get(type_)}
    result = _tensor(_shape(x), storage_type(type_))
    return _checked(build("fp8.uniform_quantize", [result], [x], attributes))[0]


def uniform_dequantize(q: ir.Value, type_: Any) -> ir.Value:
    """`fp8.uniform_dequantize`: what `q`, stored by `type_`, a `!quant.uniform<...>`, stands for.

    `q` is of the storage type; the result has its shape. See `UniformDequantize`.
    """
    attributes: dict[str, ir.Attribute] = {TYPE: ir.TypeAttr.get(type_)}
    if not isinstance(type_, quant.QuantizedType):
        raise Fp8Error(f"{type_} is no quantized type")
    result = _tensor(_shape(q), type_.expressed_type)
    return _checked(build("fp8.uniform_dequantize", [result], [q], attributes))[0]


def convert(
    x: ir.Value,
    fmt: ir.Type,
    *,
    rounding: str,
    saturate: bool = False,
    seed: int | None = None,
    run_time_seed: ir.Value | None = None,
) -> ir.Value:
    """`fp8.convert`: `x`, of any float or integer type, as `fmt`: f8, f6, f4, bf16 or f16.

    `rounding` is one of `RoundingMode`; stochastic rounding takes a `seed`, a `run_time_seed`,
    tensor<ui64>, or both. The result has the shape of `x`. See `Convert`.
    """
    attributes: dict[str, ir.Attribute] = {
        "rounding": ir.StringAttr.get(rounding),
        **_flags(saturate=saturate),
    }
    if seed is not None:
        attributes["seed"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), seed)
    operands = [x] if run_time_seed is None else [x, run_time_seed]
    return _checked(build("fp8.convert", [_tensor(_shape(x), fmt)], operands, attributes))[0]


def unpack(packed: ir.Value, fmt: ir.Type) -> ir.Value:
    """`fp8.unpack`: the numbers of `fmt`, f6 or f4, that lie in `packed`, ui8, without gaps.

    The result has its last dimension 4/3 as long, or twice. See `UnpackCodes`.
    """
    *outer, last = _shape(packed)
    shape = [*outer, last * 8 // FORMATS[str(fmt)].bits]
    return _checked(build("fp8.unpack", [_tensor(shape, fmt)], [packed], {}))[0]


def scaled_dot(
    a: ir.Value,
    b: ir.Value,
    *,
    dot_dimension_numbers: ir.Attribute,
    result_element: ir.Type,
    **options: Unpack[ProductOptions],
) -> list[ir.Value]:
    """`fp8.scaled_dot`: the product, and with the option `amax` its largest magnitude.

    `dot_dimension_numbers` is a `#stablehlo.dot<...>`. The first result has the shape of
    `stablehlo.dot_general`'s, in `result_element`; the second is a scalar of `epilogue_type`. See
    `ScaledDot`.
    """
    shape = _inferred(dot_shape, _shape(a), _shape(b), dot_dimension_numbers)
    result = _tensor(shape, result_element)
    attributes = {"dot_dimension_numbers": dot_dimension_numbers}
    return _checked(build_product("fp8.scaled_dot", a, b, result, attributes, options))


def scaled_convolution(
    a: ir.Value,
    b: ir.Value,
    *,
    convolution: Mapping[str, ir.Attribute],
    result_element: ir.Type,
    **options: Unpack[ProductOptions],
) -> list[ir.Value]:
    """`fp8.scaled_convolution`: as `scaled_dot`; see `ScaledConvolution`.

    `convolution` holds the attributes of `stablehlo.convolution`: `dimension_numbers` and, where
    they are not 1, 0 or false, `window_strides`, `padding`, `lhs_dilation`, `rhs_dilation`,
    `window_reversal`, `feature_group_count`, `batch_group_count`.
    """
    one = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)
    attributes = {"feature_group_count": one, "batch_group_count": one, **convolution}
    shape = _inferred(convolution_shape, _shape(a), _shape(b), attributes)
    result = _tensor(shape, result_element)
    return _checked(build_product("fp8.scaled_convolution", a, b, result, attributes, options))


def scaled_ragged_dot(
    a: ir.Value,
    b: ir.Value,
    group_sizes: ir.Value,
    *,
    ragged_dot_dimension_numbers: ir.Attribute,
    result_element: ir.Type,
    a_scale: ir.Value | None = None,
    b_scale: ir.Value | None = None,
    fast_accum: bool = False,
) -> ir.Value:
    """`fp8.scaled_ragged_dot`: [m, n] of groups of rows, or [G, m, n] of groups of summands.

    `ragged_dot_dimension_numbers` is a `#chlo.ragged_dot<...>`; the result is of `result_element`,
    f32, bf16 or f16. See `ScaledRaggedDot`.
    """
    given = (a, b, group_sizes, a_scale, b_scale)
    attributes = {
        NUMBERS: ragged_dot_dimension_numbers,
        SIZES: ir.DenseI32ArrayAttr.get([int(each is not None) for each in given]),
        **_flags(fast_accum=fast_accum),
    }
    shapes = [_shape(each) for each in (a, b, group_sizes)]
    shape = _inferred(ragged_shape, ragged_dot_dimension_numbers, *shapes)
    operands = [each for each in given if each is not None]
    result = _tensor(shape, result_element)
    return _checked(build("fp8.scaled_ragged_dot", [result], operands, attributes))[0]


def attention(
    q: ir.Value,
    k: ir.Value,
    v: ir.Value,
    result_element: ir.Type,
    **options: Unpack[AttentionOptions],
) -> list[ir.Value]:
    """`fp8.attention`: [B, H, T, E] of `result_element`, which is f32, bf16 or f16; lse.

    `q` is [B, H, T, D], `k` [B, Hk, S, D] and `v` [B, Hk, S, E]. The second result, with the option
    `lse` alone, is [B, H, T] of f32. See `Attention`.
    """
    result = _tensor([*_shape(q)[:3], *_shape(v)[3:4]], result_element)
    return _checked(build_attention(q, k, v, result, options))


def attention_backward(
    operands: Sequence[ir.Value], *, scale: float | None = None, causal: bool = False
) -> list[ir.Value]:
    """`fp8.attention_backward`: dq, dk and dv, of the types of q, k and v.

    `operands` are q, k, v, out, out_gradient, all of bf16, f16 or f32, and lse, f32. See
    `AttentionBackward`.
    """
    attributes = _flags(causal=causal)
    if scale is not None:
        attributes["scale"] = ir.FloatAttr.get(ir.F32Type.get(), scale)
    results = [each.type for each in operands[:3]]
    return _checked(build("fp8.attention_backward", results, operands, attributes))


def update_scale(
    scale: ir.Value,
    history: ir.Value,
    amax: ir.Value,
    fmt: ir.Type,
    *,
    recipe: str,
    algorithm: str | None = None,
    margin: float = 0.0,
    power_of_two: bool = False,
) -> tuple[ir.Value, ir.Value]:
    """`fp8.update_scale`: the new scale, tensor<f32>, and the new history, tensor<Nxf32>.

    `scale` and `amax`: tensor<f32>; `history`: tensor<Nxf32>; `fmt`: f8, f6 or f4. See
    `UpdateScale`.
    """
    attributes: dict[str, ir.Attribute] = {
        "recipe": ir.StringAttr.get(recipe),
        "format": ir.TypeAttr.get(fmt),
    }
    if algorithm is not None:
        attributes["algorithm"] = ir.StringAttr.get(algorithm)
    if margin:
        attributes["margin"] = ir.FloatAttr.get(ir.F32Type.get(), margin)
    attributes |= _flags(power_of_two=power_of_two)
    results = [_tensor(_shape(each), ir.F32Type.get()) for each in (scale, history)]
    built = build("fp8.update_scale", results, [scale, history, amax], attributes)
    new_scale, new_history = _checked(built)
    return new_scale, new_history


def _checked(values: list[ir.Value]) -> list[ir.Value]:
    """`values` of a new op, which goes where its verifier refuses it."""
    op = ir.OpResult(values[0]).owner.operation
    reason = REFUSALS[op.name](op)
    if not reason:
        return values
    error = op_error(op, reason)
    op.erase()
    raise error


def _inferred(infer: Callable[..., list[int]], *arguments: object) -> list[int]:
    """The shape that `infer` gives, or any where there is none: the verifier has the reason."""
    try:
        shape = infer(*arguments)
    except (IndexError, KeyError, ValueError, ZeroDivisionError):
        return []
    return shape if min(shape, default=0) >= 0 else []


def _shape(value: ir.Value) -> list[int]:
    if not isinstance(value, ir.Value):
        raise Fp8Error(f"an operand is {value!r}: give an ir.Value")
    if not isinstance(value.type, ir.RankedTensorType):
        raise Fp8Error(f"an operand is of type {value.type}: give a ranked tensor")
    return value.type.shape


def _tensor(shape: list[int], element: ir.Type) -> ir.Type:
    if not isinstance(element, ir.Type) or isinstance(element, ir.ShapedType):
        raise Fp8Error(f"{element} is no element type: give an ir.Type such as ir.F32Type.get()")
    return ir.RankedTensorType.get(shape, element)


def _flags(**flags: bool) -> dict[str, ir.Attribute]:
    return {name: ir.UnitAttr.get() for name, value in flags.items() if value}
