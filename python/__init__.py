"""mlir-fp8: FP8 in MLIR, from MHLO, StableHLO and CHLO to versioned artifacts and native code."""

import importlib
from typing import TYPE_CHECKING, Any

from mlir_fp8.fork_lock import LOADING

if TYPE_CHECKING:
    from mlir_fp8.artifacts.artifact import deserialize as deserialize
    from mlir_fp8.artifacts.artifact import minimum_version as minimum_version
    from mlir_fp8.artifacts.artifact import serialize as serialize
    from mlir_fp8.artifacts.features import FutureArtifactError as FutureArtifactError
    from mlir_fp8.artifacts.features import NewerFeaturesError as NewerFeaturesError
    from mlir_fp8.compilation import compile as compile
    from mlir_fp8.compiled_module import CompiledModule as CompiledModule
    from mlir_fp8.custom_calls import register_custom_call as register_custom_call
    from mlir_fp8.errors import DetachedWarning as DetachedWarning
    from mlir_fp8.errors import Fp8Error as Fp8Error
    from mlir_fp8.errors import InternalError as InternalError
    from mlir_fp8.explaining.explain import explain as explain
    from mlir_fp8.explaining.lint import lint as lint
    from mlir_fp8.explaining.verdicts import Explanation as Explanation
    from mlir_fp8.explaining.verdicts import LintWarning as LintWarning
    from mlir_fp8.interpreter.interpret import interpret as interpret
    from mlir_fp8.judges import Verdict as Verdict
    from mlir_fp8.judges import compare as compare
    from mlir_fp8.lowering.scaling.recipes import CurrentScaling as CurrentScaling
    from mlir_fp8.lowering.scaling.recipes import DelayedScaling as DelayedScaling
    from mlir_fp8.native.cast import cast as cast
    from mlir_fp8.native.code_cache import clear_cache as clear_cache
    from mlir_fp8.quantization import Quantized as Quantized
    from mlir_fp8.quantization import quantize as quantize
    from mlir_fp8.reading.loader import load as load
    from mlir_fp8.reduction.reduce import Reduction as Reduction
    from mlir_fp8.reduction.reduce import reduce as reduce
    from mlir_fp8.reporting.report import Report as Report
    from mlir_fp8.reporting.report import report as report
    from mlir_fp8.tensors.array_files import load_arrays as load_arrays
    from mlir_fp8.tensors.array_files import save_arrays as save_arrays

# Public names by home; imported on first use, so that a tool pays only for what it runs.
_HOMES = {
    "CompiledModule": "compiled_module",
    "CurrentScaling": "lowering.scaling.recipes",
    "DelayedScaling": "lowering.scaling.recipes",
    "DetachedWarning": "errors",
    "Explanation": "explaining.verdicts",
    "Fp8Error": "errors",
    "FutureArtifactError": "artifacts.features",
    "InternalError": "errors",
    "LintWarning": "explaining.verdicts",
    "NewerFeaturesError": "artifacts.features",
    "Quantized": "quantization",
    "Reduction": "reduction.reduce",
    "Report": "reporting.report",
    "Verdict": "judges",
    "cast": "native.cast",
    "clear_cache": "native.code_cache",
    "compare": "judges",
    "compile": "compilation",
    "deserialize": "artifacts.artifact",
    "explain": "explaining.explain",
    "interpret": "interpreter.interpret",
    "lint": "explaining.lint",
    "load": "reading.loader",
    "load_arrays": "tensors.array_files",
    "minimum_version": "artifacts.artifact",
    "quantize": "quantization",
    "reduce": "reduction.reduce",
    "register_custom_call": "custom_calls",
    "report": "reporting.report",
    "save_arrays": "tensors.array_files",
    "serialize": "artifacts.artifact",
}

__all__ = [
    "CompiledModule",
    "CurrentScaling",
    "DelayedScaling",
    "DetachedWarning",
    "Explanation",
    "Fp8Error",
    "FutureArtifactError",
    "InternalError",
    "LintWarning",
    "NewerFeaturesError",
    "Quantized",
    "Reduction",
    "Report",
    "Verdict",
    "cast",
    "clear_cache",
    "compare",
    "compile",
    "deserialize",
    "explain",
    "interpret",
    "lint",
    "load",
    "load_arrays",
    "minimum_version",
    "quantize",
    "reduce",
    "register_custom_call",
    "report",
    "save_arrays",
    "serialize",
]


def __dir__() -> list[str]:
    """With the names that nobody has asked for yet, for `dir` and tab completion."""
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a checker that saw it would take any name for one of ours

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'mlir_fp8' has no attribute '{name}'")
        # Where threads import modules that import each other, Python hands out halves of them.
        with LOADING:
            value = getattr(importlib.import_module(f"mlir_fp8.{home}"), name)
        globals()[name] = value  # the next time, nobody asks here
        return value
