"""The device that a module runs on, by the name that users give: `cpu`, `gpu`, `gpu:1`."""

import os
import re
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from mlir_fp8.base.errors import Fp8Error

OLDEST_JAX = (0, 10, 2)
"""What this was tried with; those before lack parts of it."""

_NAME = re.compile(r"(cpu|gpu)(?::(0|[1-9]\d*))?")
_PLUGINS = ("jax_cuda13_plugin", "jax_cuda12_plugin", "jax_rocm7_plugin", "jax_rocm60_plugin")


def check_device_name(name: Any) -> str:
    """`name`, unless it is none: an `Fp8Error` says so without importing jax."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Fp8Error(f"device is {name!r}: give 'cpu', 'gpu' or, of several, 'gpu:1'")
    return name


def find_device(name: str) -> Any:
    """The `jax.Device` of that name; an `Fp8Error` says what is missing where there is none."""
    found = _NAME.fullmatch(check_device_name(name))
    assert found is not None
    platform, number = found[1], int(found[2] or 0)
    jax = imported_jax()
    try:
        devices = jax.local_devices(backend=platform)
    except RuntimeError as error:
        raise Fp8Error(_missing(name, platform, str(error))) from None
    if number >= len(devices):
        known = ", ".join(f"{platform}:{each}" for each in range(len(devices)))
        raise Fp8Error(f"there is no {name}: jax has {known}")
    return devices[number]


def imported_jax() -> Any:
    """The module `jax`; an `Fp8Error` where it is missing or too old."""
    if find_spec("jax") is None:
        raise Fp8Error("jax is not installed: install mlir-fp8[xla], for GPUs jax[cuda13] too")
    version = metadata.version("jax")
    if tuple(int(part) for part in re.findall(r"\d+", version)[:3]) < OLDEST_JAX:
        oldest = ".".join(map(str, OLDEST_JAX))
        raise Fp8Error(f"jax {version} is too old: {oldest} or a newer one is needed")
    try:
        return import_module("jax")
    except (ImportError, RuntimeError) as error:  # of jaxlib, of another version or damaged
        raise Fp8Error(f"jax cannot be imported: {str(error).splitlines()[0]}") from None


def _missing(name: str, platform: str, reason: str) -> str:
    allowed = os.environ.get("JAX_PLATFORMS", "")
    if allowed and not {platform, "cuda", "rocm"}.intersection(allowed.split(",")):
        return f"there is no {name}: JAX_PLATFORMS={allowed} leaves it out"
    if platform == "gpu" and not any(find_spec(each) for each in _PLUGINS):
        return f"there is no {name}: this jax has no CUDA: pip install 'jax[cuda13]'"
    failure = _failure_of_plugin() or reason.splitlines()[0]
    return f"there is no {name}: {failure}"


def _failure_of_plugin() -> str | None:
    """Why CUDA did not start, such as a driver that is too old: jax only logs it."""
    errors = getattr(import_module("jax._src.xla_bridge"), "_backend_errors", {})
    text = next((str(errors[each]) for each in ("cuda", "rocm") if errors.get(each)), "")
    return text.strip().splitlines()[0] if text.strip() else None
