"""What a run was made on."""

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.plan import all_cores

PACKAGES = ("mlir-fp8", "torch-mlir", "jaxlib", "llvmlite", "numpy", "ml_dtypes", "torch", "jax",
            "iree-base-compiler", "iree-base-runtime", "transformers", "torchao")  # fmt: skip
# Of the hundred that Linux lists, those that decide how fast numbers are.
_FEATURES = ("avx", "fma", "f16c", "amx", "bf16", "asimd", "sve", "i8mm")


def describe() -> dict[str, Any]:
    """The processor, memory, system, load and versions, as JSON holds them."""
    cpu = _cpu()
    flags = cpu.get("flags", cpu.get("Features", "")).split()
    return {
        "cpu": cpu.get("model name", platform.processor() or platform.machine()),
        "cores": all_cores(),
        "features": sorted(flag for flag in flags if any(part in flag for part in _FEATURES)),
        "memory GiB": round(_memory() / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load before": load(),
        "versions": {name: version(name) for name in PACKAGES},
    }


def load() -> float | None:
    """How many threads wanted to run, on average of the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def version(package: str) -> str | None:
    """None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> dict[str, str]:
    """Of the first core, as Linux tells it."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return {}
    first = file.read_text().split("\n\n")[0]
    lines = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _memory() -> int:
    if not hasattr(os, "sysconf"):
        return 0
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
