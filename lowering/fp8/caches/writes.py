"""How rows are written into a cache: by `dynamic_update_slice`, `scatter` or `select`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import producer, terminator
from mlir_fp8.lowering.fp8.caches.indices import counts_along, varying
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, with_shape
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape


@dataclass(frozen=True)
class Write:
    """`op` puts `rows` into a cache.

    `whole` has, of dimensions of the cache that they cover whole and in order, the dimension of
    `rows`; `uniform` are those of these along which all goes to one place of the others.
    """

    op: ir.Operation
    rows: ir.Value
    whole: Mapping[int, int]
    uniform: frozenset[int]

    @property
    def row_shape(self) -> list[int]:
        """The sizes of `rows`."""
        return list(ir.RankedTensorType(self.rows.type).shape)

    def into(self, cache: ir.Value, rows: ir.Value, dropped: Sequence[int]) -> ir.Value:
        """The same write of `rows` into `cache`, whose dimensions `dropped` are of size 1 in both.

        `rows` has the rank of those of the op. Built at the current insertion point.
        """
        if self.op.name == "stablehlo.dynamic_update_slice":
            starts = list(self.op.operands)[2:]
            return build("dynamic_update_slice", cache.type, [cache, rows, *starts])
        if self.op.name == "stablehlo.scatter":
            return _scattered(self, cache, rows, dropped)
        return _selected(self, cache, rows, dropped)


def write_of(op: ir.Operation, number: int) -> Write | None:
    """What `op` writes into its operand `number`; None where it is no write that is understood."""
    if not all(map(has_static_shape, op.operands)):
        return None
    if op.name == "stablehlo.dynamic_update_slice" and number == 0:
        cache, rows = list(op.operands)[:2]
        sizes = zip(_shape(cache), _shape(rows), strict=True)
        whole = {dim: dim for dim, (size, own) in enumerate(sizes) if size == own}
        return Write(op, rows, whole, frozenset(whole))
    if op.name == "stablehlo.scatter" and number == 0 and len(op.operands) == 3:
        return _scatter(op)
    if op.name == "stablehlo.select" and number in (1, 2):
        return _select(op, number)
    return None


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _select(op: ir.Operation, number: int) -> Write | None:
    mask, rows = op.operands[0], op.operands[3 - number]
    if rows == op.operands[number]:
        return None
    shape = _shape(rows)
    every = {dim: dim for dim in range(len(shape))}
    uniform = frozenset(every) - varying(mask)
    source = producer(rows)
    if source is not None and source.name == "stablehlo.broadcast_in_dim":
        places = list(ir.DenseI64ArrayAttr(source.attributes["broadcast_dimensions"]))
        own = _shape(source.operands[0])
        whole = {at: dim for dim, at in enumerate(places) if own[dim] == shape[at]}
        if all(at in whole for at in uniform if shape[at] > 1):
            return Write(op, source.operands[0], whole, uniform & whole.keys())
    return Write(op, rows, every, uniform)


def _selected(write: Write, cache: ir.Value, rows: ir.Value, dropped: Sequence[int]) -> ir.Value:
    op = write.op
    mask = op.operands[0]
    number = 1 if _holds(op.operands[1], write.rows) else 2
    if rows.type != cache.type or write.rows != op.operands[number]:
        source = producer(op.operands[number])
        assert source is not None
        places = list(ir.DenseI64ArrayAttr(source.attributes["broadcast_dimensions"]))
        rows = broadcast(rows, cache.type, places)
    if _shape(mask) and dropped:
        mask = _first(mask, dropped)
    operands = [rows, cache] if number == 1 else [cache, rows]
    return build("select", cache.type, [mask, *operands])


def _holds(value: ir.Value, rows: ir.Value) -> bool:
    source = producer(value)
    return value == rows or (
        source is not None
        and source.name == "stablehlo.broadcast_in_dim"
        and source.operands[0] == rows
    )


def _scatter(op: ir.Operation) -> Write | None:
    cache, indices, rows = op.operands
    numbers = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    body = op.regions[0].blocks[0]
    is_set = list(terminator(body).operands) == [body.arguments[1]]
    if not is_set or list(numbers.input_batching_dims):
        return None
    window, inserted = list(numbers.update_window_dims), list(numbers.inserted_window_dims)
    shape, own = _shape(cache), _shape(rows)
    kept = [dim for dim in range(len(shape)) if dim not in inserted]
    whole = {d: u for d, u in zip(kept, window, strict=True) if shape[d] == own[u]}
    uniform = set(whole)
    parts = _components(indices, numbers.index_vector_dim)
    of_index = _index_dims(len(own), window, numbers.index_vector_dim)
    indexed = list(numbers.scattered_dims_to_operand_dims)
    if parts is None or len(parts) != len(indexed):
        return Write(op, rows, whole, frozenset(uniform))
    counted = {
        dim: (update, at)
        for dim, part in zip(indexed, parts, strict=True)
        for update, at in of_index.items()
        if dim in inserted and own[update] == shape[dim] and counts_along(part, at)
    }
    others = [varying(p) for d, p in zip(indexed, parts, strict=True) if d not in counted]
    for dim, (update, at) in counted.items():
        whole[dim] = update
        if not any(at in each for each in others):
            uniform.add(dim)
    return Write(op, rows, whole, frozenset(uniform))


def _components(indices: ir.Value, vector: int) -> list[ir.Value] | None:
    """The values of each component of index vectors along dimension `vector`."""
    shape = _shape(indices)
    if vector == len(shape) or shape[vector] == 1:
        return [indices]
    op = producer(indices)
    if op is None or op.name != "stablehlo.concatenate":
        return None
    is_along = ir.IntegerAttr(op.attributes["dimension"]).value == vector
    found = [_components(each, vector) for each in op.operands]
    if not is_along or any(each is None for each in found):
        return None
    return list(chain.from_iterable(each for each in found if each is not None))


def _index_dims(rank: int, window: Sequence[int], vector: int) -> dict[int, int]:
    """The dimension of the indices of each dimension of updates that is no window's."""
    free = [dim for dim in range(rank) if dim not in window]
    return {dim: i if i < vector else i + 1 for i, dim in enumerate(free)}


def _scattered(write: Write, cache: ir.Value, rows: ir.Value, dropped: Sequence[int]) -> ir.Value:
    op = write.op
    numbers = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    window = list(numbers.update_window_dims)
    of_index = _index_dims(len(write.row_shape), window, numbers.index_vector_dim)
    updates = [write.whole[dim] for dim in dropped]
    indices = _first(op.operands[1], [of_index[each] for each in updates if each in of_index])
    new = ir.Operation.create(
        op.name,
        results=[cache.type],
        operands=[cache, indices, rows],
        attributes={name: op.attributes[name] for name in op.attributes},
        regions=1,
    )
    element = with_shape(cache, [])
    location = ir.Location.current
    body = new.regions[0].blocks.append(element, element, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        ir.Operation.create("stablehlo.return", operands=[body.arguments[1]])
    return new.results[0]


def _first(value: ir.Value, dims: Sequence[int]) -> ir.Value:
    """The first of `value` along `dims`."""
    shape = _shape(value)
    limits = [1 if dim in dims else size for dim, size in enumerate(shape)]
    if limits == shape:
        return value
    bounds = {
        "start_indices": ir.DenseI64ArrayAttr.get([0] * len(shape)),
        "limit_indices": ir.DenseI64ArrayAttr.get(limits),
        "strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
    }
    return build("slice", with_shape(value, limits), [value], bounds)
