"""Ops that torch-mlir has no lowering for, as functions whose bodies are StableHLO of our own.

The importer makes a call of a declared function of such an op; torch-mlir's passes leave calls as
they are, and give the declaration the types of the tensors. Then the body is put in its place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg
from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.torch.locations import location_of


@dataclass(frozen=True)
class Function:
    """A declared function and the node that it stands for.

    `operands` are the nodes whose tensors it takes, in order, and `callees` the functions made of
    the graphs that the node holds.
    """

    name: str
    node: Node
    operands: tuple[Node, ...]
    callees: tuple[str, ...]


@dataclass
class Body:
    """MLIR text of a function's body; `%arg0` and on are its arguments.

    `inputs` and `outputs` are the types of arguments and results.
    """

    function: Function
    inputs: list[ir.RankedTensorType]
    outputs: list[ir.RankedTensorType]
    lines: list[str] = field(default_factory=list)
    _count: int = 0

    def let(self, text: str, results: int = 1) -> str:
        """The name of a new value, which is `text`; names of several end in `#0` and on."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"{name}{f':{results}' if results > 1 else ''} = {text}")
        return name

    def constant(self, value: str | float, type_: Any) -> str:
        """A splat of `value`, in MLIR's spelling."""
        return self.let(f"stablehlo.constant dense<{value}> : {type_}")

    def give(self, *values: str) -> None:
        """The end of the body."""
        types = ", ".join(map(str, self.outputs))
        self.lines.append(f"func.return {', '.join(values)} : {types}")

    def argument(self, name: str, position: int, default: Any = None) -> Any:
        """An argument of the node, by position or by name."""
        node = self.function.node
        return node.args[position] if position < len(node.args) else node.kwargs.get(name, default)


Writer = Callable[[Body], None]
FUNCTIONS: dict[Any, list[tuple[Callable[[Node], bool], Writer]]] = {}
"""Writers of bodies by op, each with the condition that it is for; see `decompositions`."""


def writes(*ops: Any, when: Callable[[Node], bool] = lambda _: True) -> Callable[[Writer], Writer]:
    """Let the decorated function write the bodies of `ops`, of those nodes of which `when` holds.

    Ops may be names, of which this PyTorch need not have all.
    """

    def register(writer: Writer) -> Writer:
        for op in ops:
            FUNCTIONS.setdefault(op, []).append((when, writer))
        return writer

    return register


def writer_of(node: Node) -> Writer | None:
    """What writes the body of the function that stands for `node`."""
    for when, writer in FUNCTIONS.get(node.target, ()):
        if when(node):
            return writer
    return None


def declare(importer: Any, location: ir.Location, node: Node) -> None:
    """A call of a function that is declared for `node`, by an importer of nodes."""
    owner = importer.fx_importer
    graphs = [each for each in node.all_input_nodes if _graph(each) is not None]
    given: list[Node] = []  # a tensor that is given twice is two operands
    map_arg((node.args, node.kwargs), given.append)
    operands = tuple(each for each in given if each not in graphs)
    types = [importer._cc.node_val_to_type(each) for each in operands]
    values = node.meta["val"]
    several = isinstance(values, (list, tuple))
    made = [importer._cc.value_info_to_type(each) for each in (values if several else [values])]
    function = Function(
        f"torch.{len(owner.functions)}",
        node,
        operands,
        tuple(owner._graph_module_to_func_name[id(_graph(each))] for each in graphs),
    )
    owner.functions.append(function)
    with location:
        type_ = ir.FunctionType.get(types, made)
        func.FuncOp(function.name, type_, ip=owner._m_ip, visibility="private")
        call = func.CallOp(
            made,
            ir.FlatSymbolRefAttr.get(function.name),
            [importer.resolve_node_value(each) for each in operands],
        )
    if several:
        importer._multi_result_nodes.add(node)
    for index, value in enumerate(call.operation.results):
        importer.bind_node_value(node, value, index)


def _graph(node: Node) -> GraphModule | None:
    if node.op != "get_attr":
        return None
    found = getattr(node.graph.owning_module, str(node.target), None)
    return found if isinstance(found, GraphModule) else None


def define(module: ir.Module, functions: Sequence[Function]) -> None:
    """Put bodies in the place of calls, in a module that torch-mlir is done with."""
    if not functions:
        return
    declared = {
        ir.StringAttr(each.operation.attributes["sym_name"]).value: each.operation
        for each in module.body.operations
    }
    calls: dict[str, ir.Operation] = {}

    def collect(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.call":
            calls[ir.FlatSymbolRefAttr(op.attributes["callee"]).value] = op
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    for function in functions:
        callees = {name: declared[name] for name in function.callees}
        if function.name in calls:  # not where nothing uses its result
            _splice(calls[function.name], function, callees)
        declared[function.name].erase()
        for callee in callees.values():
            callee.attributes["sym_visibility"] = ir.StringAttr.get("private", module.context)


def _splice(call: ir.Operation, function: Function, callees: Mapping[str, ir.Operation]) -> None:
    body = Body(
        function,
        [ir.RankedTensorType(each.type) for each in call.operands],
        [ir.RankedTensorType(each.type) for each in call.results],
    )
    writer = writer_of(function.node)
    assert writer is not None
    with call.location:
        writer(body)
    location = location_of(function.node, call.context) or call.location
    parsed = _parsed(body, callees, call.context)  # owns what is moved out of it
    made = next(iter(parsed.body.operations)).operation
    with location:
        made.walk(lambda op: _place(op, location))
    block = made.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, call.operands, strict=True):
        argument.replace_all_uses_with(operand)
    *ops, end = [each.operation for each in block.operations]
    for op in ops:
        op.move_before(call)
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    call.erase()


def _parsed(body: Body, callees: Mapping[str, ir.Operation], context: ir.Context) -> ir.Module:
    arguments = ", ".join(f"%arg{i}: {each}" for i, each in enumerate(body.inputs))
    results = ", ".join(map(str, body.outputs))
    lines = [f"func.func @body({arguments}) -> ({results}) {{", *body.lines, "}"]
    for name, callee in callees.items():
        type_ = ir.TypeAttr(callee.attributes["function_type"]).value
        lines.append(f'func.func private @"{name}"{type_}')
    text = "\n".join(lines)
    try:
        return ir.Module.parse(text, context)
    except ir.MLIRError as error:
        raise AssertionError(f"body of {body.function.node.target}: {error}\n{text}") from error


def _place(op: ir.Operation, location: ir.Location) -> ir.WalkResult:
    op.location = location
    return ir.WalkResult.ADVANCE
