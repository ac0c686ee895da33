"""`stablehlo.scatter` to loops over the updates, which the linalg legalization has no pattern for."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.context import op_error
from mlir_fp8.lowering import ModulePass

_INT64_MAX = (1 << 63) - 1


class StablehloScatterToScf(ModulePass):
    """Replace every `stablehlo.scatter` by an `scf.for` nest that carries the results.

    The updates are applied in the lexicographic order of their index, one of the orders the
    StableHLO specification leaves open. An update whose result index is out of bounds is skipped.
    The update computation stays as rank-0 tensor ops. After bufferization the loops write in place.
    """

    def run(self, module: ir.Operation) -> None:
        scatters: list[ir.Operation] = []

        def collect(op: ir.Operation) -> ir.WalkResult:
            if op.name == "stablehlo.scatter":
                scatters.append(op.operation)
            return ir.WalkResult.ADVANCE

        module.walk(collect)
        for op in scatters:
            _check_types(op)
        for op in scatters:
            with op.location, ir.InsertionPoint(op):
                results = _lower(op)
            for old, new in zip(op.results, results, strict=True):
                old.replace_all_uses_with(new)
            op.erase()


def _check_types(op: ir.Operation) -> None:
    for value in (*op.operands, *op.results):
        if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
            raise op_error(
                op,
                f"has a value of dynamic shape, {value.type}, and only static shapes compile:"
                " specialize the shapes first (stablehlo-refine-shapes)",
            )
        if not isinstance(value.type.element_type, ir.IntegerType | ir.FloatType | ir.ComplexType):
            raise op_error(
                op,
                f"works on {value.type}, whose elements are not plain numbers:"
                " lower quantized types first (stablehlo-legalize-quant-to-math)",
            )


def _lower(op: ir.Operation) -> list[ir.Value]:
    operands = list(op.operands)
    count = len(op.results)
    body = op.regions[0].blocks[0]
    # The update computation may be wider than the inputs; its types are those of the results.
    converted = [
        _convert(value, argument.type.element_type)
        for value, argument in zip(
            operands[:count] + operands[count + 1 :], body.arguments, strict=True
        )
    ]
    inputs, updates = converted[:count], converted[count:]
    if 0 in inputs[0].type.shape or 0 in updates[0].type.shape:
        return inputs
    nest = _Nest(
        numbers=_stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"]),
        indices=_signed_indices(operands[count]),
        updates=updates,
        body=body,
        shape=inputs[0].type.shape,
    )
    return nest.emit(inputs)


def _convert(value: ir.Value, element: ir.Type) -> ir.Value:
    if value.type.element_type == element:
        return value
    result = ir.RankedTensorType.get(value.type.shape, element)
    return ir.Operation.create("stablehlo.convert", results=[result], operands=[value]).result


def _signed_indices(indices: ir.Value) -> ir.Value:
    """`indices` in a type that sign-extends to 64 bits; ui64 saturates, out of bounds either way."""
    element = indices.type.element_type
    if not element.is_unsigned:
        return indices
    if element.width == 64:
        largest = ir.IntegerAttr.get(element, _INT64_MAX)
        limit = ir.Operation.create(
            "stablehlo.constant",
            results=[indices.type],
            attributes={"value": ir.DenseElementsAttr.get_splat(indices.type, largest)},
        )
        indices = ir.Operation.create(
            "stablehlo.minimum", results=[indices.type], operands=[indices, limit.result]
        ).result
    return _convert(indices, ir.IntegerType.get_signless(64))


@dataclass
class _Nest:
    """The loops over the update index space; each check sits as far out as its operands allow."""

    numbers: _stablehlo.ScatterDimensionNumbers
    indices: ir.Value
    updates: Sequence[ir.Value]
    body: ir.Block
    shape: Sequence[int]
    update_index: list[ir.Value] = field(default_factory=list)
    starts: dict[int, ir.Value] = field(default_factory=dict)
    result_index: dict[int, ir.Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = self.numbers
        self.sizes: Sequence[int] = self.updates[0].type.shape
        ranks = range(len(self.sizes))
        self.scatter_dims = [dim for dim in ranks if dim not in numbers.update_window_dims]
        absent = (*numbers.inserted_window_dims, *numbers.input_batching_dims)
        window_dims = [dim for dim in range(len(self.shape)) if dim not in absent]
        # The update dim that gives the offset along an input dim, for window and batching dims.
        self.offset_dims = dict(zip(window_dims, numbers.update_window_dims, strict=True))
        for dim, indices_dim in zip(
            numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True
        ):
            skipped = indices_dim > numbers.index_vector_dim
            self.offset_dims[dim] = self.scatter_dims[indices_dim - skipped]
        components = range(len(numbers.scattered_dims_to_operand_dims))
        self.constants = {
            value: arith.constant(ir.IndexType.get(), value)
            for value in sorted({0, 1, *self.shape, *self.sizes, *components})
        }

    def emit(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit what is left to do inside the loops entered so far; `tensors` go in and out."""
        in_bounds = self._new_checks()
        if in_bounds is None:
            return self._loop(tensors)
        branch = scf.IfOp(in_bounds, [value.type for value in tensors], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp(self._loop(tensors))
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp(tensors)
        return list(branch.results)

    def _loop(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        depth = len(self.update_index)
        if depth == len(self.sizes):
            return self._update(tensors)
        constant = self.constants
        loop = scf.ForOp(constant[0], constant[self.sizes[depth]], constant[1], tensors)
        self.update_index.append(loop.induction_variable)
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(self.emit(loop.inner_iter_args))
        return list(loop.results)

    def _new_checks(self) -> ir.Value | None:
        """Extend `result_index` by the dims now known: start plus offset, per dim."""
        depth = len(self.update_index)
        if depth <= max(self.scatter_dims, default=-1):
            return None
        if not self.starts:
            self._load_starts()
        conjunction = None
        for dim, size in enumerate(self.shape):
            offset_dim = self.offset_dims.get(dim)
            if dim in self.result_index or (offset_dim is not None and offset_dim >= depth):
                continue
            offset = self.constants[0] if offset_dim is None else self.update_index[offset_dim]
            if dim not in self.starts:
                # In bounds by the verifier's constraints on the window and the batching dims.
                self.result_index[dim] = offset
                continue
            # The sum may wrap, but only to a negative number, which is no unsigned index.
            index = arith.addi(self.starts[dim], offset)
            check = arith.cmpi(arith.CmpIPredicate.ult, index, self.constants[size])
            conjunction = check if conjunction is None else arith.andi(conjunction, check)
            self.result_index[dim] = index
        return conjunction

    def _load_starts(self) -> None:
        position = [self.update_index[dim] for dim in self.scatter_dims]
        for component, dim in enumerate(self.numbers.scattered_dims_to_operand_dims):
            place = list(position)
            if self.numbers.index_vector_dim < len(self.indices.type.shape):
                place.insert(self.numbers.index_vector_dim, self.constants[component])
            start = tensor.extract(self.indices, place)
            self.starts[dim] = arith.index_cast(ir.IndexType.get(), start)

    def _update(self, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        """Move the update computation here, between reads and writes of one element."""
        place = [self.result_index[dim] for dim in range(len(self.shape))]
        elements = [tensor.extract(value, place) for value in tensors]
        elements += [tensor.extract(value, self.update_index) for value in self.updates]
        for argument, element in zip(self.body.arguments, elements, strict=True):
            argument.replace_all_uses_with(tensor.from_elements(argument.type, [element]))
        *computation, terminator = (op.operation for op in self.body.operations)
        for op in computation:
            ir.InsertionPoint.current.block.append(op)
        return [
            tensor.insert(tensor.extract(value, []), carried, place)
            for value, carried in zip(terminator.operands, tensors, strict=True)
        ]
