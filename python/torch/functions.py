"""Ops that torch-mlir has no lowering for, as functions whose bodies are StableHLO of our own.

The importer makes a call of a declared function of such an op; torch-mlir's passes leave calls as
they are, and give the declaration the types of the tensors. Then the body is put in its place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.fx import GraphModule, Node
from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.errors import Fp8Error
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


FUNCTIONS: dict[Any, Callable[[Body], None]] = {}
"""Writers of bodies by op; see `mlir_fp8.torch.decompositions`."""


def writes(*ops: Any) -> Callable[[Callable[[Body], None]], Callable[[Body], None]]:
    """Let the decorated function write the bodies of `ops`."""

    def register(writer: Callable[[Body], None]) -> Callable[[Body], None]:
        FUNCTIONS.update(dict.fromkeys(ops, writer))
        return writer

    return register


def declare(importer: Any, location: ir.Location, node: Node) -> None:
    """A call of a function that is declared for `node`, by an importer of nodes."""
    owner = importer.fx_importer
    graphs = [each for each in node.all_input_nodes if _graph(each) is not None]
    operands = tuple(each for each in node.all_input_nodes if each not in graphs)
    types = [importer._cc.node_val_to_type(each) for each in operands]
    values = node.meta["val"]
    several = isinstance(values, (list, tuple))
    given = [
        importer._cc.value_info_to_type(each) for each in (values if several else [values])
    ]
    function = Function(
        f"torch.{len(owner.functions)}",
        node,
        operands,
        tuple(owner._graph_module_to_func_name[id(_graph(each))] for each in graphs),
    )
    owner.functions.append(function)
    with location:
        type_ = ir.FunctionType.get(types, given)
        func.FuncOp(function.name, type_, ip=owner._m_ip, visibility="private")
        call = func.CallOp(
            given,
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
    """Give the declared functions their bodies, in a module that torch-mlir is done with."""
    declared = {
        ir.StringAttr(each.operation.attributes["sym_name"]).value: each.operation
        for each in module.body.operations
    }
    for function in functions:
        _define(declared[function.name], function)
        for callee in function.callees:
            declared[callee].attributes["sym_visibility"] = ir.StringAttr.get(
                "private", module.context
            )


def _define(declaration: ir.Operation, function: Function) -> None:
    type_ = ir.FunctionType(ir.TypeAttr(declaration.attributes["function_type"]).value)
    body = Body(
        function,
        [ir.RankedTensorType(each) for each in type_.inputs],
        [ir.RankedTensorType(each) for each in type_.results],
    )
    FUNCTIONS[function.node.target](body)
    arguments = ", ".join(f"%arg{i}: {each}" for i, each in enumerate(body.inputs))
    results = ", ".join(map(str, body.outputs))
    callees = "\n".join(_declared_again(declaration, name) for name in function.callees)
    text = f'func.func private @"{function.name}"({arguments}) -> ({results}) {{\n'
    text += "\n".join(body.lines) + "\n}\n" + callees
    context = declaration.context
    try:
        parsed = ir.Module.parse(text, context)
    except ir.MLIRError as error:
        raise Fp8Error(f"the body of {function.node.target} is no MLIR: {error}\n{text}") from None
    location = location_of(function.node, context) or declaration.location
    made = next(iter(parsed.body.operations)).operation
    made.walk(lambda op: _place(op, location))
    made.move_before(declaration)
    declaration.erase()


def _place(op: ir.Operation, location: ir.Location) -> ir.WalkResult:
    op.location = location
    return ir.WalkResult.ADVANCE


def _declared_again(declaration: ir.Operation, name: str) -> str:
    """The declaration of a function of the module, for text that calls it."""
    module = declaration.parent
    assert module is not None
    for each in module.regions[0].blocks[0].operations:
        if ir.StringAttr(each.operation.attributes["sym_name"]).value == name:
            type_ = ir.TypeAttr(each.operation.attributes["function_type"]).value
            return f'func.func private @"{name}"{str(type_).replace("->", "->", 1)}'
    raise AssertionError(name)


def is_tensor(value: Any) -> bool:
    """Whether what a node gives is a tensor."""
    return isinstance(value, Tensor)
