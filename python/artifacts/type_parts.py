"""What a type is made of, by the names that the table of StableHLO versions has."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirDialectsQuant as quant

from mlir_fp8.dialects.stablehlo_versions import TYPE_FORMS, TYPES

_CONTAINERS = (
    ir.RankedTensorType,
    ir.UnrankedTensorType,
    ir.TupleType,
    ir.FunctionType,
    ir.MemRefType,
)
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
    # Not by recursion: types nest deeper than Python's stack.
    left = [type_]
    while left:
        left.extend(_take_apart(left.pop(), parts))
    return parts


def _take_apart(type_: ir.Type, parts: TypeParts) -> Iterable[ir.Type]:
    """Note what `type_` is itself; the types in it."""
    if isinstance(type_, _QUANTIZED):
        return _quantized(type_, parts)
    if isinstance(type_, ir.ComplexType):
        return _complex(type_, parts)
    if isinstance(type_, _CONTAINERS):
        if _has_foreign_encoding(type_):
            parts.unknown.add(str(type_))
        if isinstance(type_, ir.MemRefType):
            parts.known.add("buffer type (memref)")
            if ", " in str(type_):  # a layout or a memory space
                parts.refused.add(
                    f"has the type {type_}, of which the library drops all but shape and element "
                    "type: use a plain memref"
                )
        return _inner(type_)
    name = str(type_)
    if future := _FUTURE.fullmatch(name):
        parts.known.add("future type")
        # The bindings know the type only by its spelling, a list like a tuple's.
        return _inner(ir.Type.parse(f"tuple<{future[1]}>", type_.context))
    (parts.known if name in TYPES else parts.unknown).add(name)
    return ()


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


def _complex(type_: ir.ComplexType, parts: TypeParts) -> Iterable[ir.Type]:
    if str(type_.element_type) in TYPES:
        return [type_.element_type]
    # The library crashes on these, at every version.
    parts.refused.add(f"has the type {type_}, which no StableHLO version holds: use complex<f32>")
    return ()


def _quantized(type_: quant.QuantizedType, parts: TypeParts) -> Iterable[ir.Type]:
    storage = type_.storage_type
    if not isinstance(storage, ir.IntegerType):
        # It parses, but what the verifier makes of it changes from run to run.
        parts.refused.add(
            f"has the type {type_}, quantized with a storage type that is no integer: "
            "store i8, or use the float type itself"
        )
        return ()
    if isinstance(type_, quant.UniformQuantizedSubChannelType):
        parts.unknown.add(str(type_))
    if isinstance(type_, quant.UniformQuantizedPerAxisType):
        parts.known.add("per-axis quantized type")
    # The library's own check of versions does not look into per-axis types.
    return [storage, type_.expressed_type]


def part_version(name: str) -> str:
    """The StableHLO version that introduced a part which `TypeParts.known` names."""
    return TYPES.get(name) or TYPE_FORMS[name]
