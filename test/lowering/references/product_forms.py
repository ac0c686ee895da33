"""The forms of dot_general, convolution and einsum that are tried with every type of operands."""

from collections.abc import Callable, Sequence

import numpy as np
from convolution_reference import Convolution
from product_cases import Elements, Product, exact_type, operand

PLAIN_DOTS = [("a,a->", (7,), (7,)), ("ab,b->a", (3, 4), (4,)), ("ab,bc->ac", (3, 4), (4, 5))]
DOTS = {  # result and operands as einsum has them: shared labels of the result are batch dimensions
    "matmul": ("ab,bc->ac", (3, 4), (4, 5)),
    "one row": ("ab,bc->ac", (1, 4), (4, 5)),
    "transposed": ("ba,cb->ac", (4, 3), (5, 4)),
    "vectors": ("a,a->", (7,), (7,)),
    "outer": ("a,b->ab", (2,), (3,)),
    "scalars": (",->", (), ()),
    "batch": ("xab,xbc->xac", (2, 3, 4), (2, 4, 5)),
    "batch dims anywhere": ("axby,byxc->xyac", (3, 2, 4, 2), (4, 2, 2, 3)),
    "batch of matrices by vectors": ("xakb,xk->xab", (2, 3, 4, 2), (2, 4)),
    "batch of vectors by matrices": ("xk,xakb->xab", (2, 4), (2, 3, 4, 2)),
    "only batch": ("xy,yx->xy", (2, 3), (3, 2)),
    "two contracted": ("aij,jci->ac", (2, 3, 4), (4, 5, 3)),
    "all contracted": ("ij,ji->", (3, 4), (4, 3)),
    "nothing to sum": ("ab,bc->ac", (2, 0), (0, 3)),
    "nothing to sum, batched": ("xab,bcx->xac", (2, 2, 0), (0, 3, 2)),
    "no rows": ("ab,bc->ac", (0, 4), (4, 3)),
}
CONVOLUTIONS = [
    Convolution("1-D", (2, 7, 3), (3, 3, 4), ("b0f", "0io", "b0f")),
    Convolution("permuted", (3, 2, 7), (4, 3, 3), ("fb0", "oi0", "0fb")),
    Convolution("0-D", (2, 3), (3, 4), ("bf", "io", "bf")),
    Convolution(
        "grouped, strided, padded", (1, 6, 5, 4), (3, 2, 2, 6), ("b01f", "01io", "b01f"),
        stride=(2, 1), padding=((1, 0), (0, 1)), feature_groups=2,
    ),
    Convolution(
        "depthwise, dilated, reversed", (4, 2, 5), (8, 1, 2), ("fb0", "oi0", "bf0"),
        lhs_dilation=(2,), rhs_dilation=(2,), reversal=(True,), feature_groups=4,
    ),
    Convolution("batch groups", (4, 5, 3), (2, 3, 6), ("b0f", "0io", "b0f"), batch_groups=2),
    Convolution(
        "batch groups, permuted, cropped", (3, 5, 6), (3, 3, 2), ("f0b", "oi0", "0fb"),
        padding=((-1, 1),), reversal=(True,), batch_groups=3,
    ),
    Convolution(
        "transposed", (1, 4, 2), (3, 2, 3), ("b0f", "0io", "b0f"),
        lhs_dilation=(3,), padding=((2, 2),), reversal=(True,),
    ),
    Convolution(
        "dilated both ways, reversed, cropped", (1, 5, 2), (2, 2, 3), ("b0f", "0io", "b0f"),
        lhs_dilation=(2,), rhs_dilation=(3,), padding=((-1, 1),), reversal=(True,),
    ),
    Convolution(
        "cropped between dilated", (1, 4, 1), (2, 1, 2), ("b0f", "0io", "b0f"),
        lhs_dilation=(3,), padding=((-2, -2),),
    ),
    Convolution("all cropped", (1, 4, 1), (1, 1, 2), ("b0f", "0io", "b0f"), padding=((-5, 3),)),
    Convolution("3-D", (1, 3, 4, 3, 2), (2, 2, 2, 2, 3), ("b012f", "012io", "b012f")),
    Convolution(
        "3-D, everything", (2, 4, 4, 3, 3), (2, 2, 4, 2, 2), ("b2f10", "1i0o2", "f0b12"),
        stride=(2, 1, 1), padding=((1, 0), (-1, 2), (0, 1)), lhs_dilation=(1, 2, 1),
        rhs_dilation=(2, 1, 1), reversal=(True, False, True), feature_groups=2,
    ),
    Convolution("no batch", (0, 5, 2), (2, 2, 3), ("b0f", "0io", "b0f")),
    Convolution("no features", (1, 5, 0), (2, 0, 3), ("b0f", "0io", "b0f")),
    Convolution("window too large", (1, 2, 1), (3, 1, 2), ("b0f", "0io", "b0f")),
]  # fmt: skip
EINSUMS = [
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ab,c->ca", (2, 3), (4,)),
    ("ii,ij->j", (3, 3), (3, 2)), ("...ij,...jk->k...i", (2, 1, 3, 4), (5, 4, 2)),
    (",ij->ji", (), (2, 3)), ("i,j->", (3,), (4,)), ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,jk->ik", (2, 0), (0, 3)),
]  # fmt: skip
UNARY_EINSUMS = [
    ("ij->i", (3, 4)), ("ij->", (3, 4)), ("ijk->kij", (2, 3, 4)), ("iijji->ji", (2, 2, 3, 3, 2)),
    ("ii->", (3, 3)), ("...i->i...", (2, 3, 4)), ("ij->j", (0, 3)),
]  # fmt: skip


