"""What gather and scatter share: loops over one tensor that index another through start indices.

Names: the *operand* is what is indexed; the loops run over the *window tensor*, that is the updates
of a scatter or the result of a gather. The place in the operand is, per dim, start + offset: the
start is read from the indices, the offset is the position along a window or a batching dim.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import replace_op
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    convert,
    element_type,
    has_static_shape,
    splat,
)

_INT64_MAX = (1 << 63) - 1


@dataclass(frozen=True)
class IndexedDims:
    """The dimension numbers of a gather or a scatter, under one set of names."""

    operand_shape: Sequence[int]
    window_shape: Sequence[int]
    window_dims: Sequence[int]
    removed_dims: Sequence[int]
    batching_dims: Sequence[int]
    indices_batching_dims: Sequence[int]
    mapped_dims: Sequence[int]
    index_vector_dim: int

    def batch_dims(self) -> list[int]:
        """The dims of the window tensor that select an index vector, in the indices' order."""
        return [dim for dim in range(len(self.window_shape)) if dim not in self.window_dims]

    def offset_dims(self) -> dict[int, int]:
        """From operand dims to the dims of the window tensor that give the offset along them."""
        absent = (*self.removed_dims, *self.batching_dims)
        kept = [dim for dim in range(len(self.operand_shape)) if dim not in absent]
        offsets = dict(zip(kept, self.window_dims, strict=True))
        batch_dims = self.batch_dims()
        for dim, indices_dim in zip(self.batching_dims, self.indices_batching_dims, strict=True):
            skipped = indices_dim > self.index_vector_dim
            offsets[dim] = batch_dims[indices_dim - skipped]
        return offsets


class IndexedLoops(ABC):
    """Emits the loops in row-major order; loads and checks of indices are hoisted as far as they
    can be."""

    def __init__(self, dims: IndexedDims, indices: ir.Value) -> None:
        self.dims = dims
        self.indices = indices
        self.position: list[ir.Value] = []
        self.place: dict[int, ir.Value] = {}
        self._constants: dict[int, ir.Value] = {}
        self._starts: dict[int, ir.Value] = {}
        self._batch_dims = dims.batch_dims()
        self._offset_dims = dims.offset_dims()
        components = range(len(dims.mapped_dims))
        for value in sorted({0, 1, *dims.operand_shape, *dims.window_shape, *components}):
            self.constant(value)

    @abstractmethod
    def adjust_start(self, dim: int, start: ir.Value) -> ir.Value:
        """The start along operand dim `dim`, from what the indices hold (index type)."""

    @abstractmethod
    def check_place(self, dim: int, place: ir.Value) -> ir.Value | None:
        """The condition (i1) under which `place` along `dim` may be used; None for always."""

    @abstractmethod
    def emit_element(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        """The innermost code, at `self.position` of the window tensor, `operand_place()`."""

    def operand_place(self) -> list[ir.Value]:
        """The index into the operand, complete inside the innermost loop."""
        return [self.place[dim] for dim in range(len(self.dims.operand_shape))]

    def constant(self, value: int) -> ir.Value:
        """An index constant; those made by the constructor dominate all of the loops."""
        if value not in self._constants:
            self._constants[value] = arith.constant(ir.IndexType.get(), value)
        return self._constants[value]

    def emit(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the remaining loops inside those entered so far; `tensors` are loop-carried."""
        condition = self._extend_place()
        if condition is None:
            return self._loop(tensors)
        if all(size == 1 for size in self.dims.window_shape[: len(self.position)]):
            return self._at_most_once(condition, tensors)
        branch = scf.IfOp(condition, [value.type for value in tensors], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp(self._loop(tensors))
        with ir.InsertionPoint(branch.elseRegion.blocks[0]):
            scf.YieldOp(tensors)
        return list(branch.results)

    def _at_most_once(self, condition: ir.Value, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        # Outside of loops (those of trip count one are folded) an `scf.if` makes bufferization copy
        # a read-only operand inside the branch, with a run-time ownership test. A loop takes the
        # copy instead.
        trips = arith.index_castui(ir.IndexType.get(), condition)
        loop = scf.ForOp(self.constant(0), trips, self.constant(1), tensors)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(self._loop(loop.inner_iter_args))
        return list(loop.results)

    def _loop(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        depth = len(self.position)
        if depth == len(self.dims.window_shape):
            return self.emit_element(tensors)
        size = self.constant(self.dims.window_shape[depth])
        loop = scf.ForOp(self.constant(0), size, self.constant(1), tensors)
        self.position.append(loop.induction_variable)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(self.emit(loop.inner_iter_args))
        return list(loop.results)

    def _extend_place(self) -> ir.Value | None:
        """Fill in the operand dims that the loops entered so far decide; their checks, if any."""
        depth = len(self.position)
        if depth <= max(self._batch_dims, default=-1):
            return None
        if not self._starts:
            self._load_starts()
        conjunction = None
        for dim in range(len(self.dims.operand_shape)):
            offset_dim = self._offset_dims.get(dim)
            if dim in self.place or (offset_dim is not None and offset_dim >= depth):
                continue
            place = self.constant(0) if offset_dim is None else self.position[offset_dim]
            if dim in self._starts:
                place = arith.addi(self._starts[dim], place)
            self.place[dim] = place
            check = self.check_place(dim, place)
            if check is not None:
                conjunction = check if conjunction is None else arith.andi(conjunction, check)
        return conjunction

    def _load_starts(self) -> None:
        for component, dim in enumerate(self.dims.mapped_dims):
            at = [self.position[batch_dim] for batch_dim in self._batch_dims]
            if self.dims.index_vector_dim < len(self.indices.type.shape):
                at.insert(self.dims.index_vector_dim, self.constant(component))
            start = arith.index_cast(ir.IndexType.get(), tensor.extract(self.indices, at))
            self._starts[dim] = self.adjust_start(dim, start)


def replace_all(
    ops: Sequence[ir.Operation], lower: Callable[[ir.Operation], Sequence[ir.Value]]
) -> None:
    """Put what `lower` gives for each of `ops`, built before it, into the place of its results.

    All of them are checked first: see `check_types`.
    """
    for op in ops:
        check_types(op)
    for op in ops:
        with op.location, ir.InsertionPoint(op):
            results = lower(op)
        replace_op(op, results)


def check_types(op: ir.Operation) -> None:
    """Raise for tensors of dynamic shape or without plain numbers in them."""
    for value in (*op.operands, *op.results):
        if not has_static_shape(value):
            raise op_error(
                op,
                f"has a value of dynamic shape, {value.type}, and only static shapes compile:"
                " specialize the shapes first (stablehlo-refine-shapes)",
            )
        if not isinstance(element_type(value), ir.IntegerType | ir.FloatType | ir.ComplexType):
            raise op_error(
                op,
                f"works on {value.type}, whose elements are not plain numbers:"
                " lower quantized types first (stablehlo-legalize-quant-to-math)",
            )


def signed_indices(indices: ir.Value) -> ir.Value:
    """`indices` in a type that sign-extends; ui64 saturates, which stays beyond any bound."""
    element = indices.type.element_type
    if not element.is_unsigned:
        return indices
    if element.width == 64:
        limit = splat(indices.type, _INT64_MAX)
        indices = build("minimum", indices.type, [indices, limit])
    return convert(indices, ir.IntegerType.get_signless(64))
