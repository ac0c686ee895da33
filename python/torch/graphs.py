"""Decomposed FX graphs made ready for torch-mlir's importer."""

import torch
from torch.fx import GraphModule, Node

from mlir_fp8.torch.program import Program

_CHECKS = (
    *("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range"),
    "_linalg_check_errors",
)


def prepare(program: Program) -> None:
    """Leave only tensors among arguments and results of the graph, and no checks in it."""
    graph = program.graph.graph
    drop_checks(program.graph)
    dropped = {each.name for each in program.arguments if not each.is_passed}
    for node in list(graph.nodes):
        if node.op == "placeholder" and node.name in dropped:
            node.replace_all_uses_with(None)  # pyright: ignore[reportArgumentType]
            graph.erase_node(node)
    output = graph.output_node()
    given = [
        value
        for value, result in zip(output.args[0], program.results, strict=True)  # pyright: ignore
        if not result.is_constant
    ]
    output.args = (tuple(given),)
    graph.eliminate_dead_code()


def drop_checks(graph: GraphModule) -> None:
    """Leave no ops that only raise errors."""
    for node in list(graph.graph.nodes):
        if is_check(node):
            graph.graph.erase_node(node)


def is_check(node: Node) -> bool:
    """Whether a node only raises errors."""
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and target._opname.startswith(_CHECKS)


def type_numbers(graph: GraphModule) -> None:
    """Truth values that bound become whole numbers, which torch-mlir takes."""
    for node in graph.graph.nodes:
        target = node.target
        if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
            continue
        if target._opname.startswith("clamp"):
            node.args = tuple(int(a) if isinstance(a, bool) else a for a in node.args)
    for child in graph.children():
        if isinstance(child, GraphModule):
            type_numbers(child)
