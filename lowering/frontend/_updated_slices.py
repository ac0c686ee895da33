"""Rows written into a slice, and the slice written back: rows written where the slice is."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import producer, replace_op
from mlir_fp8.lowering.frontend._scattered_slices import scattered
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, names

_INDEX_OPS = names(
    "stablehlo",
    "add broadcast_in_dim clamp compare constant convert dynamic_slice iota maximum minimum"
    " multiply reshape select slice subtract",
)
_RESHAPES = ("stablehlo.reshape", "stablehlo.broadcast_in_dim")


def write_rows(write: ir.Operation) -> None:
    """Replace `write`, a `dynamic_update_slice`, where it writes back a slice with rows in it.

    The rows are written by one op each into the whole tensor, and what read the slice with them in
    it takes it of that. Indices are clamped as before: a slice is whole or of size 1 along each
    dimension, and so are its rows along the latter.
    """
    if not all(map(has_static_shape, write.operands)):
        return
    updates: list[ir.Operation] = []
    between: list[ir.Operation] = []
    value = write.operands[1]
    while (op := producer(value)) is not None and op.block == write.block:
        if op.name == "stablehlo.dynamic_update_slice" or _is_set(op):
            updates.append(op)
        elif op.name not in _RESHAPES or not _is_reshape(op):
            break
        between.append(op)
        value = op.operands[0]
    if op is None or not updates or not _reads_back(op, write):
        return
    places = [_placed(op, each) for each in updates]
    if all(each is not None for each in places):
        _replace(write, op, updates[::-1], [each for each in places[::-1] if each is not None])
        for each in between:
            if next(iter(each.results[0].uses), None) is None:
                each.erase()


def _is_set(op: ir.Operation) -> bool:
    """Whether `op` scatters into one tensor."""
    return op.name == "stablehlo.scatter" and len(op.results) == 1


def _is_reshape(op: ir.Operation) -> bool:
    """Whether `op` keeps the number and the order of elements."""
    if op.name == "stablehlo.reshape":
        return True
    places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    before, after = _shape(op.operands[0]), _shape(op.results[0])
    wide = [size for size in after if size > 1]
    return places == sorted(places) and [size for size in before if size > 1] == wide


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _reads_back(read: ir.Operation, write: ir.Operation) -> bool:
    """Whether `read` takes the slice that `write` overwrites, of the same tensor."""
    if read.name != "stablehlo.dynamic_slice" or read.operands[0] != write.operands[0]:
        return False
    whole, sizes = _shape(write.operands[0]), _shape(write.operands[1])
    if list(ir.DenseI64ArrayAttr(read.attributes["slice_sizes"])) != sizes:
        return False
    pairs = zip(list(read.operands)[1:], list(write.operands)[2:], strict=True)
    return all(
        size == all_ or (size == 1 and _is_same(one, other))
        for (one, other), size, all_ in zip(pairs, sizes, whole, strict=True)
    )


def _is_same(one: ir.Value, other: ir.Value, depth: int = 8) -> bool:
    """Whether two indices are computed alike from the same values."""
    if one == other:
        return True
    a, b = producer(one), producer(other)
    if a is None or b is None or a.name != b.name or a.name not in _INDEX_OPS or not depth:
        return False
    attributes = [{name: op.attributes[name] for name in op.attributes} for op in (a, b)]
    if one.type != other.type or attributes[0] != attributes[1]:
        return False
    pairs = zip(a.operands, b.operands, strict=True)
    return all(_is_same(x, y, depth - 1) for x, y in pairs)


def _placed(read: ir.Operation, update: ir.Operation) -> tuple[list[ir.Value], list[int]] | None:
    """Where rows of `update`, of the slice that `read` takes, start in the whole; their shape."""
    whole, sizes = _shape(read.operands[0]), _shape(read.results[0])
    own, rows = _shape(update.operands[0]), _shape(update.operands[1])
    starts, shape = list(read.operands)[1:], list[int]()
    if update.name == "stablehlo.scatter":
        return (starts, rows) if own == whole[1:] and sizes == [1, *own] else None
    taken = 0
    for dim, (size, all_) in enumerate(zip(sizes, whole, strict=True)):
        is_whole = size == all_
        if taken < len(own) and own[taken] == size and (is_whole or size == 1):
            shape.append(rows[taken])
            if is_whole:
                starts[dim] = update.operands[2 + taken]
            taken += 1
        elif size == 1:
            shape.append(1)
        else:
            return None
    is_of_one_type = len({str(each.type) for each in starts}) <= 1
    return (starts, shape) if taken == len(own) and is_of_one_type else None


def _replace(
    write: ir.Operation,
    read: ir.Operation,
    updates: Sequence[ir.Operation],
    places: Sequence[tuple[list[ir.Value], list[int]]],
) -> None:
    whole = write.operands[0]
    attributes = {"slice_sizes": read.attributes["slice_sizes"]}
    for update, (starts, shape) in zip(updates, places, strict=True):
        with ir.InsertionPoint(update), update.location:
            if update.name == "stablehlo.scatter":
                whole = scattered(update, whole, starts[0])
            else:
                rows = update.operands[1]
                element = ir.RankedTensorType(rows.type).element_type
                rows = build("reshape", ir.RankedTensorType.get(shape, element), [rows])
                whole = build("dynamic_update_slice", whole.type, [whole, rows, *starts])
            places_of_slice = list(read.operands)[1:]
            part = build(
                "dynamic_slice", read.results[0].type, [whole, *places_of_slice], attributes
            )
            seen = build("reshape", update.results[0].type, [part])
        update.results[0].replace_all_uses_with(seen)
    replace_op(write, [whole])
