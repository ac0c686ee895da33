"""What an `ExportedProgram` takes and gives: the order and the meaning of a graph's values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
)
from torch.fx import GraphModule

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.torch.result_names import result_names

_STATE = {InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR}
_MUTATED_STATE = {OutputKind.BUFFER_MUTATION, getattr(OutputKind, "PARAMETER_MUTATION", None)}


@dataclass(frozen=True)
class Argument:
    """An argument of the graph: state by its name in the model, or a leaf of the call's pytree.

    `constant` holds for leaves that are no tensors: their value is part of the program.
    """

    name: str
    state: str | None = None
    leaf: int | None = None
    constant: Any = None
    is_constant: bool = False

    @property
    def is_passed(self) -> bool:
        """Whether it is an argument of the module's `main`."""
        return not self.is_constant


@dataclass(frozen=True)
class Result:
    """A result of the graph, and what becomes of it: one of the fields after `name` says so.

    `writes` is what eager would have changed in place, by the name of the argument; `gradient_of`
    likewise; `leaf` a place in the pytree of results; a `constant` is no tensor.
    """

    name: str
    leaf: int | None = None
    writes: str | None = None
    gradient_of: str | None = None
    constant: Any = None
    is_constant: bool = False


@dataclass(frozen=True)
class Program:
    """A graph of functional aten ops whose placeholders are `arguments`, in order."""

    graph: GraphModule
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    state: dict[str, torch.Tensor]
    in_spec: Any
    out_spec: Any

    @property
    def passed(self) -> tuple[Argument, ...]:
        """The arguments of `main`."""
        return tuple(each for each in self.arguments if each.is_passed)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names of the arguments of `main`: of state, those in the model."""
        return tuple(each.state or each.name for each in self.passed)

    @property
    def result_names(self) -> tuple[str, ...]:
        """What the results of `main` are: `n (written)`, `weight (gradient)`, or the model's names.

        Those are keys of dicts, fields of dataclasses, or `output_0` and on.
        """
        names = result_names(self.out_spec)
        given = [each for each in self.results if not each.is_constant]
        return tuple(self._label(each, names) for each in given)

    def _label(self, result: Result, names: Sequence[str]) -> str:
        models = {each.name: each.state or each.name for each in self.arguments}
        if result.writes is not None:
            return f"{models[result.writes]} (written)"
        if result.gradient_of is not None:
            return f"{models[result.gradient_of]} (gradient)"
        return names[result.leaf or 0]

    @property
    def has_gradients(self) -> bool:
        """Whether the program gives gradients of its own."""
        return any(each.gradient_of is not None for each in self.results)


def program_of(exported: ExportedProgram) -> Program:
    """The program in `exported`, whose graph is copied where it is changed."""
    signature = exported.graph_signature
    arguments: list[Argument] = []
    leaves = 0
    for spec in signature.input_specs:
        arguments.append(_argument(spec, leaves))
        leaves += spec.kind == InputKind.USER_INPUT
    by_state: dict[str | None, str] = {each.state: each.name for each in arguments}
    results: list[Result] = []
    leaves = 0
    for spec in signature.output_specs:
        results.append(_result(spec, leaves, by_state))
        leaves += results[-1].leaf is not None
    if exported.call_spec.in_spec is None or exported.call_spec.out_spec is None:
        raise Fp8Error("the ExportedProgram does not say what its inputs and outputs are")
    state = {each.state: _tensor(exported, each.state) for each in arguments if each.state}
    return Program(
        exported.graph_module,
        tuple(arguments),
        tuple(results),
        state,
        exported.call_spec.in_spec,
        exported.call_spec.out_spec,
    )


def _argument(spec: InputSpec, leaf: int) -> Argument:
    name = spec.arg.name
    if spec.kind in _STATE:
        return Argument(name, state=spec.target)
    if spec.kind != InputKind.USER_INPUT:
        raise Fp8Error(f"input '{name}' is a {spec.kind.name}: only tensors can be passed")
    if isinstance(spec.arg, ConstantArgument):
        return Argument(name, leaf=leaf, constant=spec.arg.value, is_constant=True)
    return Argument(name, leaf=leaf)


def _result(spec: OutputSpec, leaf: int, by_state: dict[str | None, str]) -> Result:
    name = spec.arg.name
    if spec.kind in _MUTATED_STATE:
        return Result(name, writes=by_state[spec.target])
    if spec.kind == OutputKind.USER_INPUT_MUTATION:
        return Result(name, writes=spec.target)
    if spec.kind == OutputKind.GRADIENT_TO_PARAMETER:
        return Result(name, gradient_of=by_state[spec.target])
    if spec.kind == OutputKind.GRADIENT_TO_USER_INPUT:
        return Result(name, gradient_of=spec.target)
    if spec.kind not in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT):
        raise Fp8Error(f"output '{name}' is a {spec.kind.name}: only tensors can be given back")
    if isinstance(spec.arg, ConstantArgument):
        return Result(name, leaf=leaf, constant=spec.arg.value, is_constant=True)
    return Result(name, leaf=leaf)


def _tensor(exported: ExportedProgram, name: str) -> torch.Tensor:
    for held in (exported.state_dict, exported.constants):
        value = held.get(name)
        if isinstance(value, torch.Tensor):
            return value
    raise Fp8Error(f"the ExportedProgram holds no tensor for '{name}'")
