"""A graph of AOTAutograd, made native for arguments of one list of sizes."""

from collections.abc import Sequence
from typing import Any, Literal

from torch import Tensor
from torch.fx import GraphModule, Node

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.compiling.warm_up import warm_up
from mlir_fp8.quantization import quantize
from mlir_fp8.torch.dynamo.gradients import mark_gradients
from mlir_fp8.torch.dynamo.layout import (
    give_in_order,
    is_in_order,
    order_of,
    strides_of,
    take_in_order,
)
from mlir_fp8.torch.dynamo.native_graph import Memory, NativeGraph, ScalingState, begin
from mlir_fp8.torch.dynamo.options import BackendOptions
from mlir_fp8.torch.dynamo.results import Given, given_of
from mlir_fp8.torch.dynamo.specializing import Static, apart, specialize
from mlir_fp8.torch.graphs import drop_checks
from mlir_fp8.torch.importing import stablehlo_of
from mlir_fp8.torch.locations import spell

Kind = Literal["forward", "backward", "inference"]


def build(
    graph: GraphModule,
    args: Sequence[Any],
    kind: Kind,
    options: BackendOptions,
    state: ScalingState,
) -> NativeGraph:
    """Native code of `graph` for `args`; raises `Fp8Error` for what cannot be lowered."""
    with apart():
        return _build(graph, args, kind, options, state)


def _build(
    graph: GraphModule,
    args: Sequence[Any],
    kind: Kind,
    options: BackendOptions,
    state: ScalingState,
) -> NativeGraph:
    _refuse_devices(graph)
    tangents = _tangents(graph, args)
    static = specialize(graph, args)
    drop_checks(static.graph)
    gives, made = _results(static.graph, _eager_strides(graph))
    takes = _arguments(static.graph)
    compiled, names = None, []
    if made:
        passed = [place for place, _ in takes]
        arguments = [passed.index(each) for each in tangents if each in passed]
        compiled, names = _compiled(static, kind, arguments, options, state)
    resolves = kind == "backward" or any(
        isinstance(each, Tensor) and (each.is_conj() or each.is_neg()) for each in args
    )
    return NativeGraph(
        static,
        compiled,
        takes,
        gives,
        made,
        state,
        names,
        count=len(args),
        resolves=resolves,
        is_backward=kind == "backward",
    )


def _compiled(
    static: Static,
    kind: Kind,
    tangents: Sequence[int],
    options: BackendOptions,
    state: ScalingState,
) -> tuple[CompiledModule, list[str]]:
    """Native code, and the names of the state that it takes and gives."""
    module = stablehlo_of(static.graph, meanwhile=warm_up)
    names: list[str] = []
    if options.recipe is not None:
        if kind != "inference" and (by_order := {"skip_first", "skip_last"} & {*options.selection}):
            raise Fp8Error(
                f"{min(by_order)} counts the products of one graph, and a training step is two:"
                " give min_size, or compile the layers that are to be FP8"
            )
        if kind != "inference":  # that one may hold gradients too, which the rules find
            mark_gradients(module, tangents)
        quantized = quantize(module, options.recipe, **options.selection)
        module, names = quantized.module, list(quantized.state)
        begin(state, quantized.state)
    return compile_module(module, **options.compiling), names


def _refuse_devices(graph: GraphModule) -> None:
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, Tensor) and value.device.type != "cpu":
            raise Fp8Error(
                f"{spell(node)} is on {value.device}, the backend mlir_fp8 runs on the CPU: make it"
                " there"
            )


def _tangents(graph: GraphModule, args: Sequence[Any]) -> list[int]:
    """The places, among the arguments that are tensors, of gradients that backward is given."""
    names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
    tensors = [name for name, each in zip(names, args, strict=True) if isinstance(each, Tensor)]
    return [i for i, name in enumerate(tensors) if name.startswith("tangents")]


def _eager_strides(graph: GraphModule) -> list[tuple[int, ...] | None]:
    """Of each result, where they do not depend on open sizes."""
    found: list[tuple[int, ...] | None] = []
    for each in _given(graph):
        value = each.meta.get("val") if isinstance(each, Node) else None
        strides = value.stride() if isinstance(value, Tensor) else (None,)
        is_known = all(type(step) is int for step in strides)
        found.append(tuple(strides) if is_known else None)
    return found


def _given(graph: GraphModule) -> list[Any]:
    given: Any = graph.graph.output_node().args[0]
    return list(given) if isinstance(given, list | tuple) else [given]


def _results(
    graph: GraphModule, eager_strides: Sequence[tuple[int, ...] | None]
) -> tuple[list[Given | int], list[Memory]]:
    """How each result comes; the graph is left with those that are computed, in their memory."""
    gives: list[Given | int] = []
    computed: dict[Node, int] = {}
    made: list[Memory] = []
    nodes: list[Node] = []
    for value, eager in zip(_given(graph), eager_strides, strict=True):
        given = given_of(graph, value)
        if given is not None:
            gives.append(given)
            continue
        if value not in computed:
            computed[value] = len(made)
            node, memory = _in_memory(value, eager)
            nodes.append(node)
            made.append(memory)
        gives.append(computed[value])
    graph.graph.output_node().args = (tuple(nodes),)
    graph.graph.eliminate_dead_code()
    return gives, made


def _in_memory(value: Node, eager: tuple[int, ...] | None) -> tuple[Node, Memory]:
    tensor: Tensor = value.meta["val"]
    sizes = tuple(tensor.shape)
    order = order_of(sizes, tensor.stride() if eager is None else eager)
    if order is None or is_in_order(order):
        order = tuple(range(len(sizes)))
    else:
        value = give_in_order(value, order)
    return value, (sizes, strides_of(sizes, order), tensor.dtype)


def _arguments(graph: GraphModule) -> list[tuple[int, Memory]]:
    """The placeholders that are read, in their memory; the graph is left with these."""
    takes: list[tuple[int, Memory]] = []
    places = [node for node in graph.graph.nodes if node.op == "placeholder"]
    for place, node in enumerate(places):
        if not node.users:
            graph.graph.erase_node(node)
            continue
        tensor: Tensor = node.meta["val"]
        sizes = tuple(tensor.shape)
        order = order_of(sizes, tensor.stride())
        if order is None or is_in_order(order):
            order = tuple(range(len(sizes)))
        else:
            take_in_order(node, order)
        takes.append((place, (sizes, strides_of(sizes, order), tensor.dtype)))
    graph.recompile()
    return takes
