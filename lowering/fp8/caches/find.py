"""What becomes of a cache in a function: where it is written, carried, read and given back."""

from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import terminator
from mlir_fp8.lowering.fp8.caches.writes import Write, write_of
from mlir_fp8.lowering.fp8.scaling.contractions import batching_dims
from mlir_fp8.lowering.fp8.scaling.origins import Dims, source_dims
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.moves import moved_result
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

TOKEN, HEAD = "token", "head"
SCALES = (TOKEN, HEAD)
"""What has a scale of its own: each head and token, or each head, whose scale the caller gives."""

_WIDE = ("f32", "bf16", "f16")
_DOTS = ("stablehlo.dot_general", "stablehlo.dot")
_LEAST_RANK = 2


def check_scales(name: str) -> None:
    """Refuse what is no layout of a cache's scales."""
    if name not in SCALES:
        raise Fp8Error(f"'{name}' is no layout of a cache's scales: it is {' or '.join(SCALES)}")


def is_dot(op: ir.Operation) -> bool:
    """Whether `op` is a dot of static shapes."""
    return op.name in _DOTS and all(map(has_static_shape, (*op.operands, *op.results)))


@dataclass
class Cache:
    """An argument that is a cache; `product_dims` are those of it that dots sum or give one by one.

    `batch_dims` are those that they repeat over: heads. `results` are the numbers of those of the
    function that it is given back as.
    """

    name: str
    value: ir.Value
    function: ir.Operation
    writes: list[Write] = field(default_factory=list)
    product_dims: set[int] = field(default_factory=set)
    results: list[int] = field(default_factory=list)
    _loops: dict[ir.Operation, int] = field(default_factory=dict)
    _dots: list[ir.Operation] = field(default_factory=list)
    _kept: set[ir.Value] = field(default_factory=set)

    @property
    def shape(self) -> list[int]:
        return list(ir.RankedTensorType(self.value.type).shape)

    def refuse(self, op: ir.Operation, reason: str) -> Fp8Error:
        """An error about `op`, which stands in the way of this cache."""
        return op_error(op, f"{reason}, or leave '{self.name}' out of cache")

    def follow(self, value: ir.Value) -> None:
        """Collect what becomes of `value`, which is the cache at some time."""
        for use in list(value.uses):
            op, number = use.owner.operation, use.operand_number
            write = write_of(op, number)
            if write is not None:
                self.writes.append(write)
                self.follow(op.results[0])
            elif op.name == "func.return":
                self.results.append(number)
            elif op.name == "stablehlo.while":
                self._carry(op, number)
            elif op.name == "stablehlo.return":
                self._yield(op, number)
            else:
                rank = len(self.shape)
                self._read(op, number, tuple(frozenset({dim}) for dim in range(rank)))

    def _carry(self, loop: ir.Operation, number: int) -> None:
        if loop in self._loops:
            raise self.refuse(loop, f"carries cache '{self.name}' twice: carry it once")
        self._loops[loop] = number
        condition, body = (region.blocks[0] for region in loop.regions)
        if next(iter(condition.arguments[number].uses), None) is not None:
            raise self.refuse(
                loop, f"has a condition that reads cache '{self.name}': read it after"
            )
        self.follow(body.arguments[number])
        if terminator(body).operands[number] not in self._kept:
            raise self.refuse(loop, f"carries something else in the place of cache '{self.name}'")
        self.follow(loop.results[number])

    def _yield(self, end: ir.Operation, number: int) -> None:
        holder = end.block.owner.operation
        if self._loops.get(holder) != number:
            reason = f"gives cache '{self.name}' out of its region: write it outside"
            raise self.refuse(holder, reason)
        self._kept.add(end.operands[number])

    def _read(self, op: ir.Operation, number: int, dims: tuple[Dims, ...]) -> None:
        """`dims` are those of the cache that each dimension of operand `number` runs over."""
        operand = op.operands[number]
        sizes = ir.RankedTensorType(operand.type).shape
        own = [d if size > 1 else frozenset() for d, size in zip(dims, sizes, strict=True)]
        if is_dot(op):
            if op in self._dots:
                raise self.refuse(op, f"multiplies cache '{self.name}' by itself: copy one of both")
            self._dots.append(op)
            batch = batching_dims(op, number)
            for dim, of in enumerate(own):
                if dim not in batch:
                    self.product_dims |= of
            return
        result = None if op.name == "stablehlo.gather" else moved_result(op, number)
        if result is None:
            raise self.refuse(op, f"reads cache '{self.name}', and is no dot: read it by dots")
        rank = ir.RankedTensorType(result.type).rank
        sources = [source_dims(op, frozenset({dim})) for dim in range(rank)]
        moved = tuple(frozenset().union(*(own[d] for d in each)) for each in sources)
        for use in result.uses:
            user = use.owner.operation
            if user.name == "func.return":
                reason = f"makes cache '{self.name}' {result.type} for a result: give it as it is"
                raise self.refuse(op, reason)
            self._read(user, use.operand_number, moved)


def find_cache(function: ir.Operation, name: str, value: ir.Value) -> Cache:
    """What becomes of argument `value`, called `name`; `Fp8Error` for what cannot be in f8."""
    if str(element_type(value)) not in _WIDE or not has_static_shape(value):
        reason = f"is {value.type}, not of f32, bf16 or f16 and of a static shape"
        raise op_error(function, f"cache '{name}' {reason}: leave it out of cache")
    cache = Cache(name, value, function)
    if len(cache.shape) < _LEAST_RANK:
        raise op_error(function, f"cache '{name}' is {value.type}: leave it out of cache")
    cache.follow(value)
    if len(cache.results) != 1:
        count = len(cache.results)
        way_out = "give it back once, after its rows are written"
        raise op_error(function, f"cache '{name}' is {count} of the results: {way_out}")
    return cache


def blocks_of(cache: Cache, per: str) -> Blocks:
    """The blocks of its scale: 0 along what shares one, 1 along heads, layers and tokens.

    A row has a scale: it runs along what dots sum or give one by one, where writes cover it whole.
    Where no dot says so, or writes cover all, it is the last dimension.
    """
    rank = len(cache.shape)
    partial = {dim for dim in range(rank) for each in cache.writes if dim not in each.whole}
    row = cache.product_dims - partial
    if not row or row == cache.product_dims:
        row = {rank - 1}
    shared = row if per == TOKEN else row | cache.product_dims
    return tuple(0 if dim in shared else 1 for dim in range(rank))
