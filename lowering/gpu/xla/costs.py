"""The table by which a kernel is put in, or left to XLA: times measured on the card, per target.

Times follow from bytes and rates; a rate that is not known leaves the op to XLA.
"""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error


@dataclass(frozen=True)
class Costs:
    """A card: rates in GB/s of what is read and written, and what a launch takes, in us."""

    chip: str
    copy: float
    quantize_by_xla: float
    """Codes and amax, one kernel."""
    transpose_by_xla: float
    """f8 codes to their transpose."""
    quantize_transpose: float | None
    """The kernel of that name, where rows and columns are multiples of 16."""
    quantize_transpose_by_8: float | None
    """Where they are multiples of 8 alone."""
    quantize_transpose_of_any: float | None
    """Of other sizes."""
    rows_by_xla: float | None
    quantize_rows: float | None
    groups_by_xla: float | None
    quantize_groups: float | None
    product: float | None = None
    """Of the kernel of that name, in TFLOP/s; of large matrices, as all of these."""
    product_exact: float | None = None
    """With sums in f32."""
    product_by_xla: float | None = None
    """Of cuBLASLt; the epilogue apart."""
    few_rows: float | None = None
    """Of that kernel, in GB/s, as of quantizations: of weights, rows and results."""
    few_rows_by_xla: float | None = None
    attention: float | None = None
    """Of that kernel, in TFLOP/s of its two products."""
    attention_by_xla: float | None = None
    launch: float = 2.5


TARGETS = {
    "h100": Costs(
        # Of the H200's rates the share that its memory has, 3.35 of 4.8 TB/s.
        chip="sm_90a",
        copy=2820.0,
        quantize_by_xla=2090.0,
        transpose_by_xla=860.0,
        quantize_transpose=2610.0,
        quantize_transpose_by_8=1590.0,
        quantize_transpose_of_any=320.0,
        rows_by_xla=1090.0,
        quantize_rows=2740.0,
        groups_by_xla=1080.0,
        quantize_groups=2740.0,
    ),
    "h200": Costs(
        # 8192x8192 bf16, jax 0.11.2: copied at 4.04 TB/s; codes and amax by XLA 67 us on average,
        # their transpose 109 us more, `quantize_transpose` 71.8 us for both (118 us at 8200x8200,
        # 581 at 8191x8191, where XLA takes 237); scales of rows and of groups 129 and 130 us by
        # XLA, 51.3 us by the kernels.
        chip="sm_90a",
        copy=4040.0,
        quantize_by_xla=3000.0,
        transpose_by_xla=1230.0,
        quantize_transpose=3740.0,
        quantize_transpose_by_8=2280.0,
        quantize_transpose_of_any=460.0,
        rows_by_xla=1560.0,
        quantize_rows=3920.0,
        groups_by_xla=1550.0,
        quantize_groups=3920.0,
    ),
}


def costs_of(target: str) -> Costs:
    if target not in TARGETS:
        raise Fp8Error(f"option 'target' is one of {', '.join(TARGETS)}, not '{target}'")
    return TARGETS[target]


@dataclass(frozen=True)
class Verdict:
    """Times in us by the table, of a kernel and of XLA; or why they are not known."""

    kernel: float = 0.0
    xla: float = 0.0
    unknown: str = ""

    @property
    def wins(self) -> bool:
        return not self.unknown and self.kernel < self.xla

    def __str__(self) -> str:
        if self.unknown:
            return self.unknown
        return f"{self.kernel:.1f} us by the table, {self.xla:.1f} by XLA"


def transpose_verdict(
    costs: Costs, rows: int, columns: int, size: int, *, plain: bool, made_for_it: bool
) -> Verdict:
    """Of a tensor whose elements have `size` bytes; `made_for_it`: XLA would never write it."""
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
    if made_for_it:
        kernel += _us(read, costs.copy)
    xla = _us(read + elements, costs.quantize_by_xla) + _us(2 * elements, costs.transpose_by_xla)
    return Verdict(kernel + costs.launch, xla + 2 * costs.launch)


def product_verdict(costs: Costs, m: int, n: int, k: int, *, exact: bool) -> Verdict:
    """Of an m x k matrix by one of k x n."""
    kernel, xla = costs.product_exact if exact else costs.product, costs.product_by_xla
    if kernel is None or xla is None:
        return Verdict(unknown="no time of the kernel is known")
    millions = 2 * m * n * k / 1e6
    return Verdict(millions / kernel + costs.launch, millions / xla + costs.launch)


def rates_verdict(kernel: float | None, xla: float | None, costs: Costs, bytes_: int) -> Verdict:
    """Of what reads and writes so many bytes, by the rates of a kernel and of XLA."""
    if kernel is None or xla is None:
        return Verdict(unknown="no time of the kernel is known")
    return Verdict(_us(bytes_, kernel) + costs.launch, _us(bytes_, xla) + costs.launch)


def _us(bytes_: int, rate: float) -> float:
    return bytes_ / rate / 1e3
