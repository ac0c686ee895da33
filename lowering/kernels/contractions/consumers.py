"""The consumers of a product that fuse as its epilogue, on blocks of results that are in cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.buffer_uses import (
    BlockOrder,
    are_distinct,
    is_private,
    root_buffer,
)
from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.contractions.following import Following, following
from mlir_fp8.lowering.kernels.contractions.moved import moved_before
from mlir_fp8.lowering.kernels.contractions.same_elements import SameElements, same_elements
from mlir_fp8.lowering.kernels.vector_code.epilogue import Epilogue
from mlir_fp8.lowering.kernels.vector_code.expression import Leaf

Products = Mapping[ir.Operation, Contraction]


def epilogue_of(
    op: ir.Operation, product: Contraction, order: BlockOrder, products: Products
) -> Epilogue | None:
    """The epilogue of ops after `op`, which is `product`; None where nothing fuses.

    `products` are all ops that become kernels: producers that fuse with these are left to them.
    """
    strides = product.out.strides
    inner = product.n if strides[product.n] in (0, 1) else product.m
    if strides[inner] not in (0, 1):
        return None
    loops = (*product.outer, product.m, product.n)
    sizes = [size if d in loops else 1 for d, size in enumerate(product.sizes)]
    return _Finder(op, product, order, products, inner, sizes).epilogue()


@dataclass(frozen=True)
class _Step:
    """An op of the epilogue, in the product's iteration space."""

    op: ir.Operation
    sources: dict[ir.Value, Leaf | ir.Value]
    outs: list[tuple[ir.Value, Leaf]]
    largest: ir.Value | None
    scalars: list[ir.Value]
    moved: list[ir.Operation]


