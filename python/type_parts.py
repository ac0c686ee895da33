"""What a type is made of, by the names that the table of StableHLO versions has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirDialectsQuant as quant

from mlir_fp8.dialects.stablehlo_versions import TYPE_FORMS, TYPES

_FUTURE = re.compile(r"!stablehlo\.future<(.*)>", re.DOTALL)
_QUANTIZED = (
    quant.UniformQuantizedType,
    quant.UniformQuantizedPerAxisType,
    quant.UniformQuantizedSubChannelType,
)


@dataclass
class TypeParts:
    """The names in one type: `known` of the table, `unknown` spelled as MLIR does."""

    known: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    """Why the type must not reach the library, which would crash or write something else."""


def type_parts(type_: ir.Type) -> TypeParts:
    """Take `type_` apart, down to the element types."""
    parts = TypeParts()
    _take_apart(type_, parts)
    return parts


def _take_apart(type_: ir.Type, parts: TypeParts) -> None:
    if isinstance(type_, _QUANTIZED):
        _quantized(type_, parts)
    elif isinstance(type_, ir.ComplexType):
        _complex(type_, parts)
    elif (form := _form(type_)) is not None:
        if form:
            parts.known.add(form)
        if _has_foreign_encoding(type_):
            parts.unknown.add(str(type_))
        for inner in _inner(type_):
            _take_apart(inner, parts)
    else:
        name = str(type_)
        (parts.known if name in TYPES else parts.unknown).add(name)


def _form(type_: ir.Type) -> str | None:
    """The entry of `TYPE_FORMS`, "" for a type with parameters that is none, None for a leaf."""
    if isinstance(type_, ir.MemRefType):
        return "buffer type (memref)"
    if _FUTURE.fullmatch(str(type_)):
        return "future type"
    containers = ir.RankedTensorType | ir.UnrankedTensorType | ir.TupleType | ir.FunctionType
    return "" if isinstance(type_, containers) else None


def _has_foreign_encoding(type_: ir.Type) -> bool:
    encoding = type_.encoding if isinstance(type_, ir.RankedTensorType) else None
    return encoding is not None and not str(encoding).startswith("#stablehlo")


def _inner(type_: ir.Type) -> Iterator[ir.Type]:
    if isinstance(type_, ir.TupleType):
        yield from (type_.get_type(index) for index in range(type_.num_types))
    elif isinstance(type_, ir.FunctionType):
        yield from (*type_.inputs, *type_.results)
    elif isinstance(type_, ir.ShapedType):
        yield type_.element_type
    elif future := _FUTURE.fullmatch(str(type_)):
        # The bindings know the type only by its spelling.
        yield ir.Type.parse(future[1], type_.context)


def _complex(type_: ir.ComplexType, parts: TypeParts) -> None:
    element = str(type_.element_type)
    if element in TYPES:
        parts.known.add(element)
        return
    # The library crashes on these, at every version.
    parts.refused.add(f"has the type {type_}, which no StableHLO version holds: use complex<f32>")


def _quantized(type_: quant.QuantizedType, parts: TypeParts) -> None:
    storage = type_.storage_type
    if not isinstance(storage, ir.IntegerType):
        # It parses, but what the verifier makes of it changes from run to run.
        parts.refused.add(
            f"has the type {type_}, quantized with a storage type that is no integer: "
            "store i8, or use the float type itself"
        )
        return
    if isinstance(type_, quant.UniformQuantizedSubChannelType):
        parts.unknown.add(str(type_))
    if isinstance(type_, quant.UniformQuantizedPerAxisType):
        parts.known.add("per-axis quantized type")
    # The library's own check of versions does not look into per-axis types.
    _take_apart(storage, parts)
    _take_apart(type_.expressed_type, parts)


def part_version(name: str) -> str:
    """The StableHLO version that introduced a part which `TypeParts.known` names."""
    return TYPES.get(name) or TYPE_FORMS[name]
