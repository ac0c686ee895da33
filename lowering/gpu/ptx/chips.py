"""The GPUs that PTX is made for; imports no MLIR, as `--help` needs them."""

from mlir_fp8.base.errors import Fp8Error

CHIPS = {"sm_89": "+ptx81", "sm_90a": "+ptx83", "sm_100": "+ptx86"}
"""Architectures with conversions of f8, and the oldest PTX that has them there,
on Hopper `tensormap.replace` too."""
DEFAULT_CHIP = "sm_90a"


def check_chip(chip: str) -> None:
    """Refuse what PTX with f8 is not made for."""
    if chip not in CHIPS:
        raise Fp8Error(f"'{chip}' is no chip of these kernels: it is one of {', '.join(CHIPS)}")
