"""Negative indices of tensors, which count from the end and which torch-mlir takes for 0."""

from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

_aten = torch.ops.aten
_INDEXED = {
    _aten.index.Tensor,
    _aten._unsafe_index.Tensor,
    _aten.index_put.default,
    _aten._unsafe_index_put.default,
}


def count_from_start(graph: GraphModule) -> None:
    """Add the size of the dimension to negative indices."""
    for node in list(graph.graph.nodes):
        if node.op == "call_function" and node.target in _INDEXED:
            indices = _counted(graph.graph, node)
            node.args = (node.args[0], indices, *node.args[2:])
    for child in graph.children():
        if isinstance(child, GraphModule):
            count_from_start(child)


def _counted(graph: Graph, node: Node) -> list[Any]:
    source: Any = node.args[0]
    given: Any = node.args[1]
    sizes, dim, counted = source.meta["val"].shape, 0, []
    for index in given:
        value = None if index is None else index.meta["val"]
        if value is None or value.dtype in (torch.bool, torch.uint8):
            counted.append(index)
            dim += 1 if value is None else value.dim()  # of a mask
            continue
        counted.append(_from_start(graph, node, index, sizes[dim]))
        dim += 1
    return counted


def _from_start(graph: Graph, node: Node, index: Node, size: Any) -> Node:
    if index.target is _aten.arange.start_step or not isinstance(size, int):
        return index
    value = index.meta["val"]

    def add(op: Any, *args: Any) -> Node:
        made = graph.call_function(op, args)
        made.meta = {**node.meta, "val": value < 0 if op is _aten.lt.Scalar else value}
        made.meta.pop("tensor_meta", None)
        return made

    with graph.inserting_before(node):
        is_negative = add(_aten.lt.Scalar, index, 0)
        wrapped = add(_aten.add.Tensor, index, size)
        return add(_aten.where.self, is_negative, wrapped, index)
