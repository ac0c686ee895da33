"""What is asked for: which collectives travel in FP8, and with which scales."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

SCALES = ("tensor", "row", "shard")


@dataclass(frozen=True)
class WireOptions:
    """`scales`: one for the tensor of all devices of a group, one for each row of numbers, or one
    for what each device holds. `forward` and `backward` are formats, the latter of what JAX names
    the transpose of a program. What a device sends for less than `min_bytes` stays as it is.

    `as_bits`: codes travel as ui8, which no backend widens. `error_feedback`: what rounding loses
    of a sum's terms is added to those of the next step.
    """

    scales: str = "tensor"
    forward: str = "f8E4M3FN"
    backward: str = "f8E5M2"
    min_bytes: int = 0
    as_bits: bool = False
    error_feedback: bool = False
    power_of_two: bool = False

    def __post_init__(self) -> None:
        if self.scales not in SCALES:
            raise Fp8Error(
                f"'{self.scales}' is no kind of scales: it is one of {', '.join(SCALES)}"
            )
        known = [name for name, fmt in FORMATS.items() if fmt.bits == 8 and fmt.signed]
        for which in ("forward", "backward"):
            if getattr(self, which) not in known:
                name = getattr(self, which)
                raise Fp8Error(f"'{name}' is no {which} format: it is one of {', '.join(known)}")
        if self.min_bytes < 0:
            raise Fp8Error(f"min-bytes is {self.min_bytes}: it is a number, 0 or more")
