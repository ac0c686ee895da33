"""The limits of an interpreter run: element types and time."""

import numbers
import re

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

_INTEGER = re.compile(r"i1|u?i(?:2|4|8|16|32|64)")
_COMPLEX = frozenset({"complex<f32>", "complex<f64>"})
_DAY = 24 * 60 * 60


def check_seconds(what: str, seconds: float) -> None:
    """An error unless `seconds` is a positive number, up to a day; `what` is how it was given."""
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real):
        raise Fp8Error(f"{what} is a {type(seconds).__name__}: it must be a number of seconds")
    if seconds <= 0:
        raise Fp8Error(f"{what} is {_spell(seconds)}: it must be positive")
    if not seconds <= _DAY:  # NaN too
        raise Fp8Error(f"{what} is {_spell(seconds)}: it must be {_DAY} s at most, a day")


def _spell(seconds: float) -> str:
    return f"{seconds:g}" if isinstance(seconds, float) else str(seconds)


def check_element_type(what: str, type_: ir.Type) -> None:
    """An `Fp8Error` for an element type on which the interpreter would abort."""
    if not isinstance(type_, ir.RankedTensorType | ir.UnrankedTensorType):
        return
    element = str(type_.element_type)
    is_known = element in FORMATS or element in _COMPLEX or _INTEGER.fullmatch(element)
    if not is_known and not element.startswith("!quant."):
        raise Fp8Error(
            f"{what} is {type_}: the interpreter knows no {element}, convert it to a StableHLO type"
        )
