"""What a graph gives: arguments, views of them, numbers, and what the native code computes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch._ops import OpOverload
from torch.fx import GraphModule, Node


@dataclass(frozen=True)
class Given:
    """A result that is not computed: the tensor at `place` of the arguments after `views`.

    Each of the views is an op, its other arguments, and its named ones. `place` is among the
    placeholders of the graph. Without one it is `constant`.
    """

    place: int | None
    views: tuple[tuple[Any, tuple[Any, ...], dict[str, Any]], ...] = ()
    constant: Any = None

    def __call__(self, tensors: Sequence[Tensor]) -> Any:
        if self.place is None:
            return self.constant
        value = tensors[self.place]
        for op, args, kwargs in self.views:
            value = op(value, *args, **kwargs)
        return value


def given_of(graph: GraphModule, value: Any) -> Given | None:
    """How a result comes without being computed; None where it must be.

    What eager gives as a view of an argument is one here too, so that no weight is copied.
    """
    if not isinstance(value, Node):
        return Given(None, constant=value)
    places = [node for node in graph.graph.nodes if node.op == "placeholder"]
    views = []
    while value.op == "call_function" and _is_view(value):
        views.append((value.target, tuple(value.args[1:]), dict(value.kwargs)))
        value = value.args[0]
    if value.op != "placeholder":
        return None
    return Given(places.index(value), tuple(reversed(views)))


def _is_view(node: Node) -> bool:
    target, made = node.target, node.meta.get("val")
    return (
        isinstance(target, OpOverload)
        and target.is_view
        and isinstance(made, Tensor)
        and not (made.is_complex() or made.is_conj() or made.is_neg())
        and len(node.all_input_nodes) == 1
        and node.args[:1] == (node.all_input_nodes[0],)
    )