def cases(elements: Elements) -> list[Product]:
    """Every form with operands of `elements`; convolutions have two of one type."""
    products = [
        _by_equation(elements, name, "dot_general", _dot_attributes(equation), equation, shapes)
        for name, (equation, *shapes) in DOTS.items()
    ]
    products += [
        _by_equation(elements, equation, "dot", "", equation, shapes)
        for equation, *shapes in PLAIN_DOTS
    ]
    for op, equations in (("einsum", EINSUMS), ("unary_einsum", UNARY_EINSUMS)):
        for equation, *shapes in equations:
            attributes = f'einsum_config = "{equation}"'
            products.append(_by_equation(elements, equation, op, attributes, equation, shapes))
    if elements[0] == elements[1]:
        products += [
            _product(
                elements, each.name, "convolution", each.attributes(), [each.lhs, each.rhs], each
            )
            for each in CONVOLUTIONS
        ]
    return products


def _by_equation(
    elements: Elements,
    form: str,
    op: str,
    attributes: str,
    equation: str,
    shapes: Sequence[Sequence[int]],
) -> Product:
    def reference(*operands: np.ndarray) -> np.ndarray:
        return np.einsum(equation, *operands)

    return _product(elements, form, op, attributes, shapes, reference)


def _product(
    elements: Elements,
    form: str,
    op: str,
    attributes: str,
    shapes: Sequence[Sequence[int]],
    reference: Callable[..., np.ndarray],
) -> Product:
    generator = np.random.default_rng(len(form))
    *factors, result = elements
    factors = factors[: len(shapes)]
    arrays = tuple(operand(generator, s, e) for s, e in zip(shapes, factors, strict=True))
    exact = exact_type(factors, result)
    want = np.asarray(reference(*(array.astype(exact) for array in arrays)))
    return Product(form, f"stablehlo.{op}", attributes, arrays, tuple(factors), want, result)


def _dot_attributes(equation: str) -> str:
    operands, result = equation.split("->")
    lhs, rhs = operands.split(",")
    shared = [label for label in lhs if label in rhs]
    batch = [label for label in result if label in shared]
    contracted = [label for label in shared if label not in result]
    dims = ", ".join(
        f"{side}_{kind}_dimensions = {[labels.index(each) for each in which]}"
        for side, labels in (("lhs", lhs), ("rhs", rhs))
        for kind, which in (("batching", batch), ("contracting", contracted))
    )
    return f"dot_dimension_numbers = #stablehlo.dot<{dims}>"
