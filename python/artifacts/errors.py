"""What is said of an artifact that could not be written or read."""

import re

from torch_mlir import ir

from mlir_fp8.artifacts.features import FutureArtifactError
from mlir_fp8.artifacts.targets import current_version
from mlir_fp8.base.context import format_location
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError
from mlir_fp8.base.source_place import split_place
from mlir_fp8.dialects.stablehlo_versions import version_key

_ILLEGAL = re.compile(
    r"(?P<place>.*?): (?:error: )?failed to legalize operation 'vhlo\.(?P<op>\w+?)(?:_v\d+)?'"
)


def writing_error(error: ir.MLIRError, version: str, name: str) -> Fp8Error:
    """Why StableHLO `version` cannot hold the module that `name` stands for."""
    first = error.error_diagnostics[0] if error.error_diagnostics else None
    reason = f"{format_location(first.location)}: {first.message}" if first else str(error)
    reason = reason.splitlines()[0]
    illegal = _ILLEGAL.match(reason)
    if illegal is None:
        return Fp8Error(f"{name}: StableHLO {version} cannot hold it: {reason}")
    place = illegal["place"]
    place = name + place[1:] if place.startswith("-:") else place
    return Fp8Error(
        f"{place}: '{illegal['op']}' in this form is newer than StableHLO {version}: "
        "use a later target"
    )


def reading_error(error: Fp8Error, version: str, name: str) -> Fp8Error:
    """What to say of an artifact for StableHLO `version` that could not be read."""
    reason = f"damaged: {error}" if isinstance(error, CrashError) else str(error)
    reason = reason.removeprefix(f"{name}: ")
    place, rest = split_place(reason)
    if place is not None:  # in the source that the artifact was made from: not what a tool reads
        reason = f"{rest.removeprefix('error: ')}, from {place}"
    if version_key(version) > version_key(current_version()):
        return FutureArtifactError(name, version, current_version(), reason)
    advice = f"an artifact of StableHLO {version}, read by {current_version()}"
    return Fp8Error(f"{name}: {reason} ({advice})")
