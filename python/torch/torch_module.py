"""`TorchModule`: a PyTorch program as StableHLO, called on torch tensors."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.compiling.execution import copy_of
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.fp8.weights.names import as_pattern
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import to_stablehlo_of_artifacts
from mlir_fp8.serialization.serialize import serialize
from mlir_fp8.torch.calls import Signature
from mlir_fp8.torch.program import Program
from mlir_fp8.torch.tensors import in_bytes, is_packed, to_numpy, to_torch
from mlir_fp8.torch.written import check_written

if TYPE_CHECKING:
    from torch_mlir import ir

Shapes = tuple[tuple[int, ...], ...]


class Specialized:
    """The program for arguments of one list of shapes: its module, and code once it is called."""

    def __init__(self, program: Program, module: "ir.Module") -> None:
        self.program = program
        self.module = module
        self._compiled: CompiledModule | None = None

    def compiled(self, options: Mapping[str, Any]) -> CompiledModule:
        """Native code, made at the first call."""
        if self._compiled is None:
            self._compiled = compile_module(self.module, **options)
        return self._compiled


class TorchModule:
    """A PyTorch program as a StableHLO module; what `mlir_fp8.torch.export` gives.

    Calling it takes what the exported model takes, tensors on the CPU of the exported dtypes, and
    gives what it gives: new tensors, without gradients. State and arguments that eager would have
    changed in place are changed. Each list of shapes is compiled at its first call, then cached.

    `state` are the model's own parameters, buffers and constants by name, not copies: what an
    optimizer changes in place, the next call sees. `arguments` are the names of the arguments of
    `main` in order, those of state as in `state`; `results` those of its results, of which the
    first are what is written back (`written`). `signature` is the pytree that calls take.
    """

    def __init__(
        self,
        signature: Signature,
        first: Specialized,
        specialize: Callable[[tuple[Any, ...], Mapping[str, Any]], Specialized],
        options: Mapping[str, Any],
    ) -> None:
        self.signature = signature
        self._first = first
        self._specialize = specialize
        self._options = dict(options)
        self._by_shapes: dict[Shapes, Specialized] = {signature.shapes(first.program): first}
        self._state = dict(first.program.state)
        self._warned = False

    @property
    def mlir(self) -> "ir.Module":
        """The StableHLO module for the shapes of the example arguments."""
        return self._first.module

    @property
    def state(self) -> Mapping[str, torch.Tensor]:
        """Parameters, buffers and constants by name."""
        return MappingProxyType(self._state)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments of `main`."""
        return self._first.program.argument_names

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the results of `main`: those of the model, `n (written)`, `w (gradient)`."""
        return self._first.program.result_names

    def serialize(self, target: str = "current", **options: Any) -> bytes:
        """The portable artifact of `mlir`, without weights: they are arguments.

        `target` and `options` are those of `mlir_fp8.serialize`.
        """
        module = copy_of(self.mlir)
        run_pipeline(module, to_stablehlo_of_artifacts())  # what functions of numbers leave of CHLO
        return serialize(module, target, **options)

    @public
    def quantize(
        self,
        recipe: Any = "weight_only",
        *,
        weights: Sequence[str] | None = None,
        **options: Any,
    ) -> "TorchModule":
        """This program with weights in f8, computed now; it is called as this one is.

        `recipe` and `options` are those of `mlir_fp8.quantize`, without state; `weights` are names
        or patterns of `state`, by default all of it: what can be no weight stays as it is. `state`
        of the result holds the codes, and the scales as `NAME_scale`. `cache=` names caches in it,
        whose rows calls quantize as they write them.
        """
        from mlir_fp8.torch.quantized import quantized_program

        if weights is not None:
            found = [name for each in weights for name in _of_state(each, self._state)]
            weights = [
                name if name in weights else as_pattern(name) for name in dict.fromkeys(found)
            ]
        program, module, again = quantized_program(
            self._first.program, self.mlir, self._state, recipe, weights, options
        )

        def specialize(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialized:
            special = self._specialize(args, kwargs)
            return Specialized(*again(special.program, special.module))

        return TorchModule(self.signature, Specialized(program, module), specialize, self._options)

    @public
    def compile(self) -> CompiledModule:
        """Native code for the shapes of the example arguments, made now, not at the first call."""
        return self._first.compiled(self._options)

    @public
    def mlir_for(self, *args: Any, **kwargs: Any) -> "ir.Module":
        """The StableHLO module for the shapes of these arguments."""
        return self._for(args, kwargs)[0].module

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        special, leaves = self._for(args, kwargs)
        program = special.program
        tensors = {
            each.name: self._state[each.state] if each.state else leaves[each.leaf or 0]
            for each in program.arguments
            if each.is_passed
        }
        arrays = [
            to_numpy(in_bytes(tensors[each.name].detach()), f"'{each.state or each.name}'")
            for each in program.passed
        ]
        compiled = special.compiled(self._options)
        check_written(tensors, [each.writes for each in program.results if each.writes])
        given = [to_torch(array) for array in compiled(*arrays)]
        results = iter(map(_as_declared, given, _declared(program)))
        outputs: list[Any] = []
        with torch.no_grad():
            for result in program.results:
                value = result.constant if result.is_constant else next(results)
                if result.writes is not None:
                    tensors[result.writes].detach().copy_(value)
                elif result.gradient_of is not None:
                    _add_gradient(tensors[result.gradient_of], value)
                else:
                    outputs.append(value)
        return pytree.tree_unflatten(outputs, program.out_spec)

    def _for(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Specialized, list]:
        leaves = self.signature.leaves(args, kwargs)
        self._warn_of_gradients(leaves)
        shapes = tuple(tuple(x.shape) for x in leaves if isinstance(x, torch.Tensor))
        special = self._by_shapes.get(shapes)
        if special is None:
            self.signature.check_shapes(leaves)
            special = self._specialize(args, kwargs)
            self._state = {**special.program.state, **self._state}
            self._by_shapes[shapes] = special
        return special, leaves

    def _warn_of_gradients(self, leaves: Sequence[Any]) -> None:
        if self._warned or self._first.program.has_gradients or not torch.is_grad_enabled():
            return
        if any(isinstance(each, torch.Tensor) and each.requires_grad for each in leaves):
            self._warned = True
            warnings.warn(
                "an argument requires gradients: results of an exported program have none",
                stacklevel=4,
            )


def _declared(program: Program) -> list[Any]:
    """What the graph says of each tensor that it gives; None where quantizing added results."""
    (output,) = (node for node in program.graph.graph.nodes if node.op == "output")
    nodes = list(output.args[0])
    if len(nodes) != len(program.results):
        nodes = [None] * len(program.results)
    pairs = zip(nodes, program.results, strict=True)
    return [getattr(each, "meta", {}).get("val") for each, own in pairs if not own.is_constant]


def _as_declared(value: torch.Tensor, declared: Any) -> torch.Tensor:
    """Bytes as the float4_e2m1fn_x2 that they are."""
    is_pairs = isinstance(declared, torch.Tensor) and is_packed(declared)
    return value.view(declared.dtype) if is_pairs else value


def _of_state(pattern: str, state: Mapping[str, torch.Tensor]) -> list[str]:
    """The names of `state` that `pattern` matches, of which there is one."""
    if pattern in state:
        return [pattern]
    found = [name for name in state if fnmatchcase(name, pattern)]
    if not found:
        raise Fp8Error(f"weights: '{pattern}' matches no tensor of the state")
    return found


def _add_gradient(tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
    if gradient is None:
        return
    tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient
