"""What is asked for: which collectives travel in FP8, and with which scales."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaling.block_recipes import check_word
from mlir_fp8.lowering.fp8.scaling.recipes import check_format

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
        check_word("kind of scales", self.scales, SCALES)
        check_format("forward", self.forward)
        check_format("backward", self.backward)
        if self.min_bytes < 0:
            raise Fp8Error(f"min-bytes is {self.min_bytes}: it is a number, 0 or more")
