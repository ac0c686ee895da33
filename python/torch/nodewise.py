"""The ops of a functional graph decomposed one by one, where nothing asks for another trace of it.

`ExportedProgram.run_decompositions` interprets the whole graph twice. Here each kind of op, with
its shapes and numbers, is traced once, and what no decomposition touches is copied with its values.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch._export.utils import _is_preservable_cia_op
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from mlir_fp8.torch.graphs import is_check
from mlir_fp8.torch.program import Program

Table = Mapping[Any, Callable[..., Any]]

ATEN = ("aten", "prims", "prim")
"""PyTorch's own ops, of which composites may be kept; those of libraries never are."""
_RENAMED = torch.ops.aten.detach_.default
"""In place, but writes no number."""
_NORMS = ("batch_norm", "_batch_norm_impl_index", "native_batch_norm", "instance_norm")
"""They may write running statistics, which no schema says; a whole trace expands them otherwise."""
_AROUND = ("as_strided",)
"""They read what is around a view."""


def decompose_nodes(program: Program, table: Table) -> Program | None:
    """`program` in ops that `table` leaves; None where its graph must be traced as a whole.

    That is where a node writes in place, holds a graph of its own, or has sizes that are not
    static.
    """
    source = program.graph.graph
    mode = _mode_of(source)
    if mode is None:
        return None
    made = Graph()
    values: dict[Node, Any] = {}
    traces: dict[Any, Graph | None] = {}
    for node in source.nodes:
        if is_check(node):
            continue
        if node.target is _RENAMED:
            values[node] = values[node.args[0]]
        elif node.target is operator.getitem and not isinstance(values[node.args[0]], Node):
            values[node] = values[node.args[0]][node.args[1]]
        elif not _is_decomposed(node, table):
            values[node] = copy = made.node_copy(node, values.__getitem__)
            if node.op == "placeholder":
                copy.name = node.name  # `input` too, which a new graph would not take
        else:
            key = _key(node)
            if key not in traces:
                traces[key] = _traced(node, table, mode)
            trace = traces[key]
            if trace is None:
                return None
            values[node] = _inlined(trace, node, made, values)
    return _with(program, made)


def _mode_of(graph: Graph) -> FakeTensorMode | None:
    """Of the values of `graph`; None where it asks for a whole trace."""
    modes: set[FakeTensorMode] = set()
    for node in graph.nodes:
        if node.op not in ("placeholder", "output") and not _is_plain(node):
            return None
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.Tensor):
                if not _is_static(value) or value.is_conj() or value.is_neg():
                    return None
                modes.add(value.fake_mode)  # pyright: ignore[reportAttributeAccessIssue]
            elif isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
                return None
    return modes.pop() if len(modes) == 1 else None


def _is_static(value: torch.Tensor) -> bool:
    sizes = (*value.shape, *value.stride(), value.storage_offset())
    return type(value) is FakeTensor and all(type(each) is int for each in sizes)


def _is_plain(node: Node) -> bool:
    """Whether a node writes nothing and holds no graph."""
    target = node.target
    if node.op != "call_function":
        return False
    if target is operator.getitem or target is _RENAMED:
        return True
    if not isinstance(target, OpOverload) or target._schema.is_mutable:
        return False
    return target._opname not in (*_NORMS, *_AROUND)


def _is_decomposed(node: Node, table: Table) -> bool:
    """Whether a whole trace would leave other ops of `node`."""
    target = node.target
    if not isinstance(target, OpOverload):
        return False
    if target in table:
        return True
    is_kept = target.namespace in ATEN and _is_preservable_cia_op(target)
    return target._can_decompose() and not is_kept


def _key(node: Node) -> Any:
    """The same for nodes of which the same trace is made."""
    inputs = {each: i for i, each in enumerate(node.all_input_nodes)}
    leaves, spec = pytree.tree_flatten((node.args, node.kwargs))
    told: list[Any] = [node.target, str(spec)]
    for leaf in leaves:
        if isinstance(leaf, Node):
            value = leaf.meta["val"]
            told.append((inputs[leaf], value.dtype, tuple(value.shape), tuple(value.stride())))
        else:
            told.append((type(leaf), repr(leaf)))  # 1, 1.0 and True are equal; so are 0.0 and -0.0
    return tuple(told)


def _traced(node: Node, table: Table, mode: FakeTensorMode) -> Graph | None:
    """What `node` becomes: a graph of its inputs, each once; None where that writes in place."""
    inputs = node.all_input_nodes

    def run(*tensors: torch.Tensor) -> Any:
        given = dict(zip(inputs, tensors, strict=True))
        args, kwargs = map_arg((node.args, node.kwargs), given.__getitem__)
        # Ops that are composites come to the table by name only below autograd, which expands them.
        with torch._C._AutoDispatchBelowAutograd():
            made = table[node.target](*args, **kwargs) if node.target in table else NotImplemented
            made = node.target(*args, **kwargs) if made is NotImplemented else made
        return tuple(made) if isinstance(made, tuple) else made  # PyTorch's may be a named one

    with mode, torch.no_grad():
        fakes = [_like(each.meta["val"]) for each in inputs]
        trace = make_fx(run, dict(table), _allow_non_fake_inputs=True)(*fakes).graph
    for each in trace.nodes:
        if each.op not in ("placeholder", "output") and (not _is_plain(each) or _is_kernel(each)):
            return None
    return trace


def _is_kernel(node: Node) -> bool:
    """Whether a composite became an op of one library, which a whole trace does not give."""
    return isinstance(node.target, OpOverload) and node.target._opname.startswith("mkldnn_")


def _like(value: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device)


def _inlined(trace: Graph, node: Node, made: Graph, values: Mapping[Node, Any]) -> Any:
    """What `node` gives, by a copy of `trace` in `made` that stands where it stands."""
    inputs = iter(node.all_input_nodes)
    inner: dict[Node, Any] = {}
    for each in trace.nodes:
        if each.op == "placeholder":
            inner[each] = values[next(inputs)]
        elif each.op == "output":
            return map_arg(each.args[0], inner.__getitem__)
        else:
            copy = inner[each] = made.node_copy(each, inner.__getitem__)
            copy.meta = {**node.meta, "val": each.meta.get("val")}
            copy.meta.pop("tensor_meta", None)
    raise AssertionError("a graph without an output")


def _with(program: Program, made: Graph) -> Program:
    """`program` with another graph of the same arguments and results."""
    given: Any = made.output_node().args[0]
    results = tuple(
        replace(result, name=value.name) if isinstance(value, Node) else result
        for result, value in zip(program.results, given, strict=True)
    )
    return replace(program, graph=GraphModule(torch.nn.Module(), made), results=results)
