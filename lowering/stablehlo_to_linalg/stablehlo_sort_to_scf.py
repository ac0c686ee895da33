"""`stablehlo.sort` to loops; `stablehlo-legalize-to-linalg` has no pattern for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, tensor

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.stablehlo_to_linalg._indexed_loops import replace_all
from mlir_fp8.lowering.stablehlo_to_linalg._windows import index


@dataclass(frozen=True)
class StablehloSortToScf(ModulePass):
    """Replace every `stablehlo.sort` by a bottom-up merge sort in loops: stable, O(n log n).

    Each line along the dimension moves to one half of a scratch of two lines per operand. Runs of
    1, 2, 4, ... elements are merged from one half to the other, and the line moves back. From the
    right run is taken what the comparator puts before the element of the left one, so that equal
    elements stay in order. A comparator that is no strict weak order gives some permutation.
    """

    def run(self, module: ir.Operation) -> None:
        replace_all(operations(module, "stablehlo.sort", inner_first=True), _lower)


def _dimension(op: ir.Operation, rank: int) -> int:
    """Counted from the end where it is negative; left out, it is the last."""
    if "dimension" not in op.attributes:
        return rank - 1
    return ir.IntegerAttr(op.attributes["dimension"]).value % rank


def _lower(op: ir.Operation) -> list[ir.Value]:
    operands = list(op.operands)
    shape = list(operands[0].type.shape)
    dimension = _dimension(op, len(shape))
    size = shape[dimension]
    if size < 2 or 0 in shape:
        return operands
    lines = _Lines(size, op.regions[0].blocks[0])
    scratches = [tensor.empty([2, size], value.type.element_type) for value in operands]
    del shape[dimension]
    sizes = [index(each) for each in shape]

    def nest(position: list[ir.Value], carried: list[ir.Value]) -> list[ir.Value]:
        if len(position) == len(sizes):
            place = (position[:dimension], position[dimension:])
            return lines.sort(place, carried[: len(operands)], carried[len(operands) :])
        return lines.loop(
            sizes[len(position)], carried, lambda i, inner: nest([*position, i], inner)
        )

    return nest([], [*operands, *scratches])[: len(operands)]


class _Lines:
    """Emits what is done to one line of `size` elements (at least 2) of each operand."""

    def __init__(self, size: int, comparator: ir.Block) -> None:
        self._comparator = comparator
        self._passes = (size - 1).bit_length()
        self._zero, self._one, self._size = index(0), index(1), index(size)
        self._pass_count = index(self._passes)
        self._true = arith.constant(ir.IntegerType.get_signless(1), 1)

    def loop(
        self,
        stop: ir.Value,
        carried: Sequence[ir.Value],
        body: Callable[[ir.Value, list[ir.Value]], Sequence[ir.Value]],
        *,
        start: ir.Value | None = None,
        step: ir.Value | None = None,
    ) -> list[ir.Value]:
        """The results of an `scf.for`; `body` gives the values to yield from its iteration."""
        loop = scf.ForOp(start or self._zero, stop, step or self._one, list(carried))
        with ir.InsertionPoint(loop.body):
            scf.YieldOp(body(loop.induction_variable, list(loop.inner_iter_args)))
        return list(loop.results)

    def sort(
        self,
        place: tuple[list[ir.Value], list[ir.Value]],
        tensors: list[ir.Value],
        scratches: list[ir.Value],
    ) -> list[ir.Value]:
        """The tensors with the line at `place` sorted, then the scratches."""
        before, after = place
        final = index(self._passes % 2)
        unsorted = self.loop(
            self._size,
            scratches,
            lambda i, inner: [
                tensor.insert(tensor.extract(source, [*before, i, *after]), target, [self._zero, i])
                for source, target in zip(tensors, inner, strict=True)
            ],
        )
        ordered = self.loop(self._pass_count, unsorted, self._merge_runs)
        stored = self.loop(
            self._size,
            tensors,
            lambda i, inner: [
                tensor.insert(tensor.extract(source, [final, i]), target, [*before, i, *after])
                for source, target in zip(ordered, inner, strict=True)
            ],
        )
        return [*stored, *ordered]

    def _merge_runs(self, number: ir.Value, scratches: list[ir.Value]) -> list[ir.Value]:
        source = arith.andi(number, self._one)
        target = arith.xori(source, self._one)
        width = arith.shli(self._one, number)
        step = arith.shli(width, self._one)

        def merge(low: ir.Value, inner: list[ir.Value]) -> list[ir.Value]:
            middle = arith.minui(arith.addi(low, width), self._size)
            high = arith.minui(arith.addi(low, step), self._size)
            merged = self.loop(
                high,
                [*inner, low, middle],
                lambda at, carried: self._take(source, target, at, (middle, high), carried),
                start=low,
            )
            return merged[: len(inner)]

        return self.loop(self._size, scratches, merge, step=step)

    def _take(
        self,
        source: ir.Value,
        target: ir.Value,
        at: ir.Value,
        ends: tuple[ir.Value, ir.Value],
        carried: list[ir.Value],
    ) -> list[ir.Value]:
        """Move the next element to `at`; `carried` ends with the heads of the two runs."""
        *scratches, left, right = carried
        has_left, has_right = (
            arith.cmpi(arith.CmpIPredicate.ult, head, end)
            for head, end in zip((left, right), ends, strict=True)
        )
        branch = scf.IfOp(arith.andi(has_left, has_right), [has_left.type], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([self._is_before(source, scratches, right, left)])
        with ir.InsertionPoint(branch.elseRegion.blocks[0]):
            scf.YieldOp([arith.xori(has_left, self._true)])
        takes_right = branch.results[0]
        taken = arith.select(takes_right, right, left)
        moved = [
            tensor.insert(tensor.extract(scratch, [source, taken]), scratch, [target, at])
            for scratch in scratches
        ]
        return [
            *moved,
            arith.select(takes_right, left, arith.addi(left, self._one)),
            arith.select(takes_right, arith.addi(right, self._one), right),
        ]

    def _is_before(
        self, source: ir.Value, scratches: list[ir.Value], first: ir.Value, second: ir.Value
    ) -> ir.Value:
        """Move the comparator here: whether it puts the elements at `first` before `second`'s."""
        elements = [
            tensor.extract(scratch, [source, head])
            for scratch in scratches
            for head in (first, second)
        ]
        arguments = list(self._comparator.arguments)
        scalars = [
            tensor.from_elements(argument.type, [element])
            for argument, element in zip(arguments, elements, strict=True)
        ]
        for argument, scalar in zip(arguments, scalars, strict=True):
            argument.replace_all_uses_with(scalar)
        *computation, returned = [op.operation for op in self._comparator.operations]
        end = tensor.extract(returned.operands[0], [])
        for op in computation:
            op.move_before(end.owner)
        return end
