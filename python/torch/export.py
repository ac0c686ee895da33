"""`mlir_fp8.torch.export`: a PyTorch program as a module of this project."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.source import read_source
from mlir_fp8.compiling.warm_up import warm_up
from mlir_fp8.failures.internal_error import public
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.torch.calls import signature_of
from mlir_fp8.torch.program import Program, program_of
from mlir_fp8.torch.torch_module import Specialized, TorchModule
from mlir_fp8.torch.translation import export_program, translated, translated_for

if TYPE_CHECKING:
    from torch_mlir import ir


@public
def export(
    model: torch.nn.Module | ExportedProgram | str | Path,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    passes: Sequence[str] = (),
    **options: Any,
) -> TorchModule:
    """A PyTorch program as a StableHLO module that is called on torch tensors.

    `model` is an `nn.Module`, exported by `torch.export` for `args` and `kwargs` (`dynamic_shapes`
    and `strict` are its), an `ExportedProgram`, or the path of a `.pt2` file. Parameters, buffers
    and constants are arguments of the module, never constants in it. `passes` run on the StableHLO,
    such as `fp8-quantize-dots{recipe=current}`; `options` are those of `mlir_fp8.compile`.

    Casts are those of the PyTorch that is installed; random ops give a stream of their own
    (docs/pytorch.md). Raises `Fp8Error` with the op and the line of what cannot be taken over.
    """
    exported = _exported(model, args, kwargs, dynamic_shapes, strict=strict)
    signature = signature_of(exported, program_of(exported).arguments)

    def specialized(program: Program, module: "ir.Module") -> Specialized:
        if passes:
            run_pipeline(module, list(passes))
        return Specialized(program, module)

    def specialize(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialized:
        return specialized(*translated_for(exported, args, kwargs, meanwhile=warm_up))

    is_given = signature.is_open and (args or kwargs)
    first = (
        specialize(tuple(args), kwargs or {})
        if is_given
        else specialized(*translated(exported, meanwhile=warm_up))
    )
    return TorchModule(signature, first, specialize, options)


def _exported(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    dynamic_shapes: Any,
    *,
    strict: bool,
) -> ExportedProgram:
    if isinstance(model, str | Path):
        return _loaded(Path(model))
    if isinstance(model, ExportedProgram):
        return model
    if not isinstance(model, torch.nn.Module):
        kind = type(model).__name__
        raise Fp8Error(f"model is a {kind}: give an nn.Module, an ExportedProgram or a .pt2 file")
    return export_program(model, args, kwargs or {}, dynamic_shapes, strict=strict)


def _loaded(path: Path) -> ExportedProgram:
    from mlir_fp8.torch.pt2 import read_exported

    data, name = read_source(path)
    return read_exported(data[:], name)  # weights must outlive the file, which may be written anew
