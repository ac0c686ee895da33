"""An `ExportedProgram` as a StableHLO module whose arguments and results are named."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.argument_names import give_names
from mlir_fp8.torch.calls import signature_of
from mlir_fp8.torch.decompositions import decompose
from mlir_fp8.torch.graphs import prepare
from mlir_fp8.torch.importing import stablehlo_of
from mlir_fp8.torch.program import Program, program_of

if TYPE_CHECKING:
    from torch_mlir import ir

Meanwhile = Callable[[], object] | None


def translated(
    exported: ExportedProgram, meanwhile: Meanwhile = None
) -> "tuple[Program, ir.Module]":
    """The program and its StableHLO; where sizes are open, for those of the example inputs.

    `meanwhile` is called while torch-mlir is at work.
    """
    if not signature_of(exported, program_of(exported).arguments).is_open:
        return _translated(exported, meanwhile)
    if exported.example_inputs is None:
        raise Fp8Error("the ExportedProgram has open sizes and no example inputs: give args")
    return translated_for(exported, *exported.example_inputs, meanwhile=meanwhile)


def translated_for(
    exported: ExportedProgram,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    meanwhile: Meanwhile = None,
) -> "tuple[Program, ir.Module]":
    """The program for the sizes of these arguments, exported again, and its StableHLO."""
    return _translated(export_program(exported.module(), args, kwargs), meanwhile)


def _translated(exported: ExportedProgram, meanwhile: Meanwhile) -> "tuple[Program, ir.Module]":
    program = decompose(exported)
    prepare(program)
    module = stablehlo_of(program.graph, meanwhile)
    give_names(module, program.argument_names, program.result_names)
    return program, module


def export_program(
    model: torch.nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any = None,
    *,
    strict: bool = False,
) -> ExportedProgram:
    """The program of `torch.export.export`; what it refuses is an `Fp8Error`."""
    args, kwargs = _apart(tuple(args), dict(kwargs))
    try:
        return torch.export.export(
            model, args, kwargs, dynamic_shapes=dynamic_shapes, strict=strict
        )
    except (Fp8Error, MemoryError):
        raise
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = (lines or [type(error).__name__])[0].strip()
        if any(type(each).__module__.startswith("torchao.float8") for each in model.modules()):
            reason += "; torchao's training modules take torch.compile(backend='mlir_fp8')"
        raise Fp8Error(f"torch.export cannot export the model: {reason}") from error


def _apart(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Arguments that PyTorch takes for tensors of their own.

    It makes one input of a tensor that is given twice, and gives open sizes to what others are
    views of.
    """
    seen: set[int] = set()

    def of_its_own(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        is_again = id(leaf) in seen
        seen.add(id(leaf))
        if not is_again and not leaf._is_view():
            return leaf
        made = leaf.detach().clone() if is_again else leaf.detach()
        return made.requires_grad_(leaf.requires_grad)

    return pytree.tree_map(of_its_own, (args, kwargs))
