"""Random ops of a graph: PyTorch draws the numbers before the native code is called.

So they are those of `torch.manual_seed`, as eager draws them, and other ones in each call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state
from torch.fx import GraphModule, Interpreter, Node
from torch.utils import _pytree as pytree

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.locations import spell

_aten = torch.ops.aten
_SEEDED = torch.Tag.nondeterministic_seeded
# Of the tensor that these take, the numbers do not matter.
_OF_ANY_VALUES = {
    *(f"{name}.default" for name in ("cauchy", "exponential", "geometric", "log_normal")),
    *(f"{name}.default" for name in ("normal_functional", "rand_like", "randint_like")),
    *(f"{name}.default" for name in ("randn_like", "random", "uniform")),
    *("bernoulli.p", "randint_like.low_dtype", "random.from", "random.to"),
}


@dataclass(frozen=True)
class Draw:
    """Numbers that are drawn before each call: `make` gives a new tensor of them.

    `state` is the argument of the graph that is the state of the generator to draw them by; without
    one it is PyTorch's own, which moves on.
    """

    make: Callable[[], Tensor]
    state: int | None = None

    def __call__(self, args: Sequence[Any]) -> Tensor:
        if self.state is None:
            return self.make()
        before = torch.get_rng_state()
        torch.set_rng_state(args[self.state])
        try:
            return self.make()
        finally:
            torch.set_rng_state(before)


class Drawing(Interpreter):
    """Runs a graph with `draw` in the place of random ops; it gives the tensor of a `Draw`."""

    def __init__(self, graph: GraphModule, draw: Callable[[Draw], Tensor]) -> None:
        super().__init__(graph)
        self._draw = draw
        self._state: int | None = None
        self._node: Node | None = None
        self._inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]

    def run_node(self, n: Node) -> Any:
        self._node = n
        return super().run_node(n)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is run_and_save_rng_state:
            state = self._drawn(torch.get_rng_state)
            return state, self._call(args[0], args[1:], kwargs)
        if target is run_with_rng_state:
            assert self._node is not None
            self._state = self._inputs.index(self._node.args[0])  # pyright: ignore
            try:
                return self._call(args[1], args[2:], kwargs)
            finally:
                self._state = None
        return self._call(target, args, kwargs)

    def _call(self, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if is_random(target):
            drawn = self._random(target, args, kwargs)
            if drawn is not NotImplemented:
                return drawn
        return super().call_function(target, tuple(args), dict(kwargs))

    def _random(self, target: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if target is _aten.native_dropout.default:
            return self._dropout(*args)
        name = target.name().removeprefix("aten::")
        name = name if "." in name else f"{name}.default"
        tensors = [each for each in pytree.tree_leaves((args, kwargs)) if _is_tensor(each)]
        if not tensors:
            return self._drawn(lambda: target(*args, **kwargs))
        if name in _OF_ANY_VALUES and len(tensors) == 1:
            like, rest = _like(args[0]), args[1:]
            return self._drawn(lambda: target(like(), *rest, **kwargs))
        if name in ("bernoulli.default", "bernoulli.Tensor"):
            return (self._uniform(args[-1]) < args[-1]).to(args[0].dtype)
        if name in ("normal.Tensor_float", "normal.Tensor_Tensor", "normal.float_Tensor"):
            return self._normal(*args, **kwargs)
        if target is _aten.multinomial.default:
            return self._multinomial(*args, **kwargs)
        return NotImplemented

    def _dropout(self, x: Tensor, p: float, train: bool | None = True) -> Any:
        if train is False or p in (0, 1) or not x.numel():
            return NotImplemented
        like = _like(x, torch.bool)
        kept = self._drawn(lambda: like().bernoulli_(1 - p))
        return x.mul(kept).mul(1 / (1 - p)), kept

    def _uniform(self, x: Tensor) -> Tensor:
        sizes = tuple(x.shape)
        dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
        return self._drawn(lambda: torch.rand(sizes, dtype=dtype))

    def _normal(self, mean: Any = 0.0, std: Any = 1.0, generator: Any = None) -> Tensor:
        tensors = [each for each in (mean, std) if _is_tensor(each)]
        sizes = torch.broadcast_shapes(*(each.shape for each in tensors))
        dtype = tensors[0].dtype
        return mean + std * self._drawn(lambda: torch.randn(sizes, dtype=dtype))

    def _multinomial(
        self, weights: Tensor, count: int, replacement: bool = False, generator: Any = None
    ) -> Any:
        """As `at::native::multinomial`: the largest of weights over exponential times."""
        if replacement and count != 1:
            return NotImplemented
        like = _like(weights)
        rates = weights / self._drawn(lambda: like().exponential_())
        return rates.argmax(-1, keepdim=True) if count == 1 else rates.topk(count)[1]

    def _drawn(self, make: Callable[[], Tensor]) -> Tensor:
        return self._draw(Draw(make, self._state))


def is_random(target: Any) -> bool:
    """Whether an op takes numbers from a generator."""
    return isinstance(target, OpOverload) and _SEEDED in target.tags


def has_random(graph: GraphModule) -> bool:
    """Whether a node of `graph`, apart from those of graphs in it, takes random numbers."""
    saved = (run_and_save_rng_state, run_with_rng_state)
    return any(is_random(node.target) or node.target in saved for node in graph.graph.nodes)


def refuse_random(graph: GraphModule) -> None:
    """Raise `Fp8Error` for random ops, which would give the same numbers in each call."""
    for node in graph.graph.nodes:
        if is_random(node.target):
            raise Fp8Error(
                f"{spell(node, node.meta.get('original_aten'))} draws random numbers in a way that"
                " is not lowered: draw them before the compiled function, and pass them"
            )
    for child in graph.children():
        if isinstance(child, GraphModule):
            refuse_random(child)


def _like(x: Tensor, dtype: torch.dtype | None = None) -> Callable[[], Tensor]:
    sizes, strides, dtype = tuple(x.shape), tuple(x.stride()), dtype or x.dtype
    return lambda: torch.empty_strided(sizes, strides, dtype=dtype)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)
