"""Builds scaled products: what `fp8.scaled_dot` and `fp8.scaled_convolution` have in common."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_attributes import SIZES
from mlir_fp8.dialects._fp8_product_parts import FLAGS, OPERANDS
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect


class ProductOptions(TypedDict, total=False):
    """What a scaled product may have beside its operands; `ScaledDot` says what each means.

    None, false, and activation "none" are what is absent.
    """

    a_scale: ir.Value | None
    b_scale: ir.Value | None
    c: ir.Value | None
    """Of the result's shape."""
    bias: ir.Value | None
    """Of rank 1."""
    d_scale: ir.Value | None
    operand_type: ir.Type | None
    dot_type: ir.Type | None
    epilogue_type: ir.Type | None
    alpha: float | None
    beta: float | None
    activation: str | None
    a_inverse: bool
    b_inverse: bool
    d_inverse: bool
    saturate: bool
    amax: bool
    fast_accum: bool


def build_product(
    name: str,
    a: ir.Value,
    b: ir.Value,
    result: ir.Type,
    shape: Mapping[str, ir.Attribute],
    options: ProductOptions,
) -> list[ir.Value]:
    """The results of a new op `name` that gives `result`; `shape` are StableHLO's attributes."""
    known = ProductOptions.__annotations__
    if unknown := sorted(options.keys() - known):
        raise Fp8Error(f"'{name}' has no option {unknown[0]}, only {', '.join(known)}")
    operands = [a, b, *(options.get(each) for each in OPERANDS[2:])]
    types = {each: options.get(each) for each in ("operand_type", "dot_type", "epilogue_type")}
    epilogue = types["epilogue_type"] or types["dot_type"] or ir.F32Type.get()
    attributes = {
        **shape,
        **{each: ir.TypeAttr.get(type_) for each, type_ in types.items() if type_ is not None},
        **{each: ir.UnitAttr.get() for each in FLAGS if options.get(each)},
        SIZES: ir.DenseI32ArrayAttr.get([int(each is not None) for each in operands]),
    }
    for each in ("alpha", "beta"):
        factor = options.get(each)
        if factor is not None and isinstance(epilogue, ir.FloatType):  # else refused as it is
            attributes[each] = ir.FloatAttr.get(epilogue, factor)
    activation = options.get("activation")
    if activation not in (None, "none"):
        attributes["activation"] = ir.StringAttr.get(activation)
    results = [result, *([ir.RankedTensorType.get([], epilogue)] if options.get("amax") else [])]
    return build(name, results, [each for each in operands if each is not None], attributes)


def build(
    name: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute],
) -> list[ir.Value]:
    """The results of a new op at the current insertion point and location."""
    for operand in operands:
        if not isinstance(operand, ir.Value):
            raise Fp8Error(f"'{name}' takes an ir.Value for each operand, not {operand!r}")
    load_fp8_dialect(results[0].context)
    op = ir.Operation.create(name, results=results, operands=operands, attributes=dict(attributes))
    return list(op.results)
