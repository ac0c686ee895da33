"""Who reads which StableHLO version: releases that docs/compatibility.md has tried, as targets."""

import re

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.stablehlo_versions import version_key

_VERSION = re.compile(r"\d+(\.\d+)*")
# fmt: off
CONSUMERS: dict[str, dict[str, str]] = {
    "jaxlib": {
        "0.4.13": "0.13.4", "0.4.18": "0.14.23", "0.4.19": "0.14.26", "0.4.20": "0.14.27",
        "0.4.21": "0.15.5", "0.4.22": "0.16.1", "0.4.23": "0.16.1", "0.4.24": "0.17.6",
        "0.4.25": "0.18.2", "0.4.26": "0.19.4", "0.4.27": "0.19.9", "0.4.28": "0.19.10",
        "0.4.29": "1.1.2", "0.4.30": "1.1.3", "0.4.31": "1.4.2", "0.4.33": "1.7.1",
        "0.4.34": "1.7.5", "0.4.35": "1.7.8", "0.4.36": "1.8.5", "0.4.38": "1.8.7",
        "0.5.0": "1.8.9", "0.5.1": "1.9.3", "0.5.3": "1.10.0", "0.6.0": "1.10.4",
        "0.6.1": "1.10.9", "0.6.2": "1.11.0", "0.7.0": "1.12.1", "0.7.1": "1.13.0",
        "0.7.2": "1.13.0", "0.8.0": "1.13.1", "0.8.1": "1.13.3", "0.8.2": "1.13.5",
        "0.8.3": "1.13.5", "0.9.0": "1.13.7", "0.9.0.1": "1.13.7", "0.9.1": "1.13.8",
        "0.9.2": "1.14.0", "0.10.0": "1.16.0", "0.10.1": "1.17.0", "0.10.2": "1.17.0",
        "0.11.0": "1.18.0", "0.11.1": "1.19.0", "0.11.2": "1.20.0", "0.12.0": "1.22.0",
        "0.12.0.1": "1.22.0",
    },
    "torch-mlir": {"20261001": "1.19.0"},
}
# fmt: on
"""By name and release: the StableHLO version that it holds, the newest that it is sure to read."""

# Those that lose batching dimensions of gather, which older versions write without them.
_WRITTEN_OLDER = {("jaxlib", "0.4.29"): "1.0.0", ("jaxlib", "0.4.30"): "1.0.0"}


def consumer_version(target: str, newest: str) -> str | None:
    """The version to write for a consumer such as `jaxlib-0.10.2`, at most `newest`.

    None if `target` names no consumer. A release that nobody tried is an `Fp8Error`, which names
    the newest that it may mean (`0.10` is 0.10.2), else the nearest before it.
    """
    name, _, release = target.lower().rpartition("-")
    releases = CONSUMERS.get(name)
    if releases is None:
        return None
    held = releases.get(release)
    if held is None and not _VERSION.fullmatch(release):
        known = f"{name}-{list(releases)[-1]}"
        raise Fp8Error(f"target {target}: '{release}' is no release of {name}: write {known}, say")
    if held is None:
        nearest = _nearest(release, list(releases))
        raise Fp8Error(
            f"target {target}: {name} {release} was not tried: the nearest that was is "
            f"{name}-{nearest}, which reads up to StableHLO {releases[nearest]}"
        )
    version = _WRITTEN_OLDER.get((name, release), held)
    return min(version, newest, key=version_key)


def _nearest(release: str, known: list[str]) -> str:
    """The newest of `known`, oldest first, that is of `release` or before it; else the oldest."""
    key = version_key(release)
    return next(
        (
            each
            for each in reversed(known)
            if each.startswith(f"{release}.") or version_key(each) <= key
        ),
        known[0],
    )
