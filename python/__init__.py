"""mlir-fp8: FP8 in MLIR, from MHLO, StableHLO and CHLO to versioned artifacts and native code."""

import importlib
from typing import TYPE_CHECKING, Any

from mlir_fp8.base.fork_lock import LOADING

if TYPE_CHECKING:
    from mlir_fp8.artifacts.features import FutureArtifactError as FutureArtifactError
    from mlir_fp8.artifacts.features import NewerFeaturesError as NewerFeaturesError
    from mlir_fp8.base.errors import DetachedWarning as DetachedWarning
    from mlir_fp8.base.errors import Fp8Error as Fp8Error
    from mlir_fp8.base.errors import InternalError as InternalError
    from mlir_fp8.checkpoints.application import apply_checkpoint as apply_checkpoint
    from mlir_fp8.checkpoints.exporting import checkpoint_of as checkpoint_of
    from mlir_fp8.checkpoints.f8_weight import Checkpoint as Checkpoint
    from mlir_fp8.checkpoints.f8_weight import F8Weight as F8Weight
    from mlir_fp8.checkpoints.reading import load_checkpoint as load_checkpoint
    from mlir_fp8.checkpoints.writing import save_checkpoint as save_checkpoint
    from mlir_fp8.compiling.compilation import compile as compile
    from mlir_fp8.compiling.compiled_module import CompiledModule as CompiledModule
    from mlir_fp8.compiling.custom_calls import register_custom_call as register_custom_call
    from mlir_fp8.compiling.native.cast import cast as cast
    from mlir_fp8.compiling.native.code_cache import clear_cache as clear_cache
    from mlir_fp8.explaining.explain import explain as explain
    from mlir_fp8.explaining.lint import lint as lint
    from mlir_fp8.explaining.verdicts import Explanation as Explanation
    from mlir_fp8.explaining.verdicts import LintWarning as LintWarning
    from mlir_fp8.inference.calibration import Calibration as Calibration
    from mlir_fp8.inference.formats import FormatTrial as FormatTrial
    from mlir_fp8.inference.repetition import repeat_steps as repeat_steps
    from mlir_fp8.inference.search import Trial as Trial
    from mlir_fp8.inference.smoothing import Smoothing as Smoothing
    from mlir_fp8.judging.interpretation import interpret as interpret
    from mlir_fp8.judging.judges import Verdict as Verdict
    from mlir_fp8.judging.judges import compare as compare
    from mlir_fp8.lowering.fp8.scaling.block_recipes import MXScaling as MXScaling
    from mlir_fp8.lowering.fp8.scaling.block_recipes import NVFP4Scaling as NVFP4Scaling
    from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling as Int8Scaling
    from mlir_fp8.lowering.fp8.scaling.recipes import BlockScaling as BlockScaling
    from mlir_fp8.lowering.fp8.scaling.recipes import CurrentScaling as CurrentScaling
    from mlir_fp8.lowering.fp8.scaling.recipes import DelayedScaling as DelayedScaling
    from mlir_fp8.lowering.fp8.scaling.recipes import StaticScaling as StaticScaling
    from mlir_fp8.lowering.fp8.scaling.recipes import WeightOnly as WeightOnly
    from mlir_fp8.quantization import pack_weights as pack_weights
    from mlir_fp8.quantization import quantize as quantize
    from mlir_fp8.quantized import Quantized as Quantized
    from mlir_fp8.reading.artifact import deserialize as deserialize
    from mlir_fp8.reading.loader import load as load
    from mlir_fp8.reduction.reduce import Reduction as Reduction
    from mlir_fp8.reduction.reduce import reduce as reduce
    from mlir_fp8.reporting.report import Report as Report
    from mlir_fp8.reporting.report import report as report
    from mlir_fp8.serialization.serialize import minimum_version as minimum_version
    from mlir_fp8.serialization.serialize import serialize as serialize
    from mlir_fp8.simulation.simulated_module import SimulatedModule as SimulatedModule
    from mlir_fp8.tensors.array_files import load_arrays as load_arrays
    from mlir_fp8.tensors.array_files import save_arrays as save_arrays
    from mlir_fp8.xla.device_array import DeviceArray as DeviceArray
    from mlir_fp8.xla.sharded_module import ShardedModule as ShardedModule
    from mlir_fp8.xla.xla_module import XlaModule as XlaModule

