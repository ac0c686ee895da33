"""`stablehlo-cholesky-expander`: Cholesky's decomposition, column by column."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.text_expansion import expand_all


@dataclass(frozen=True)
class StablehloCholeskyExpander(ModulePass):
    """Replace `cholesky` by a loop over columns, in the op's own type; O(n^3) per matrix.

    Only the triangle that `lower` names is read, and the other one is zero in the result. What is
    not positive definite gives NaN from its first bad column on.
    """

    def run(self, module: ir.Operation) -> None:
        expand_all(module, {"stablehlo.cholesky": _program})


def _program(op: ir.Operation) -> str:
    tensor = ir.RankedTensorType(op.operands[0].type)
    lower = ir.BoolAttr(op.attributes["lower"]).value if "lower" in op.attributes else False
    element, size = str(tensor.element_type), tensor.shape[-1]
    batch = math.prod(tensor.shape[:-2])
    real = element.removeprefix("complex<").removesuffix(">")
    is_complex = real != element
    matrix, column = (
        f"tensor<{batch}x{size}x{size}x{element}>",
        f"tensor<{batch}x{size}x1x{element}>",
    )
    row, pivot = f"tensor<{batch}x1x{size}x{element}>", f"tensor<{batch}x1x1x{element}>"
    index, mask = f"tensor<{batch}x{size}x1xi32>", f"tensor<{batch}x{size}x1xi1>"
    size_0, zero = "tensor<i32>", "dense<(0.0, 0.0)>" if is_complex else "dense<0.0>"
    conjugate = _conjugate(row, real) if is_complex else ""
    conjugate_row = "%conjugate" if is_complex else "%row"
    root = f"%root = stablehlo.sqrt %pivot : {pivot}"
    if is_complex:
        part = pivot.replace(element, real)
        root = f"""%norm = stablehlo.real %pivot : ({pivot}) -> {part}
          %length = stablehlo.sqrt %norm : {part}
          %nothing = stablehlo.constant dense<0.0> : {part}
          %root = stablehlo.complex %length, %nothing : {pivot}"""
    turned = _transposed(matrix, element, real)
    return f"""
    func.func @cholesky(%given: {tensor}) -> {tensor} {{
      %flat = stablehlo.reshape %given : ({tensor}) -> {matrix}
      {"" if lower else turned.format(of="%flat", to="flipped")}
      %start = stablehlo.constant {zero} : {matrix}
      %first = stablehlo.constant dense<0> : {size_0}
      %rows = stablehlo.iota dim = 1 : {index}
      %blank = stablehlo.constant {zero} : {column}
      %end, %factor = stablehlo.while(%j = %first, %l = %start) : {size_0}, {matrix}
      cond {{
        %limit = stablehlo.constant dense<{size}> : {size_0}
        %more = stablehlo.compare LT, %j, %limit : ({size_0}, {size_0}) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      }} do {{
        %zero = stablehlo.constant dense<0> : {size_0}
        %one = stablehlo.constant dense<1> : {size_0}
        %column = stablehlo.dynamic_slice {"%flat" if lower else "%flipped"}, %zero, %zero, %j,
          sizes = [{batch}, {size}, 1] : ({matrix}, {size_0}, {size_0}, {size_0}) -> {column}
        %row = stablehlo.dynamic_slice %l, %zero, %j, %zero, sizes = [{batch}, 1, {size}]
          : ({matrix}, {size_0}, {size_0}, {size_0}) -> {row}
        {conjugate}
        %done = stablehlo.dot_general %l, {conjugate_row}, batching_dims = [0] x [0],
          contracting_dims = [2] x [2] : ({matrix}, {row}) -> {column}
        %rest = stablehlo.subtract %column, %done : {column}
        %pivot = stablehlo.dynamic_slice %rest, %zero, %j, %zero, sizes = [{batch}, 1, 1]
          : ({column}, {size_0}, {size_0}, {size_0}) -> {pivot}
        {root}
        %roots = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : ({pivot}) -> {column}
        %divided = stablehlo.divide %rest, %roots : {column}
        %js = stablehlo.broadcast_in_dim %j, dims = [] : ({size_0}) -> {index}
        %is_pivot = stablehlo.compare EQ, %rows, %js : ({index}, {index}) -> {mask}
        %is_below = stablehlo.compare GT, %rows, %js : ({index}, {index}) -> {mask}
        %below = stablehlo.select %is_below, %divided, %blank : {mask}, {column}
        %new = stablehlo.select %is_pivot, %roots, %below : {mask}, {column}
        %next = stablehlo.dynamic_update_slice %l, %new, %zero, %zero, %j
          : ({matrix}, {column}, {size_0}, {size_0}, {size_0}) -> {matrix}
        %k = stablehlo.add %j, %one : {size_0}
        stablehlo.return %k, %next : {size_0}, {matrix}
      }}
      {"" if lower else turned.format(of="%factor", to="upper")}
      %result = stablehlo.reshape {"%factor" if lower else "%upper"} : ({matrix}) -> {tensor}
      return %result : {tensor}
    }}"""


def _conjugate(row: str, real: str) -> str:
    part = row.replace(f"complex<{real}>", real)
    return f"""%real = stablehlo.real %row : ({row}) -> {part}
        %imag = stablehlo.imag %row : ({row}) -> {part}
        %minus = stablehlo.negate %imag : {part}
        %conjugate = stablehlo.complex %real, %minus : {row}"""


def _transposed(matrix: str, element: str, real: str) -> str:
    """The adjoint of `{of}` as `%{to}`."""
    if real == element:
        return f"%{{to}} = stablehlo.transpose {{of}}, dims = [0, 2, 1] : ({matrix}) -> {matrix}"
    part = matrix.replace(element, real)
    return f"""%{{to}}_t = stablehlo.transpose {{of}}, dims = [0, 2, 1] : ({matrix}) -> {matrix}
      %{{to}}_r = stablehlo.real %{{to}}_t : ({matrix}) -> {part}
      %{{to}}_i = stablehlo.imag %{{to}}_t : ({matrix}) -> {part}
      %{{to}}_m = stablehlo.negate %{{to}}_i : {part}
      %{{to}} = stablehlo.complex %{{to}}_r, %{{to}}_m : {matrix}"""
