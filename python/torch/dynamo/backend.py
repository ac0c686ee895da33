"""The backend `mlir_fp8` of `torch.compile`."""

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import free_symbols

from mlir_fp8.base.errors import Fp8Error, InternalError
from mlir_fp8.failures.internal_error import public
from mlir_fp8.torch.dynamo.building import Kind, build
from mlir_fp8.torch.dynamo.native_graph import NativeGraph, ScalingState
from mlir_fp8.torch.dynamo.options import BackendOptions, options_of
from mlir_fp8.torch.dynamo.specializing import hint


def mlir_fp8(
    graph: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Native code of this project for a graph of TorchDynamo: `backend="mlir_fp8"`.

    Forward and backward are compiled apart, each for every list of sizes that it is called with.
    `options` are `quantize`, a recipe of `mlir_fp8.quantize` by which products become scaled FP8;
    its other options; those of `mlir_fp8.compile`; and `fallback`, by which PyTorch runs graphs
    that cannot be lowered, with a warning. State of delayed scaling is kept with the compiled
    graph. Raises `Fp8Error` with the op and the line of what cannot be lowered, which
    `torch.compile` wraps; see docs/pytorch.md.
    """
    chosen = options_of(options or {}, mode)
    _refuse_devices(graph)

    def compiler(kind: Kind) -> Callable[[GraphModule, Sequence[Any]], SizedGraph]:
        return lambda graph, inputs: SizedGraph(graph, inputs, kind, chosen)

    compile_graph = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
    )
    return compile_graph(graph, example_inputs)


class SizedGraph:
    """A graph of AOTAutograd, called with a list of its arguments: native code by their sizes."""

    def __init__(
        self, graph: GraphModule, inputs: Sequence[Any], kind: Kind, options: BackendOptions
    ) -> None:
        self._boxed_call = True  # AOTAutograd's word for arguments in a list
        self.__name__ = f"mlir_fp8_{kind}"
        self._graph = graph
        self._kind: Kind = kind
        self._options = options
        self._state = ScalingState()
        self._lock = threading.Lock()
        self._key = _key_of(inputs)
        self._by_sizes: dict[Any, Callable[[Sequence[Any]], list[Any]]] = {}
        self._only: Callable[[Sequence[Any]], list[Any]] | None = None
        hints = [hint(each) for each in inputs]
        if self._key is None:
            self._only = self._built(hints)
        elif _is_known(key := self._key(hints)):
            self._by_sizes[key] = self._built(hints)

    def __call__(self, args: list[Any]) -> list[Any]:
        run = self._only
        if run is None:
            run = self._for(args)
        results = run(args)
        args.clear()
        return results

    def _for(self, args: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        assert self._key is not None
        key = self._key(args)
        found = self._by_sizes.get(key)
        if found is None:
            with self._lock:
                found = self._by_sizes.get(key) or self._built(args)
                self._by_sizes[key] = found
        return found

    def _built(self, args: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        try:
            return _build(self._graph, args, self._kind, self._options, self._state)
        except InternalError:
            raise
        except Fp8Error as error:
            if not self._options.fallback:
                raise
            warnings.warn(f"{error}; PyTorch runs the graph", stacklevel=2)
            return lambda args: list(self._graph(*args))


@public
def _build(
    graph: GraphModule,
    args: Sequence[Any],
    kind: Kind,
    options: BackendOptions,
    state: ScalingState,
) -> NativeGraph:
    return build(graph, args, kind, options, state)


def _refuse_devices(graph: GraphModule) -> None:
    """Name what the program gives from elsewhere; what it makes elsewhere, the compiler refuses."""
    for node in graph.graph.nodes:
        value = node.meta.get("example_value")
        if node.op != "placeholder" or not isinstance(value, Tensor):
            continue
        if value.device.type != "cpu":
            source = getattr(node.meta.get("grapharg"), "source", None)
            name = node.name if source is None else _name_of(source)
            raise Fp8Error(
                f"{name} is on {value.device}, the backend mlir_fp8 runs on the CPU: give"
                " model.cpu() and tensor.cpu()"
            )


def _name_of(source: Any) -> str:
    """`L['x']`: a method in older versions of PyTorch."""
    return source.name() if callable(source.name) else source.name


def _key_of(inputs: Sequence[Any]) -> Callable[[Sequence[Any]], Any] | None:
    """What tells calls of other sizes apart; None where all sizes are the same in each call."""
    numbers = [i for i, each in enumerate(inputs) if not isinstance(each, Tensor)]
    tensors = [each for each in inputs if isinstance(each, Tensor)]
    if not numbers and not any(free_symbols(each) for each in tensors):
        return None
    told = {inputs[i].node.expr for i in numbers if isinstance(inputs[i], torch.SymInt)}
    if all(free_symbols(each) <= told for each in tensors):
        return lambda args: tuple([args[i] for i in numbers])
    return lambda args: tuple(
        [tuple(map(hint, each.shape)) if isinstance(each, Tensor) else each for each in args]
    )


def _is_known(key: Sequence[Any]) -> bool:
    return not any(each is None or (isinstance(each, tuple) and None in each) for each in key)
