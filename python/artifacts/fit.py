"""Which StableHLO version fits a module, and why another does not.

The table answers (`versions.py`); only what it does not know is found by trying to write.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from mlir_fp8.artifacts.features import Feature, NewerFeaturesError
from mlir_fp8.artifacts.targets import (
    current_version,
    is_auto,
    oldest_version,
    resolve_target,
    writable_versions,
)
from mlir_fp8.artifacts.versions import Survey
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.stablehlo_versions import OPS, TABLE_VERSION, version_key

# How the writer refuses an op: see `portable.py`.
_REFUSED_OP = re.compile(r"(.+): '(\S+)' in this form is newer than StableHLO")
# What the writer gives an older form of the same meaning, and so must be asked about.
_EXPANDED = (
    "stablehlo.tan",
    "batching dimensions of gather",
    "batching dimensions of scatter",
)


@dataclass(frozen=True)
class Fit:
    """A module's needs, held against versions."""

    found: Survey
    name: str
    """What errors call the module."""
    allow_other_dialects: bool
    """Whether ops that are not StableHLO may be written."""
    attempt: Callable[[str], Fp8Error | None]
    """Try to write the module as it is for a version; what the library says against it."""

    def version(self, target: str) -> str:
        """The version that `target` stands for, here."""
        return self.minimum() if is_auto(target) else resolve_target(target)

    def minimum(self) -> str:
        """The oldest version that holds the module as it is."""
        self.refuse_untouchable()
        by_table = max(self.found.version, oldest_version(), key=version_key)
        is_complete = version_key(current_version()) <= version_key(TABLE_VERSION)
        if is_complete and not self.found.unknown:
            return by_table
        return self._by_trial(by_table)

    def refuse_untouchable(self) -> None:
        """Refuse what must not reach the library: it crashes on it, or its result is unknown."""
        foreign = [] if self.allow_other_dialects else self.found.foreign
        for reason in (*self.found.refusals, *foreign):
            raise Fp8Error(reason)

    def refuse_newer(self, version: str) -> None:
        """Refuse a module that `version` cannot hold in any form, as far as the table knows."""
        newer = self.found.newer_than(version)
        if any(feature.name not in _EXPANDED for feature in newer):
            raise NewerFeaturesError(self.name, version, self.minimum(), newer)

    def takes_composites(self, version: str, *, emulate: bool) -> bool:
        """Whether `version` holds composites; not if they have types that are to be emulated."""
        newer = self.found.newer_than(version) if emulate else []
        has_composites = version_key(version) >= version_key(OPS["stablehlo.composite"])
        return has_composites and not any(feature.kind == "type" for feature in newer)

    def has_older_form(self, version: str) -> bool:
        """Whether the module may have a form that is old enough for `version`."""
        return any(feature.name in _EXPANDED for feature in self.found.newer_than(version))

    def explain(self, refusal: Fp8Error, version: str) -> Fp8Error:
        """What the writer's `refusal` of `version` comes from."""
        if version == current_version():
            return Fp8Error(self.found.unknown[0]) if self.found.unknown else refusal
        try:
            minimum = self.minimum()
        except Fp8Error as error:
            return error
        features = self.found.newer_than(version)
        if not features:
            if minimum == version:  # no question of versions
                minimum = self._by_trial(version)
            op = _REFUSED_OP.match(str(refusal))
            if op is None:
                return refusal
            features = [Feature("op", f"stablehlo.{op[2]}", minimum, 1, op[1])]
        return NewerFeaturesError(self.name, version, minimum, features)

    def _by_trial(self, lowest: str) -> str:
        """The oldest version from `lowest` on that the library writes, by bisection."""
        versions = [v for v in writable_versions() if version_key(v) >= version_key(lowest)]
        low, high = 0, len(versions) - 1
        refusal = self.attempt(versions[high])
        if refusal is not None:
            raise self.explain(refusal, current_version())
        while low < high:
            middle = (low + high) // 2
            if self.attempt(versions[middle]) is None:
                high = middle
            else:
                low = middle + 1
        return versions[low]
