"""The GPU and the CUDA version that a target is asked about."""

import re
from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error

_NUMBER = re.compile(r"(\d{1,3})\.(\d{1,3})")
_AMD = re.compile(r"gfx(\d{3,4}[0-9a-f]?)")
_FNUZ = frozenset({"gfx942"})
_OCP = frozenset({"gfx950", "gfx1200", "gfx1201", "gfx1250"})


@dataclass(frozen=True)
class Device:
    """An NVIDIA GPU by its compute capability, or an AMD GPU by its architecture.

    Ada is 8.9, Hopper 9.0, Blackwell 10.0 and 12.0; of AMD's, gfx942 has the FNUZ formats, gfx950
    and gfx12 have E4M3FN and E5M2 (`scaled_mm_arch_allowed` in pytorch's ScaledBlasDeviceUtils.cpp,
    `has_nanoo_fp8_support` and `has_ocp_fp8_support` in XLA's device_description).
    """

    capability: tuple[int, int] = (9, 0)
    amd: str | None = None
    cuda: tuple[int, int] = (12, 9)

    @property
    def is_blackwell(self) -> bool:
        return self.amd is None and self.capability >= (10, 0)

    @property
    def formats(self) -> tuple[str, ...]:
        """The FP8 formats that its matrix units multiply; none where it has no such units."""
        if self.amd is not None:
            formats = ("f8E4M3FNUZ", "f8E5M2FNUZ") if self.amd in _FNUZ else ("f8E4M3FN", "f8E5M2")
            return formats if self.amd in _FNUZ | _OCP else ()
        return ("f8E4M3FN", "f8E5M2") if self.capability >= (8, 9) else ()

    @property
    def name(self) -> str:
        return self.amd or f"compute capability {self.capability[0]}.{self.capability[1]}"


def parse_device(capability: str = "9.0", cuda: str = "12.9") -> Device:
    """The device of `9.0` or `gfx942`; raises `Fp8Error` for what is neither."""
    version = _NUMBER.fullmatch(cuda)
    if version is None:
        raise Fp8Error(f"'{cuda}' is no CUDA version: write it as 12.4")
    numbers = (int(version[1]), int(version[2]))
    if _AMD.fullmatch(capability):
        return Device(amd=capability, cuda=numbers)
    match = _NUMBER.fullmatch(capability)
    if match is None:
        raise Fp8Error(f"'{capability}' is no compute capability: write it as 9.0, or as gfx942")
    return Device((int(match[1]), int(match[2])), cuda=numbers)
