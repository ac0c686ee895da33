"""How a conversion rounds what its target does not hold."""

from enum import StrEnum

from mlir_fp8.base.errors import Fp8Error


class RoundingMode(StrEnum):
    """Named as attributes of the `fp8` dialect spell it; options are spelled with dashes."""

    NEAREST_EVEN = "nearest_even"
    """To the nearest value, of two equally near ones to the one whose last bit is 0."""
    TOWARD_ZERO = "toward_zero"
    """To the nearest value that is not larger in magnitude: the largest one for any number beyond.
    """
    STOCHASTIC = "stochastic"
    """To either neighbour, to each the likelier the nearer it is."""

    @property
    def option(self) -> str:
        return self.value.replace("_", "-")


OPTIONS = tuple(mode.option for mode in RoundingMode)


def rounding_mode(option: str) -> RoundingMode:
    """The mode that an option names; an `Fp8Error` for any other text."""
    if option not in OPTIONS:
        raise Fp8Error(f"rounding '{option}' is not one of {', '.join(OPTIONS)}")
    return RoundingMode(option.replace("-", "_"))
