"""A graph of AOTAutograd in our ops, for one list of sizes."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._guards import tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.traceback import preserve_node_meta
from torch.utils._python_dispatch import _disable_current_modes

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.decompositions import decompositions_now
from mlir_fp8.torch.dynamo.draws import Draw, Drawing, has_random, refuse_random


@dataclass(frozen=True)
class Static:
    """A graph of static sizes, whose placeholders are tensors.

    They are the arguments of the call that are tensors (`taken` has their places), then what is
    drawn before each call, then `constants`.
    """

    graph: GraphModule
    taken: tuple[int, ...]
    draws: tuple[Draw, ...]
    constants: tuple[Tensor, ...]


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Outside of what TorchDynamo and the user's program have set for what they trace."""
    with (
        tracing(None),
        _disable_current_modes(),
        torch._C._DisableAutocast(),
        torch.no_grad(),
    ):
        yield


def specialize(graph: GraphModule, args: Sequence[Any]) -> Static:
    """`graph` for arguments like `args`: tensors, whose values do not matter, and numbers."""
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    taken = tuple(i for i, each in enumerate(args) if isinstance(each, Tensor))
    with mode:
        fakes = [_fake(args[i]) for i in taken]
    draws, drawn = _draws(graph, args, fakes, mode) if has_random(graph) else ([], [])

    def run(*tensors: Tensor) -> Any:
        given, rest = tensors[: len(taken)], iter(tensors[len(taken) :])
        return Drawing(graph, lambda _: next(rest)).run(*_with(args, taken, given))

    with preserve_node_meta():
        try:
            trace = make_fx(
                run,
                decomposition_table=decompositions_now(),
                tracing_mode="real",
                _allow_non_fake_inputs=True,
            )
            made = trace(*fakes, *drawn)
        except (Fp8Error, MemoryError):
            raise
        except Exception as error:
            if isinstance(error.__cause__, Fp8Error):
                raise error.__cause__ from None
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise Fp8Error(f"PyTorch cannot decompose the graph: {reason}") from error
    refuse_random(made)
    return Static(made, taken, tuple(draws), _lifted(made))


def _draws(
    graph: GraphModule, args: Sequence[Any], fakes: Sequence[Tensor], mode: FakeTensorMode
) -> tuple[list[Draw], list[Tensor]]:
    """What is drawn in a run of `graph`, and tensors like it."""
    draws: list[Draw] = []
    drawn: list[Tensor] = []

    def draw(each: Draw) -> Tensor:
        draws.append(each)
        drawn.append(_state_like() if each.make is torch.get_rng_state else each.make())
        return drawn[-1]

    taken = [i for i, each in enumerate(args) if isinstance(each, Tensor)]
    with mode:
        Drawing(graph, draw).run(*_with(args, taken, fakes))
    return draws, drawn


def _state_like() -> Tensor:
    return torch.empty(torch.get_rng_state().shape, dtype=torch.uint8)


def _with(args: Sequence[Any], taken: Sequence[int], tensors: Sequence[Tensor]) -> list[Any]:
    values = list(args)
    for i, tensor in zip(taken, tensors, strict=True):
        values[i] = tensor
    return values


def _fake(tensor: Tensor) -> Tensor:
    sizes = [hint(each) for each in tensor.shape]
    strides = [hint(each) for each in tensor.stride()]
    return torch.empty_strided(sizes, strides, dtype=tensor.dtype)


def hint(size: Any) -> Any:
    """The number that an open size has in the call that it was traced for."""
    if not isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
        return size
    return size.node.hint


def _lifted(made: GraphModule) -> tuple[Tensor, ...]:
    """The tensors that `made` holds, which become placeholders after those that it has."""
    held: dict[str, Node] = {}
    constants: list[Tensor] = []
    graph = made.graph
    for node in list(graph.nodes):
        value = getattr(made, str(node.target), None) if node.op == "get_attr" else None
        if not isinstance(value, Tensor):
            continue
        name = str(node.target)
        if name not in held:
            inputs = [each for each in graph.nodes if each.op == "placeholder"]
            place = graph.inserting_after(inputs[-1]) if inputs else graph.inserting_before()
            with place:
                held[name] = graph.placeholder(f"constant{len(held)}")
            with FakeTensorMode(allow_non_fake_inputs=True) as mode:
                held[name].meta["val"] = mode.from_tensor(value.detach())
            constants.append(value.detach())
        node.replace_all_uses_with(held[name])
        graph.erase_node(node)
    return tuple(constants)
