"""The file that `jax.export.Exported.serialize()` writes: a flatbuffer around an artifact.

Beside the artifact it says which arguments of the exported function the artifact's `main` takes:
JAX drops those that nothing uses, and puts the index of a platform before them where the function
was exported for several. The schema is that of jax/_src/export/serialization.fbs; fields keep their
numbers from version to version.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flatbuffers import encode, number_types, packer
from flatbuffers.table import Table
from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.errors import Fp8Error

_ARTIFACT = re.compile(rb"ML\xefR.StableHLO_v\d+\.\d+\.\d+\0", re.DOTALL)
_SERIALIZATIONS, _CALLING_CONVENTIONS = range(1, 12), range(9, 11)
# Fields of the table Exported, and of AbstractValue, by number.
_VERSION, _IN_AVALS, _PLATFORMS, _ORDERED_EFFECTS = 0, 3, 9, 10
_MODULE, _CALLING_CONVENTION, _KEPT = 13, 14, 15
_UNIQUE_AVALS, _IN_AVAL_INDICES = 19, 22
_KIND, _SHAPE, _DTYPE = 0, 1, 2
_TOKEN = 1
# The values of the enum DType: keys of random numbers are what they consist of.
# fmt: off
_ELEMENTS = (
    "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64",
    "complex<f32>", "complex<f64>", "bf16", "i4", "ui4", "f8E4M3B11FNUZ", "f8E4M3FN",
    "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "i1", "f8E4M3", "f8E3M4", "f8E8M0FNU", "f4E2M1FN",
    "2xui32", "4xui32", "4xui32",
)
# fmt: on
# What reading beyond the ends of a buffer, or of a table of names, raises.
_DAMAGE = (struct.error, IndexError, ValueError, TypeError, OverflowError)


@dataclass(frozen=True)
class Exported:
    """What the file says."""

    artifact: bytes
    arguments: Sequence[str]
    """The types of all arguments of the exported function, in MLIR's words."""
    kept: Sequence[int]
    """Those that the artifact's `main` takes."""
    platforms: Sequence[str]
    tokens: int
    """How many tokens `main` takes before its arguments."""


def is_exported(data: bytes) -> bool:
    """Whether `data` holds an artifact behind something else, which text cannot."""
    found = _ARTIFACT.search(data)
    return found is not None and found.start() > 0


def read_exported(data: bytes, name: str) -> Exported:
    """The facts of such a file; `name` stands for it in errors."""
    try:
        table = Table(data, encode.Get(packer.uoffset, data, 0))
        version = _number(table, _VERSION)
        convention = _number(table, _CALLING_CONVENTION)
        exported = _read(table) if version in _SERIALIZATIONS else None
    except _DAMAGE:
        raise Fp8Error(f"{name}: damaged: not what jax.export's serialize writes") from None
    if exported is None:
        raise Fp8Error(
            f"{name}: jax.export's serialization {version} is not known here: 1 to 11 are; give "
            "the artifact in it, Exported.mlir_module_serialized"
        )
    if convention not in _CALLING_CONVENTIONS:
        raise Fp8Error(
            f"{name}: calling convention {convention} of jax.export is not known here: 9 and 10 "
            "are; export the function with one of those"
        )
    return exported


def take_all_arguments(module: ir.Module, exported: Exported, name: str) -> None:
    """Let `main` take every argument of the exported function, and nothing else but tokens.

    An index of a platform becomes that of `cpu`, or of the first platform where that is none.
    """
    main = _main(module, exported, name)
    block = main.regions[0].blocks[0]
    old = list(block.arguments)
    with module.context, ir.Location.unknown():
        types = [ir.Type.parse(each) for each in exported.arguments]
        if len(old) > exported.tokens + len(exported.kept):
            _fix_platform(block, old.pop(0), exported.platforms)
        tokens, kept = old[: exported.tokens], old[exported.tokens :]
        if any(
            types[index] != value.type for index, value in zip(exported.kept, kept, strict=True)
        ):
            raise Fp8Error(f"{name}: damaged: 'main' takes other types than the file says")
        places = [*range(len(tokens)), *(len(tokens) + index for index in exported.kept)]
        _give_arguments(main, [*(token.type for token in tokens), *types], places)


