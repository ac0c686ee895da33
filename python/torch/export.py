"""`mlir_fp8.torch.export`: a PyTorch program as a module of this project."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.torch.calls import signature_of
from mlir_fp8.torch.decompositions import decompose
from mlir_fp8.torch.graphs import prepare
from mlir_fp8.torch.importing import stablehlo_of
from mlir_fp8.torch.program import program_of
from mlir_fp8.torch.torch_module import Specialized, TorchModule


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

    def specialize(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Specialized:
        again = _export(exported.module(), args, kwargs, None, strict=False)
        return _specialized(again, passes)

    if not signature.is_open:
        first = _specialized(exported, passes)
    elif args or kwargs:
        first = specialize(tuple(args), kwargs or {})
    elif exported.example_inputs is not None:
        first = specialize(*exported.example_inputs)
    else:
        raise Fp8Error("the ExportedProgram has dynamic sizes and no example inputs: give args")
    return TorchModule(signature, first, specialize, options)


def _specialized(exported: ExportedProgram, passes: Sequence[str]) -> Specialized:
    program = program_of(decompose(exported))
    prepare(program)
    module = stablehlo_of(program.graph)
    if passes:
        run_pipeline(module, list(passes))
    return Specialized(program, module)


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
    return _export(model, args, kwargs or {}, dynamic_shapes, strict=strict)


def _export(
    model: torch.nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dynamic_shapes: Any,
    *,
    strict: bool,
) -> ExportedProgram:
    try:
        return torch.export.export(
            model, tuple(args), dict(kwargs), dynamic_shapes=dynamic_shapes, strict=strict
        )
    except (Fp8Error, MemoryError):
        raise
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = (lines or [type(error).__name__])[0].strip()
        raise Fp8Error(f"torch.export cannot export the model: {reason}") from error


def _loaded(path: Path) -> ExportedProgram:
    if not path.is_file():
        raise Fp8Error(f"cannot read '{path}': no such file")
    try:
        return torch.export.load(path)
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise Fp8Error(f"{path}: no ExportedProgram that PyTorch can load: {reason}") from error
