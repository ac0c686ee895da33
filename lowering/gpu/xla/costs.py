"""The table by which a kernel is put in, or left to XLA: times measured on the card, per target.

Times follow from bytes and rates, or from products that were timed; what is not known leaves the op
to XLA. `fp8-tune` writes such a table.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.xla.forms import check_form
from mlir_fp8.lowering.gpu.xla.times import Timed, is_positive, nearest

TARGETS = ("h100", "h200")
_TABLES = Path(__file__).parent / "tables"
_NOISE = 1.02
"""By how much a product has to be faster: two runs differ by as much."""


@dataclass(frozen=True)
class Costs:
    """A card: rates in GB/s of what is read and written, and what a launch takes, in us."""

    device: str
    chip: str
    copy: float
    quantize_transpose_by_xla: float
    """Codes, their transpose, and amax."""
    transposed_by_xla: float
    """Transposed codes alone, and amax."""
    quantize_transpose: float | None = None
    """The kernel of that name, where rows and columns are multiples of 16."""
    quantize_transpose_by_8: float | None = None
    """Where they are multiples of 8 alone."""
    quantize_transpose_of_any: float | None = None
    """Of other sizes."""
    rows_by_xla: float | None = None
    quantize_rows: float | None = None
    groups_by_xla: float | None = None
    quantize_groups: float | None = None
    attention: float | None = None
    """Of that kernel, in TFLOP/s of its two products."""
    attention_by_xla: float | None = None
    launch: float = 2.5
    times: tuple[Timed, ...] = ()
    """Of products."""

    def check(self) -> None:
        """Raise `ValueError` where a number is none of a card."""
        for name, value in vars(self).items():
            is_text = name in ("device", "chip")
            if is_text and not isinstance(value, str):
                raise ValueError(f"{name} is {value!r}")
            if is_text or name == "times" or (value is None and name in _OPTIONAL):
                continue
            if not is_positive(value):
                raise ValueError(f"{name} is {value!r}")
        for each in self.times:
            each.check()


_OPTIONAL = {each.name for each in dataclasses.fields(Costs) if each.default is None}


def costs_of(target: str) -> Costs:
    """The table of one of `TARGETS`, or that in the file `target`, whose name ends in `.json`."""
    if target in TARGETS:
        return _read(_TABLES / f"{target}.json")
    if not target.endswith(".json"):
        listed = ", ".join(TARGETS)
        raise Fp8Error(f"option 'target' is one of {listed}, or a table's .json, not '{target}'")
    return _read(Path(target))


def _read(file: Path) -> Costs:
    try:
        content = json.loads(file.read_text())
        return costs_from(content)
    except OSError as error:
        raise Fp8Error(f"{file}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Fp8Error(f"{file}: no table of costs, write one by fp8-tune ({error})") from error


def costs_from(content: dict[str, Any]) -> Costs:
    """What a table's JSON says; raises what Python does where it says something else."""
    times = [Timed(**{**each, "form": tuple(each["form"])}) for each in content["times"]]
    costs = Costs(**{**content, "times": tuple(times)})
    costs.check()
    for number, each in enumerate(costs.times):
        try:
            check_form(each)
        except Fp8Error as error:
            raise ValueError(f"times[{number}] of {each.kernel}: {error}") from error
    return costs


def text_of(costs: Costs) -> str:
    """The JSON of a table, a line for each product."""
    content = dataclasses.asdict(costs)
    lines = [json.dumps(each) for each in content.pop("times")]
    head = json.dumps(content, indent=1).removesuffix("\n}")
    listed = ",\n".join(f"  {line}" for line in lines)
    return f'{head},\n "times": [\n{listed}\n ]\n}}\n'


@dataclass(frozen=True)
class Verdict:
    """Times in us by the table, of a kernel and of XLA; or why they are not known.

    Or why there is nothing but the kernel.
    """

    kernel: float = 0.0
    xla: float = 0.0
    unknown: str = ""
    alone: str = ""

    @property
    def wins(self) -> bool:
        return bool(self.alone) or (not self.unknown and self.kernel < self.xla)

    def __str__(self) -> str:
        if self.alone or self.unknown:
            return self.alone or self.unknown
        return f"{self.kernel:.1f} us by the table, {self.xla:.1f} by XLA"


def transpose_verdict(
    costs: Costs,
    rows: int,
    columns: int,
    size: int,
    *,
    plain: bool,
    made_for_it: bool,
    moved: bool = False,
) -> Verdict:
    """Of a tensor whose elements have `size` bytes.

    `made_for_it`: XLA would never write it; `moved`: XLA transposes it instead of its codes.
    """
    if rows % 16 == columns % 16 == 0:
        rate = costs.quantize_transpose
    elif rows % 8 == columns % 8 == 0:
        rate = costs.quantize_transpose_by_8
    else:
        rate = costs.quantize_transpose_of_any
    if rate is None:
        return Verdict(unknown="no time of the kernel is known")
    elements = rows * columns
    read = elements * size
    kernel = _us(read + (2 if plain else 1) * elements, rate)
    if moved:
        kernel += _us(2 * read, costs.copy) + costs.launch
    elif made_for_it:
        kernel += _us(read, costs.copy)
    xla = (
        _us(read + 2 * elements, costs.quantize_transpose_by_xla)
        if plain
        else _us(read + elements, costs.transposed_by_xla)
    )
    return Verdict(kernel + costs.launch, xla + 2 * costs.launch)


def product_verdict(
    costs: Costs, kernel: str, kind: str, size: tuple[int, int, int], behind: int = 0
) -> tuple[Verdict, Timed | None]:
    """Of a product of m x k by k x n, and the timed one that says so.

    `behind` are the bytes that XLA moves for what the kernel computes beside it.
    """
    found = nearest(costs.times, kernel, kind, size)
    if found is None:
        return Verdict(unknown="no time of a product like it is known"), None
    own, xla = found.scaled(*size)
    more = _us(behind, costs.copy) + costs.launch if behind else 0.0
    return Verdict(own * _NOISE, xla + more), found


def rates_verdict(kernel: float | None, xla: float | None, costs: Costs, bytes_: int) -> Verdict:
    """Of what reads and writes so many bytes, by the rates of a kernel and of XLA."""
    if kernel is None or xla is None:
        return Verdict(unknown="no time of the kernel is known")
    return Verdict(_us(bytes_, kernel) + costs.launch, _us(bytes_, xla) + costs.launch)


def _us(bytes_: int, rate: float) -> float:
    return bytes_ / rate / 1e3
