"""Reads and writes of each buffer in a block: which op may move past which."""

from collections.abc import Container, Iterator

from torch_mlir import ir

from mlir_fp8.base.operations import is_used, operations
from mlir_fp8.lowering.rewriting.layer_functions import is_layer
from mlir_fp8.lowering.rewriting.stablehlo import names

VIEWS = names("memref", "cast collapse_shape expand_shape reinterpret_cast subview")
_YIELDS = ("scf.yield", "scf.condition", "cf.br", "cf.cond_br")
_FRESH = ("memref.alloc", "memref.alloca", "memref.get_global")


def root_buffer(value: ir.Value) -> ir.Value:
    """The buffer that `value` is a view of, or itself."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in VIEWS:
        value = value.owner.operation.operands[0]
    return value


def _has_own_memory(root: ir.Value) -> bool:
    """Whether no other root aliases the memory: an allocation, or an argument of the entry or of a
    layer."""
    if not isinstance(root.owner, ir.Block):
        return root.owner.operation.name in _FRESH
    function = root.owner.owner.operation
    if function.name != "func.func":
        return False
    visibility = str(function.attributes.get("sym_visibility", ""))
    return visibility != '"private"' or is_layer(function)


def is_private(buffer: ir.Value, users: Container[ir.Operation]) -> bool:
    """Whether `buffer` views an allocation that only `users` access."""
    root = root_buffer(buffer)
    if isinstance(root.owner, ir.Block) or root.owner.operation.name != "memref.alloc":
        return False
    found = _users(root)
    return found is not None and all(op in users for op in found)


def written(op: ir.Operation) -> list[ir.Value] | None:
    """The buffers that `op` writes to; None where unknown."""
    if op.name in VIEWS:
        return []
    if op.name.startswith("linalg.") and not len(op.results):
        return list(op.operands)[_input_count(op) :]
    if op.name == "memref.copy":
        return [op.operands[1]]
    return None


def _input_count(op: ir.Operation) -> int:
    if "operandSegmentSizes" in op.attributes:
        return ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    return len(op.operands) - 1


def is_elementwise(op: ir.Operation) -> bool:
    """Whether `op` is a `linalg.generic` with parallel iterators only and one result."""
    if op.name != "linalg.generic":
        return False
    iterators = ir.ArrayAttr(op.attributes["iterator_types"])
    if any("parallel" not in str(each) for each in iterators):
        return False
    return list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1] == 1


def _users(root: ir.Value) -> set[ir.Operation] | None:
    """The ops that access the buffer `root`, views aside; None where it may have aliases."""
    if not _has_own_memory(root):
        return None
    found: set[ir.Operation] = set()
    waiting = [root]
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user.name in VIEWS:
                waiting += user.results
                continue
            if any(isinstance(each.type, ir.MemRefType) for each in user.results):
                return None
            if user.name in _YIELDS:
                return None
            found.add(user)
    return found


def are_distinct(left: ir.Value, right: ir.Value) -> bool:
    """Whether two views cannot alias."""
    left, right = root_buffer(left), root_buffer(right)
    if left == right:
        return False
    owned = [root for root in (left, right) if _has_own_memory(root)]
    return len(owned) == 2 or any(_users(root) is not None for root in owned)


class BlockOrder:
    """The ops of one block that access a buffer, in order."""

    def __init__(self, block: ir.Block) -> None:
        self._ops = [op.operation for op in block.operations]
        self._places = {op: place for place, op in enumerate(self._ops)}

    def _users_before(self, value: ir.Value, last: ir.Operation) -> list[ir.Operation] | None:
        """The ops before `last` that access the root of `value`; None where unknown."""
        users = _users(root_buffer(value))
        if users is None:
            return None
        places = {op: self._place(op) for op in users}
        end = self._places[last]
        before = [op for op, place in places.items() if place is not None and place < end]
        return sorted(before, key=lambda op: places[op] or 0)

    def _place(self, op: ir.Operation) -> int | None:
        """The position of `op`, or of its ancestor in the block."""
        while op not in self._places:
            if op.name == "func.func":
                return None
            op = op.block.owner.operation
        return self._places[op]

    def comes_before(self, first: ir.Operation, last: ir.Operation) -> bool:
        places = self._places
        return first in places and last in places and places[first] < places[last]

    def is_unchanged(self, value: ir.Value, first: ir.Operation, last: ir.Operation) -> bool:
        """Whether no op between the two writes to the root of `value`."""
        users = self._users_before(value, last)
        start, end = self._places[first], self._places[last]
        if users is not None:
            users = [op for op in users if (self._place(op) or 0) > start]
            return not any(self.writes(op, value) for op in users)
        between = [op for op, place in self._places.items() if start < place < end]
        return all(_writes_elsewhere(op, value) for op in between)

    def writes(self, op: ir.Operation, value: ir.Value) -> bool:
        targets = written(op)
        root = root_buffer(value)
        return targets is None or any(root_buffer(target) == root for target in targets)

    def last_writer(self, value: ir.Value, reader: ir.Operation) -> ir.Operation | None:
        """The last op of the block before `reader` that writes to the root of `value`.

        None where unknown.
        """
        users = self._users_before(value, reader) or []
        writers = [op for op in users if self.writes(op, value)]
        return writers[-1] if writers and writers[-1] in self._places else None

    def outer_writer(self, value: ir.Value, reader: ir.Operation) -> ir.Operation | None:
        """`last_writer` in the block of the allocation, where `reader` is in a loop or a branch.

        None where unknown, and where the loop or branch writes to it.
        """
        root = root_buffer(value)
        users = _users(root)
        if isinstance(root.owner, ir.Block) or users is None:
            return None
        around = BlockOrder(root.owner.operation.block)
        place = around._place(reader)
        if place is None or any(
            around._place(op) == place and around.writes(op, root) for op in users
        ):
            return None
        return around.last_writer(root, around._ops[place])

    def users_between(
        self, value: ir.Value, first: ir.Operation, last: ir.Operation | None = None
    ) -> list[ir.Operation] | None:
        """The ops of the block after `first` that access the root of `value`, up to `last`.

        They are in order; an op counts for its regions, too. None where unknown.
        """
        users = _users(root_buffer(value))
        if users is None:
            return None
        end = len(self._places) if last is None else self._places[last]
        start = self._places[first]
        places = {place for op in users if (place := self._place(op)) is not None}
        return [self._ops[place] for place in sorted(places) if start < place < end]

    def is_between(self, op: ir.Operation, first: ir.Operation, last: ir.Operation) -> bool:
        """Whether `op`, or its ancestor in the block, is between the two."""
        place = self._place(op)
        return place is not None and self._places[first] < place < self._places[last]

    def is_read_between(self, value: ir.Value, first: ir.Operation, last: ir.Operation) -> bool:
        users = self._users_before(value, last) or []
        return any((self._place(op) or 0) > self._places[first] for op in users)


def _writes_elsewhere(op: ir.Operation, value: ir.Value) -> bool:
    if op.name in _FRESH or op.name.startswith("arith."):
        return True
    targets = written(op)
    return targets is not None and all(are_distinct(target, value) for target in targets)


def erase_unused(module: ir.Operation) -> None:
    """Erase dead views and allocations, and what is only written for these."""
    while _erase_unused_views(module) + erase_unread(
        op.results[0] for op in operations(module, "memref.alloc")
    ):
        pass


def _erase_unused_views(module: ir.Operation) -> int:
    """Erase the dead views, of which each precedes the views of it; gives how many."""
    count = 0
    for op in reversed(list(operations(module))):
        if op.name in VIEWS and not is_used(op.results[0]):
            op.erase()
            count += 1
    return count


def ordered_generics(module: ir.Operation) -> Iterator[tuple[ir.Operation, BlockOrder]]:
    """Every `linalg.generic`, with the current order of its block."""
    orders: dict[ir.Block, BlockOrder] = {}
    for op in operations(module, "linalg.generic"):
        order = orders.get(op.block)
        if order is None:
            order = orders[op.block] = BlockOrder(op.block)
        yield op, order


def erase_unread(allocations: Iterator[ir.Value]) -> int:
    """Erase dead allocations, which elementwise ops only write to, and these; gives how many."""
    count = 0
    for buffer in list(allocations):  # a list: erased ops must not be visited
        users = [use.owner.operation for use in buffer.uses]
        unread = all(
            is_elementwise(user)
            and list(user.operands).count(buffer) == 1
            and user.operands[len(user.operands) - 1] == buffer
            for user in users
        )
        if unread:
            for user in users:
                user.erase()
            ir.OpResult(buffer).owner.operation.erase()
            count += 1
    return count
