"""All samples, and the classes of element types that the table has columns for."""

from collections.abc import Sequence

from samples import COMPLEX, FLOATS, INTEGERS, UNSIGNED, Sample
from samples_algebra import ALGEBRA
from samples_chlo import CHLO
from samples_collective import COLLECTIVE
from samples_control import CONTROL
from samples_dynamic import DYNAMIC
from samples_elementwise import ELEMENTWISE
from samples_movement import SHAPED
from samples_products import PRODUCTS
from samples_reductions import REDUCTIONS

from mlir_fp8.dialects.float_formats import FORMATS

SAMPLES: tuple[Sample, ...] = (
    *ELEMENTWISE,
    *SHAPED,
    *REDUCTIONS,
    *PRODUCTS,
    *CONTROL,
    *ALGEBRA,
    *DYNAMIC,
    *COLLECTIVE,
    *CHLO,
)

OTHER = "other"


def _class_of_float(element: str) -> str:
    fmt = FORMATS[element]
    if element == "f8E8M0FNU" or not fmt.is_small:
        return "bf16, f16" if element in ("bf16", "f16") else element
    return "f4, f6" if fmt.bits < 8 else "f8"


_CLASSES = {
    "i1": "i1",
    **dict.fromkeys(INTEGERS, "signed"),
    **dict.fromkeys(UNSIGNED, "unsigned"),
    **{element: _class_of_float(element) for element in FLOATS},
    **dict.fromkeys(COMPLEX, "complex"),
}
CLASSES = (*dict.fromkeys(_CLASSES.values()), OTHER)
"""The columns of the table, in order."""


def class_of(element: str) -> str:
    """The class of an element type; `other` for programs whose types are fixed."""
    return _CLASSES.get(element, OTHER)


def elements_of(name: str) -> Sequence[str]:
    """The element types of a class."""
    return [element for element, its in _CLASSES.items() if its == name] or [""]


def key(sample: Sample) -> str:
    """What names a sample: its op and its form."""
    return f"{sample.op} {sample.form}".strip()
