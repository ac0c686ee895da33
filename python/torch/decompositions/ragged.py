"""Products of groups of rows, as `chlo.ragged_dot`."""

import torch
from torch import Tensor

from mlir_fp8.torch.functions import Body, writes

_LIBRARY = torch.library.Library("mlir_fp8", "FRAGMENT")
_LIBRARY.define("ragged_mm(Tensor a, Tensor b, Tensor offs) -> Tensor")


def ragged_mm(a: Tensor, b: Tensor, offs: Tensor) -> Tensor:
    """Groups of rows of `a` [m, k] by their matrices of `b` [g, k, n]: [m, n]; or, of `b` [k, n],
    a matrix of each group of the sum: [g, m, n].

    Groups end at `offs`; what none has is zero. The result is f32, or f64 of f64.
    """
    return torch.ops.mlir_fp8.ragged_mm(a, b, offs)


@torch.library.register_fake("mlir_fp8::ragged_mm", lib=_LIBRARY)
def _shape(a: Tensor, b: Tensor, offs: Tensor) -> Tensor:
    groups = () if b.dim() == 3 else (offs.shape[0],)
    dtype = torch.float64 if a.dtype == torch.float64 else torch.float32
    return a.new_empty((*groups, a.shape[0], b.shape[-1]), dtype=dtype)


@writes(torch.ops.mlir_fp8.ragged_mm.default)
def write_ragged_mm(body: Body) -> None:
    """Ends of groups become sizes."""
    a, b, ends = body.inputs
    (out,) = body.outputs
    count = ends.shape[0]
    one, rest = (f"tensor<{size}x{ends.element_type}>" for size in (1, count - 1))
    start = body.constant(0, one)
    early = body.let(f"stablehlo.slice %arg2 [0:{count - 1}] : ({ends}) -> {rest}")
    begins = body.let(
        f"stablehlo.concatenate {start}, {early}, dim = 0 : ({one}, {rest}) -> {ends}"
    )
    sizes = body.let(f"stablehlo.subtract %arg2, {begins} : {ends}")
    groups = ", rhs_group_dimensions = [0]" if b.rank == 3 else ""
    numbers = (
        f"#chlo.ragged_dot<lhs_contracting_dimensions = [1],"
        f" rhs_contracting_dimensions = [{b.rank - 2}],"
        f" lhs_ragged_dimensions = [{0 if b.rank == 3 else 1}]{groups}>"
    )
    product = body.let(
        f'"chlo.ragged_dot"(%arg0, %arg1, {sizes}) {{ragged_dot_dimension_numbers = {numbers}}}'
        f" : ({a}, {b}, {ends}) -> {out}"
    )
    body.give(product)