def _read(table: Table) -> Exported:
    start, length = _vector(table, _MODULE)
    artifact = bytes(table.Bytes[start : start + length])
    if len(artifact) != length or not _ARTIFACT.match(artifact):
        raise ValueError
    at, count = _vector(table, _KEPT)
    kept = [_element(table, number_types.Uint16Flags, at + 2 * each) for each in range(count)]
    arguments = [_argument(aval) for aval in _in_avals(table)]
    if kept != sorted(set(kept)) or (kept and kept[-1] >= len(arguments)):
        raise ValueError
    at, count = _vector(table, _PLATFORMS)
    platforms = [table.String(at + 4 * each).decode() for each in range(count)]
    return Exported(artifact, arguments, kept, platforms, _vector(table, _ORDERED_EFFECTS)[1])


def _in_avals(table: Table) -> Iterator[Table]:
    """The types of arguments: those listed one by one, or since version 10 by indices."""
    start, count = _vector(table, _IN_AVAL_INDICES)
    if not count:
        yield from _tables(table, _IN_AVALS)
        return
    unique = list(_tables(table, _UNIQUE_AVALS))
    for each in range(count):
        yield unique[_element(table, number_types.Uint32Flags, start + 4 * each)]


def _argument(aval: Table) -> str:
    if _number(aval, _KIND, number_types.Int8Flags) == _TOKEN:
        return "!stablehlo.token"
    start, rank = _vector(aval, _SHAPE)
    sizes = [aval.String(start + 4 * each).decode() for each in range(rank)]
    element = _ELEMENTS[_number(aval, _DTYPE, number_types.Int8Flags)]
    shape = "".join(f"{size if size.isdecimal() else '?'}x" for size in sizes)
    return f"tensor<{shape}{element}>"


def _tables(table: Table, field: int) -> Iterator[Table]:
    start, count = _vector(table, field)
    for each in range(count):
        yield Table(table.Bytes, table.Indirect(start + 4 * each))


def _vector(table: Table, field: int) -> tuple[int, int]:
    """Where the elements of a vector start, and how many there are."""
    offset = table.Offset(4 + 2 * field)
    return (table.Vector(offset), table.VectorLen(offset)) if offset else (0, 0)


def _number(table: Table, field: int, flags: type = number_types.Uint16Flags) -> int:
    offset = table.Offset(4 + 2 * field)
    return _element(table, flags, table.Pos + offset) if offset else 0


def _element(table: Table, flags: type, at: int) -> int:
    return int(table.Get(flags, at))


def _main(module: ir.Module, exported: Exported, name: str) -> ir.Operation:
    functions = [op for op in module.body.operations if isinstance(op, func.FuncOp)]
    main = next((op for op in functions if op.name.value == "main"), None)
    if main is None:
        raise Fp8Error(f"{name}: damaged: its module has no function 'main'")
    expected = exported.tokens + len(exported.kept)
    if len(main.arguments) not in (expected, expected + (len(exported.platforms) > 1)):
        raise Fp8Error(
            f"{name}: damaged: 'main' takes {len(main.arguments)} arguments, and the file says "
            f"{expected}"
        )
    return main.operation


def _fix_platform(block: ir.Block, index: ir.Value, platforms: Sequence[str]) -> None:
    number = platforms.index("cpu") if "cpu" in platforms else 0
    with ir.InsertionPoint.at_block_begin(block):
        value = ir.Attribute.parse(f"dense<{number}> : {index.type}")
        constant = ir.Operation.create(
            "stablehlo.constant", results=[index.type], attributes={"value": value}
        )
    index.replace_all_uses_with(constant.results[0])
    block.erase_argument(0)


def _give_arguments(main: ir.Operation, types: Sequence[ir.Type], places: Sequence[int]) -> None:
    """New arguments of `types` for `main`; its own are those at `places`, in order."""
    block = main.regions[0].blocks[0]
    old = list(block.arguments)
    attributes = _argument_attributes(main, types, places)
    new = [block.add_argument(type_, ir.Location.unknown()) for type_ in types]
    for place, value in zip(places, old, strict=True):
        new[place].set_location(value.location)
        value.replace_all_uses_with(new[place])
    for _ in old:
        block.erase_argument(0)
    results = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, results))
    if attributes is not None:
        main.attributes["arg_attrs"] = attributes


def _argument_attributes(
    main: ir.Operation, types: Sequence[ir.Type], places: Sequence[int]
) -> ir.Attribute | None:
    held = main.attributes.get("arg_attrs")
    if held is None:
        return None
    # That of an index of a platform stood first.
    listed = list(ir.ArrayAttr(held))[-len(places) :] if places else []
    given = dict(zip(places, listed, strict=True))
    nothing = ir.DictAttr.get({})
    return ir.ArrayAttr.get([given.get(place, nothing) for place in range(len(types))])
