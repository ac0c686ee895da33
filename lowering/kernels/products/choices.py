"""Which kernel a product gets: the first row that fits, of the user's file or of the table."""

from fnmatch import fnmatchcase

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.byte_tile import flips
from mlir_fp8.lowering.kernels.products.choices_file import given_choices
from mlir_fp8.lowering.kernels.products.choices_table import PACKED, TABLE, Choice
from mlir_fp8.lowering.kernels.products.packed_form import packed_form
from mlir_fp8.lowering.kernels.products.panels import panels_of
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget


def choice_of(product: Contraction, target: KernelTarget) -> Choice:
    """The row of `product`, which is `oriented`."""
    operands, layout = _operands(product, target), _layout(product)
    m, n, k = (product.sizes[each] for each in (product.m, product.n, product.k))
    return next(
        row
        for row in (*given_choices(), *TABLE)
        if fnmatchcase(target.name, row.targets)
        and fnmatchcase(operands, row.operands)
        and fnmatchcase(layout, row.layout)
        and m <= row.most_rows
        and n * k >= row.least_right
        and not (row.kernel != PACKED and layout in ("other", "panels"))
    )


def _operands(product: Contraction, target: KernelTarget) -> str:
    form = packed_form(product, target)
    same = form == "i8" and flips((product.left.byte_extension, product.right.byte_extension))
    return "i8-same" if same else form


def _layout(product: Contraction) -> str:
    if panels_of(product) is not None:
        return "panels"
    if Reader(product.right, product.k, product.n).is_transposed:
        return "nk"
    return "kn" if product.out.strides[product.n] in (0, 1) else "other"
