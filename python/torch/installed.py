"""Checks that PyTorch is installed and new enough, with a one-line error, before it is used."""

import re
from importlib.metadata import PackageNotFoundError, version

from mlir_fp8.base.errors import Fp8Error

_OLDEST = (2, 8)


def check_torch() -> None:
    """Raise `Fp8Error` where PyTorch is missing or older than 2.8."""
    way_out = "pip install 'mlir-fp8[torch]'"
    try:
        found = version("torch")
    except PackageNotFoundError:
        raise Fp8Error(f"mlir_fp8.torch needs PyTorch: {way_out}") from None
    if release(found) < _OLDEST:
        raise Fp8Error(f"mlir_fp8.torch needs PyTorch 2.8 or newer, not {found}: {way_out}")


def release(text: str) -> tuple[int, int]:
    """Major and minor number of a version such as `2.13.0+cpu`."""
    major, minor = re.findall(r"\d+", text)[:2]
    return int(major), int(minor)