@dataclass
class _Finder:
    op: ir.Operation
    product: Contraction
    order: BlockOrder
    products: Products
    inner: int
    """The dimension along which results are contiguous."""
    sizes: list[int]
    """Sizes of the product's parallel dimensions."""
    steps: list[_Step] = field(default_factory=list)
    known: dict[ir.Value, tuple[Leaf, Leaf | ir.Value]] = field(default_factory=dict)
    """By buffer: the layout of its elements, and their values."""

    def epilogue(self) -> Epilogue | None:
        out = self.product.out
        self.known[root_buffer(out.buffer)] = out, out
        absorbed = {op for each in self.products.values() for op in _absorbed(each)}
        for op in self._readers():
            step = None if op in absorbed else self._step(op)
            if step is not None:
                self.steps.append(step)
                self.known.update({root_buffer(leaf.buffer): (leaf, v) for v, leaf in step.outs})
                continue
            for buffer in [each for each in self.known if self.order.writes(op, each)]:
                del self.known[buffer]
        return self._made() if self.steps else None

    def _readers(self) -> Iterator[ir.Operation]:
        """The ops of the block, in order, that access a buffer known by then."""
        last = self.op
        while True:
            found = [self.order.users_between(buffer, last) or [] for buffer in self.known]
            ops = [each[0] for each in found if each]
            if not ops:
                return
            last = next(op for op in ops if not any(self.order.comes_before(o, op) for o in ops))
            yield last

    def _step(self, op: ir.Operation) -> _Step | None:
        each = following(op)
        same = None if each is None else self._same_elements(each)
        if each is None or same is None:
            return None
        sources: dict[ir.Value, Leaf | ir.Value] = {}
        moved: dict[ir.Operation, None] = {}
        wanted = list(each.captured)
        for argument, source in each.inputs.items():
            read = self._source(op, same, source) if isinstance(source, Leaf) else source
            if read is None:
                return None
            sources[argument] = read
            if isinstance(source, Leaf):
                wanted += [read.buffer] if isinstance(read, Leaf) else []
            else:
                wanted.append(source)
        outs = []
        for value, leaf in each.outs:
            target = self._target(op, same, leaf)
            if target is None:
                return None
            outs.append((value, target))
            wanted.append(target.buffer)
        read = [x for x in sources.values() if isinstance(x, Leaf)]
        if not self._are_apart(read, [leaf for _, leaf in outs]):
            return None
        for value in wanted:
            before = moved_before(value, self.op, self.order)
            if before is None:
                return None
            moved.update(dict.fromkeys(before))
        scalars = [value for value in wanted if _is_computed(value)]
        return _Step(op, sources, outs, each.largest, scalars, list(moved))

    def _same_elements(self, each: Following) -> SameElements | None:
        for source in each.inputs.values():
            if isinstance(source, Leaf) and root_buffer(source.buffer) in self.known:
                leaf, _ = self.known[root_buffer(source.buffer)]
                return same_elements(leaf, self.sizes, source, each.sizes)
        return None

    def _source(self, op: ir.Operation, same: SameElements, leaf: Leaf) -> Leaf | ir.Value | None:
        """The epilogue's source for `leaf`, which `op` reads; None where it is unavailable."""
        found = self._contiguous(same.leaf(leaf))
        known = self.known.get(root_buffer(leaf.buffer))
        if found is None:
            return None
        if known is not None:
            return known[1] if self._is_at(found, known[0]) else None
        return found if self.order.is_unchanged(leaf.buffer, self.op, op) else None

    def _target(self, op: ir.Operation, same: SameElements, leaf: Leaf) -> Leaf | None:
        """Where `op` writes `leaf`, if the store may be hoisted to the product."""
        found = self._contiguous(same.leaf(leaf))
        if found is None or any(
            size > 1 and not stride for size, stride in zip(self.sizes, found.strides, strict=True)
        ):
            return None
        between = self.order.users_between(leaf.buffer, self.op, op)
        own = {step.op for step in self.steps}
        if between is None or any(each not in own for each in between):
            return None
        for other, product in self.products.items():
            is_read = other == self.op or self.order.is_between(other, self.op, op)
            leaves = [*product.left.leaves, *product.right.leaves]
            if is_read and not all(are_distinct(found.buffer, each.buffer) for each in leaves):
                return None
        for target in self._targets():
            if root_buffer(found.buffer) == root_buffer(target.buffer):
                return target if self._is_at(found, target) else None
            if not are_distinct(found.buffer, target.buffer):
                return None
        return found

    def _targets(self) -> list[Leaf]:
        return [self.product.out, *(leaf for step in self.steps for _, leaf in step.outs)]

    def _are_apart(self, read: list[Leaf], outs: list[Leaf]) -> bool:
        """Whether no buffer that is read, then or before, aliases one that is written."""
        out = self.product.out
        before = [x for step in self.steps for x in step.sources.values() if isinstance(x, Leaf)]
        return all(
            are_distinct(leaf.buffer, target.buffer)
            for leaf in [*read, *before]
            for target in [*self._targets(), *outs]
            if leaf != out
        )

    def _contiguous(self, leaf: Leaf | None) -> Leaf | None:
        """`leaf` if it is contiguous along the inner dimension, or a broadcast."""
        return leaf if leaf is not None and leaf.strides[self.inner] in (0, 1) else None

    def _is_at(self, leaf: Leaf, other: Leaf) -> bool:
        return leaf.offset == other.offset and all(
            size == 1 or a == b
            for size, a, b in zip(self.sizes, leaf.strides, other.strides, strict=True)
        )

    def _made(self) -> Epilogue:
        own = {self.op, self.product.fill, *(step.op for step in self.steps)}
        out = self.product.out
        stores = {leaf: value for step in self.steps for value, leaf in step.outs}
        keeps_result = not is_private(out.buffer, own)
        return Epilogue(
            result=out,
            inner=self.inner,
            ops=tuple(step.op for step in self.steps),
            sources={key: value for step in self.steps for key, value in step.sources.items()},
            stores=tuple(
                (value, leaf)
                for leaf, value in stores.items()
                if (keeps_result if leaf == out else not is_private(leaf.buffer, own))
            ),
            maxima=tuple((s.largest, s.op) for s in self.steps if s.largest is not None),
            scalars=tuple(dict.fromkeys(x for step in self.steps for x in step.scalars)),
            keeps_result=keeps_result,
            moved=tuple(dict.fromkeys(op for step in self.steps for op in step.moved)),
        )


def _absorbed(product: Contraction) -> Iterator[ir.Operation]:
    """The product, and the producers that it fuses."""
    for side in (product.left, product.right):
        for argument in side.sources:
            if isinstance(argument.owner, ir.Block):
                yield argument.owner.owner.operation


def _is_computed(value: ir.Value) -> bool:
    """Whether `value` is a scalar other than a constant."""
    if isinstance(value.type, ir.MemRefType):
        return False
    return isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant"
