"""Memory of tensors whose dimensions lie in another order than they are counted."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.fx import GraphModule, Node

_permute = torch.ops.aten.permute.default


def order_of(sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, ...] | None:
    """The dimensions from the outermost in memory; None where there are gaps or overlaps."""
    order = sorted(range(len(sizes)), key=lambda dim: -strides[dim])
    step = 1
    for dim in reversed(order):
        if sizes[dim] == 1:
            continue
        if strides[dim] != step:
            return None
        step *= sizes[dim]
    # Where a dimension of one lies is free: where it is counted, if nothing else moves.
    others = [dim for dim in order if sizes[dim] != 1]
    return tuple(range(len(sizes))) if others == sorted(others) else tuple(order)


def is_in_order(order: Sequence[int]) -> bool:
    """Whether memory is C-contiguous."""
    return list(order) == list(range(len(order)))


def strides_of(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """The strides of memory without gaps whose dimensions are in `order`."""
    strides, step = [0] * len(sizes), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


def take_in_order(placeholder: Node, order: Sequence[int]) -> None:
    """Let `placeholder` be the C-contiguous tensor of which the program's is a permutation."""
    graph: GraphModule = placeholder.graph.owning_module  # pyright: ignore[reportAssignmentType]
    value: Tensor = placeholder.meta["val"]
    back = [list(order).index(dim) for dim in range(len(order))]
    last = [node for node in graph.graph.nodes if node.op == "placeholder"][-1]
    with graph.graph.inserting_after(last):
        node = graph.graph.call_function(_permute, (placeholder, back))
    placeholder.replace_all_uses_with(node, delete_user_cb=lambda user: user is not node)
    node.meta["val"] = value
    placeholder.meta["val"] = _permuted(value, order)
    placeholder.meta.pop("tensor_meta", None)  # that of the tensor as it was


def give_in_order(value: Node, order: Sequence[int]) -> Node:
    """A node for `value` with its dimensions in `order`, to be a result."""
    output = value.graph.output_node()
    with value.graph.inserting_before(output):
        node = value.graph.call_function(_permute, (value, list(order)))
    node.meta["val"] = _permuted(value.meta["val"], order)
    return node


def _permuted(value: Tensor, order: Sequence[int]) -> Tensor:
    sizes = [value.shape[dim] for dim in order]
    return value.new_empty(sizes)