# Public names by home; imported on first use, so that a tool pays only for what it runs.
_HOMES = {
    "BlockScaling": "lowering.fp8.scaling.recipes",
    "Calibration": "inference.calibration",
    "Checkpoint": "checkpoints.f8_weight",
    "CompiledModule": "compiling.compiled_module",
    "CurrentScaling": "lowering.fp8.scaling.recipes",
    "DelayedScaling": "lowering.fp8.scaling.recipes",
    "DetachedWarning": "base.errors",
    "DeviceArray": "xla.device_array",
    "Explanation": "explaining.verdicts",
    "F8Weight": "checkpoints.f8_weight",
    "FormatTrial": "inference.formats",
    "Fp8Error": "base.errors",
    "FutureArtifactError": "artifacts.features",
    "Int8Scaling": "lowering.fp8.scaling.int8_recipe",
    "InternalError": "base.errors",
    "LintWarning": "explaining.verdicts",
    "MXScaling": "lowering.fp8.scaling.block_recipes",
    "NVFP4Scaling": "lowering.fp8.scaling.block_recipes",
    "NewerFeaturesError": "artifacts.features",
    "Quantized": "quantized",
    "Reduction": "reduction.reduce",
    "Report": "reporting.report",
    "ShardedModule": "xla.sharded_module",
    "SimulatedModule": "simulation.simulated_module",
    "Smoothing": "inference.smoothing",
    "StaticScaling": "lowering.fp8.scaling.recipes",
    "Trial": "inference.search",
    "Verdict": "judging.judges",
    "WeightOnly": "lowering.fp8.scaling.recipes",
    "XlaModule": "xla.xla_module",
    "apply_checkpoint": "checkpoints.application",
    "cast": "compiling.native.cast",
    "checkpoint_of": "checkpoints.exporting",
    "clear_cache": "compiling.native.code_cache",
    "compare": "judging.judges",
    "compile": "compiling.compilation",
    "deserialize": "reading.artifact",
    "explain": "explaining.explain",
    "interpret": "judging.interpretation",
    "lint": "explaining.lint",
    "load": "reading.loader",
    "load_arrays": "tensors.array_files",
    "load_checkpoint": "checkpoints.reading",
    "minimum_version": "serialization.serialize",
    "pack_weights": "quantization",
    "quantize": "quantization",
    "reduce": "reduction.reduce",
    "register_custom_call": "compiling.custom_calls",
    "repeat_steps": "inference.repetition",
    "report": "reporting.report",
    "save_arrays": "tensors.array_files",
    "save_checkpoint": "checkpoints.writing",
    "serialize": "serialization.serialize",
}

__all__ = [
    "BlockScaling",
    "Calibration",
    "Checkpoint",
    "CompiledModule",
    "CurrentScaling",
    "DelayedScaling",
    "DetachedWarning",
    "DeviceArray",
    "Explanation",
    "F8Weight",
    "FormatTrial",
    "Fp8Error",
    "FutureArtifactError",
    "Int8Scaling",
    "InternalError",
    "LintWarning",
    "MXScaling",
    "NVFP4Scaling",
    "NewerFeaturesError",
    "Quantized",
    "Reduction",
    "Report",
    "ShardedModule",
    "SimulatedModule",
    "Smoothing",
    "StaticScaling",
    "Trial",
    "Verdict",
    "WeightOnly",
    "XlaModule",
    "apply_checkpoint",
    "cast",
    "checkpoint_of",
    "clear_cache",
    "compare",
    "compile",
    "deserialize",
    "explain",
    "interpret",
    "lint",
    "load",
    "load_arrays",
    "load_checkpoint",
    "minimum_version",
    "pack_weights",
    "quantize",
    "reduce",
    "register_custom_call",
    "repeat_steps",
    "report",
    "save_arrays",
    "save_checkpoint",
    "serialize",
]


def __dir__() -> list[str]:
    """The public names, asked for or not, for `dir` and tab completion; none of those used here."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


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
