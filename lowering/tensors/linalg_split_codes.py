"""`linalg-split-codes`: what products read that is f8 or bf16 is such in memory, too."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import clone_op, operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import yield_op

_CODES = ("i8", "i16", "bf16")


@dataclass(frozen=True)
class LinalgSplitCodes(ModulePass):
    """Split elementwise ops that compute codes of 8 or 16 bits, and decode them for a reduction.

    They are a tensor of their own then, of fewer bytes than the numbers and than what they are
    computed of, and kernels multiply them as what they are.
    """

    def run(self, module: ir.Operation) -> None:
        for op in list(operations(module, "linalg.generic")):
            if _is_elementwise(op) and _is_reduced(op.results[0]):
                code = _code(op)
                if code is not None:
                    _split(op, code)


def _iterators(op: ir.Operation) -> list[bool]:
    """Of each loop whether it is a reduction."""
    return ["reduction" in str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]


def _is_elementwise(op: ir.Operation) -> bool:
    """Whether it has one tensor of f32 as its result, of which it reads nothing before."""
    if len(op.results) != 1 or any(_iterators(op)):
        return False
    old = list(op.regions[0].blocks[0].arguments)[-1]
    return isinstance(old.type, ir.F32Type) and not list(old.uses)


def _is_reduced(value: ir.Value) -> bool:
    users = [use.owner.operation for use in value.uses]
    return bool(users) and all(
        user.name == "linalg.generic" and any(_iterators(user)) for user in users
    )


def _code(op: ir.Operation) -> ir.Value | None:
    """The code that the body computes, of which alone its result is a function."""
    yielded = list(op.regions[0].blocks[0].operations)[-1].operation.operands[0]
    found: set[ir.Value] = set()

    def visit(value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return False
        if str(value.type) in _CODES and value.owner.operation.name != "arith.constant":
            found.add(value)
            return len(found) == 1
        return all(map(visit, value.owner.operation.operands))

    code = next(iter(found), None) if visit(yielded) else None
    return code if code is not None and _narrows(code) else None


def _narrows(code: ir.Value) -> bool:
    """Whether it is computed of what has more bits: else reading that again costs less."""
    block = ir.OpResult(code).owner.operation.block
    read = [each for each in block.arguments if _reads(code, each)]
    return any(_bits(each) > _bits(code) for each in read)


def _reads(value: ir.Value, argument: ir.Value) -> bool:
    return any(argument in list(op.operands) for op in _slice(value, {}))


def _bits(value: ir.Value) -> int:
    type_ = value.type
    return type_.width if isinstance(type_, ir.IntegerType | ir.FloatType) else 64


def _split(op: ir.Operation, code: ir.Value) -> None:
    """One op for the codes, and another one for the numbers that they are."""
    number = len(op.operands) - 1
    type_ = ir.RankedTensorType(op.results[0].type)
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    with ir.InsertionPoint(op), op.location:
        codes_type = ir.RankedTensorType.get(type_.shape, code.type)
        empty = ir.Operation.create("tensor.empty", [codes_type], list(_sizes(op)))
        inputs = [*op.operands][:number]
        codes = _generic(op, [*inputs, empty.results[0]], maps)
        _fill(codes, op, code)
        numbers = _generic(op, [codes.results[0], op.operands[number]], [maps[-1]] * 2)
        _fill(numbers, op, None, code)
    op.results[0].replace_all_uses_with(numbers.results[0])
    op.erase()


def _sizes(op: ir.Operation) -> list[ir.Value]:
    """The operands of the op that made the init, which are its sizes that are not known."""
    init = op.operands[len(op.operands) - 1]
    return [] if isinstance(init.owner, ir.Block) else list(init.owner.operation.operands)


def _generic(op: ir.Operation, operands: list[ir.Value], maps: list[ir.Attribute]) -> ir.Operation:
    """An op of the loops of `op`, without a body yet."""
    attributes = {
        "indexing_maps": ir.ArrayAttr.get(maps),
        "iterator_types": op.attributes["iterator_types"],
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands) - 1, 1]),
    }
    made = ir.Operation.create(
        "linalg.generic", [operands[-1].type], operands, attributes=attributes, regions=1
    )
    elements = [
        each.type.element_type if isinstance(each.type, ir.ShapedType) else each.type
        for each in operands
    ]
    ir.Block.create_at_start(made.regions[0], elements, [op.location] * len(elements))
    return made


def _fill(
    made: ir.Operation, op: ir.Operation, last: ir.Value | None, first: ir.Value | None = None
) -> None:
    """The body of `op` from its arguments to `last`, or from `first` to what it yields."""
    old, new = op.regions[0].blocks[0], made.regions[0].blocks[0]
    *body, end = [each.operation for each in old.operations]
    last = end.operands[0] if last is None else last
    mapping: dict[ir.Value, ir.Value] = {}
    if first is None:
        pairs = zip(list(old.arguments)[:-1], list(new.arguments)[:-1], strict=True)
        mapping = dict(pairs)
    else:
        mapping[first] = new.arguments[0]
    needed = _slice(last, mapping)
    with ir.InsertionPoint(new):
        for each in body:
            if each in needed:
                clone_op(each, mapping)
        yield_op([mapping[last]])


def _slice(last: ir.Value, known: dict[ir.Value, ir.Value]) -> list[ir.Operation]:
    """The ops that `last` is computed by from what is known."""
    found: dict[ir.Operation, None] = {}
    waiting = [last]
    while waiting:
        value = waiting.pop()
        if value in known or isinstance(value.owner, ir.Block):
            continue
        op = value.owner.operation
        if op not in found:
            found[op] = None
            waiting += op.operands
    return list(found)
