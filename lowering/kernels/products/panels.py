"""Right operands that lie in memory in the panels that a register tile reads: packed weights."""

from dataclasses import dataclass, replace

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.amx_tile import SIDE
from mlir_fp8.lowering.kernels.products.choices_table import packed_row
from mlir_fp8.lowering.kernels.products.packed_form import UNITS, packed_form
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_FORMS = ("f32", "bf16")
DEPTH_UNIT = 32
"""What the sum of a packed weight is a multiple of, so that no tile needs zeros beyond it."""


@dataclass(frozen=True)
class Panels:
    """Panels of `width` columns, of `unit` elements of the sum side by side, one after the other.

    Element (k, n) is at `stride * (n / width) + width * unit * (k / unit) + unit * (n % width) +
    k % unit` of the leaf with the number `leaf`.
    """

    leaf: int
    width: int
    unit: int
    stride: int

    def lines(self, product: Contraction) -> Reader:
        """A reader of one panel, from its begin on, along the sum; all other leaves as they are."""
        return Reader(self._flat(product, self.width * self.unit), product.k, product.n)

    def line(self, product: Contraction) -> Reader:
        """A reader of one panel as a single line."""
        return Reader(self._flat(product, 0), product.k, product.n)

    def _flat(self, product: Contraction, step: int) -> Expression:
        leaves = 0
        sources = dict(product.right.sources)
        for key, source in sources.items():
            if isinstance(source, Leaf):
                if leaves == self.leaf:
                    strides = [*source.strides]
                    strides[product.k], strides[product.n] = step, 1
                    sources[key] = replace(source, strides=tuple(strides), groups=(), steps=())
                leaves += 1
        return replace(product.right, sources=sources)


def panel_size(target: KernelTarget, form: str) -> tuple[int, int] | None:
    """The width and the unit of panels of a `packed_form`; None where kernels read no panels."""
    if form not in _FORMS:
        return None
    if target.tiles and form == "bf16":
        return SIDE, UNITS[form]
    tile = packed_row(target.name, form).tile
    vectors = target.vectors if tile is None else tile[1]
    return target.lanes * vectors, UNITS[form]


def panels_of(product: Contraction) -> Panels | None:
    """The panels that the right operand is in; None where it, or the left one, is in others."""
    if any(leaf.steps for leaf in product.left.leaves):
        return None
    k, n = product.k, product.n
    found = [(i, leaf) for i, leaf in enumerate(product.right.leaves) if leaf.steps]
    if len(found) != 1:
        return None
    ((number, leaf),) = found
    width, unit = leaf.group(n), leaf.step(n)
    units = leaf.group(k) if leaf.group(k) > 1 else 1
    is_inside = unit == units and (unit == 1 or leaf.step(k) == 1)
    if not is_inside or unit not in UNITS.values() or leaf.strides[k] != width * unit:
        return None
    return Panels(number, width, unit, leaf.strides[n])


def fits(product: Contraction, target: KernelTarget) -> bool:
    """Whether the right operand is in panels of the register tile of `target`."""
    panels, form = panels_of(product), packed_form(product, target)
    if panels is None or form not in _FORMS or panels.width != target.columns:
        return False
    sizes = product.sizes
    is_contiguous = product.out.strides[product.n] == 1
    return panels.unit == UNITS[form] and sizes[product.k] % DEPTH_UNIT == 0 and is_contiguous


def lies_packed(product: Contraction, target: KernelTarget) -> bool:
    """Whether what `fits` is what the tile multiplies, so that nothing is computed of it."""
    if packed_form(product, target) == "bf16":
        return product.right.reads_bf16
    return product.right.reads_f32


def decoded_in_place(product: Contraction, target: KernelTarget) -> bool:
    """Whether the register tile makes f32 of what `fits`: codes and bf16, where it has all rows.

    For more rows a panel is decoded before, once for all of them.
    """
    if packed_form(product, target) != "f32" or product.sizes[product.m] > target.rows:
        return False
    return product.right.reads_bf16 or (
        product.right.decoded_format() is not None and len(product.right.leaves) == 1
    )
