"""The StableHLO versions that an artifact can be written for, and the names that they have."""

import re

from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.artifacts.consumers import consumer_version
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.stablehlo_versions import releases, version_key

_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
# Upstream's names for how old a consumer may be: 4 weeks, 12 weeks, as old as can be.
_REQUIREMENTS = ("WEEK_4", "WEEK_12", "MAX")

AUTO = "auto"
"""The target that is the oldest version which holds the module at hand."""

TARGET_NAMES = ("current", "minimum", AUTO, *_REQUIREMENTS)
"""The targets that have names, in the spelling that messages use; any case is understood."""


def current_version() -> str:
    """The StableHLO version of the library, the newest that can be written."""
    return _stablehlo.get_current_version()


def oldest_version() -> str:
    """The oldest StableHLO version that can be written or read."""
    return _stablehlo.get_minimum_version()


def writable_versions() -> list[str]:
    """Every version that introduced something and can be written, the oldest first."""
    return releases(oldest_version(), current_version())


def is_auto(target: str) -> bool:
    """Whether `target` depends on the module."""
    return target.lower() == AUTO


def resolve_target(target: str) -> str:
    """The version that `target`, any but `auto`, stands for."""
    lowered = target.lower()
    if lowered == "current":
        return current_version()
    if lowered == "minimum":
        return oldest_version()
    for name in _REQUIREMENTS:
        if lowered == name.lower():
            requirement = getattr(_stablehlo.StablehloCompatibilityRequirement, name)
            return _stablehlo.get_version_from_compatibility_requirement(requirement)
    version = consumer_version(target, current_version())
    if version is not None:
        return version
    if not _VERSION.fullmatch(target):
        raise Fp8Error(
            f"target '{target}' is not a version x.y.z, nor {_listed(TARGET_NAMES)}, nor a "
            "consumer such as 'jaxlib-0.10.2'"
        )
    if not version_key(oldest_version()) <= version_key(target) <= version_key(current_version()):
        raise Fp8Error(
            f"target {target} is out of reach: "
            f"StableHLO {oldest_version()} to {current_version()} can be written"
        )
    return target


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
