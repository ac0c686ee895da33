"""`stablehlo-triangular-solve-expander`: triangular systems by substitution, row by row."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.text_expansion import expand_all


@dataclass(frozen=True)
class StablehloTriangularSolveExpander(ModulePass):
    """Replace `triangular_solve` by a loop over rows, in the op's own type.

    Only the triangle that `lower` names is read, without its diagonal where `unit_diagonal` is set.
    """

    def run(self, module: ir.Operation) -> None:
        expand_all(module, {"stablehlo.triangular_solve": _program})


def _program(op: ir.Operation) -> str:
    a, b = (ir.RankedTensorType(operand.type) for operand in op.operands)
    left, lower, unit = (
        ir.BoolAttr(op.attributes[name]).value for name in ("left_side", "lower", "unit_diagonal")
    )
    kind = str(op.attributes["transpose_a"])
    is_turned = "NO_TRANSPOSE" not in kind
    # x op(a) = b is op(a)^T x^T = b^T.
    turn_a = is_turned == left
    forward = lower != turn_a
    element, size = str(a.element_type), a.shape[-1]
    batch = math.prod(a.shape[:-2])
    count = b.shape[-1] if left else b.shape[-2]
    matrix, mask = f"tensor<{batch}x{size}x{size}x{element}>", f"tensor<{batch}x{size}x{size}xi1>"
    index = f"tensor<{batch}x{size}x{size}xi32>"
    right, right_t = (
        f"tensor<{batch}x{size}x{count}x{element}>",
        f"tensor<{batch}x{count}x{size}x{element}>",
    )
    row, pivot = f"tensor<{batch}x1x{size}x{element}>", f"tensor<{batch}x1x1x{element}>"
    part = f"tensor<{batch}x1x{count}x{element}>"
    zero = "dense<(0.0, 0.0)>" if "complex" in element else "dense<0.0>"
    i32 = "tensor<i32>"
    given_b = right if left else right_t
    swap = "dims = [0, 2, 1]"
    lines = [
        f"%flat = stablehlo.reshape %a : ({a}) -> {matrix}",
        f"%b1 = stablehlo.reshape %b : ({b}) -> {given_b}",
    ]
    if not left:
        lines.append(f"%b2 = stablehlo.transpose %b1, {swap} : ({right_t}) -> {right}")
    if turn_a:
        lines.append(f"%turned = stablehlo.transpose %flat, {swap} : ({matrix}) -> {matrix}")
    solved = "%turned" if turn_a else "%flat"
    if "ADJOINT" in kind and "complex" in element:
        reals = matrix.replace(element, element.removeprefix("complex<").removesuffix(">"))
        lines += [
            f"%real = stablehlo.real {solved} : ({matrix}) -> {reals}",
            f"%imag = stablehlo.imag {solved} : ({matrix}) -> {reals}",
            f"%minus = stablehlo.negate %imag : {reals}",
            f"%adjoint = stablehlo.complex %real, %minus : {matrix}",
        ]
        solved = "%adjoint"
    body = "\n      ".join(lines)
    step = "%t" if forward else "%from_end"
    divided = "%rest" if unit else "%quotient"
    return f"""
    func.func @solve(%a: {a}, %b: {b}) -> {op.results[0].type} {{
      {body}
      %i_rows = stablehlo.iota dim = 1 : {index}
      %i_columns = stablehlo.iota dim = 2 : {index}
      %is_kept = stablehlo.compare {"GT" if forward else "LT"}, %i_rows, %i_columns
        : ({index}, {index}) -> {mask}
      %blank = stablehlo.constant {zero} : {matrix}
      %m = stablehlo.select %is_kept, {solved}, %blank : {mask}, {matrix}
      %start = stablehlo.constant {zero} : {right}
      %first = stablehlo.constant dense<0> : {i32}
      %end, %solution = stablehlo.while(%t = %first, %x = %start) : {i32}, {right}
      cond {{
        %limit = stablehlo.constant dense<{size}> : {i32}
        %more = stablehlo.compare LT, %t, %limit : ({i32}, {i32}) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      }} do {{
        %zero = stablehlo.constant dense<0> : {i32}
        %one = stablehlo.constant dense<1> : {i32}
        %last = stablehlo.constant dense<{size - 1}> : {i32}
        %from_end = stablehlo.subtract %last, %t : {i32}
        %row = stablehlo.dynamic_slice %m, %zero, {step}, %zero, sizes = [{batch}, 1, {size}]
          : ({matrix}, {i32}, {i32}, {i32}) -> {row}
        %done = stablehlo.dot_general %row, %x, batching_dims = [0] x [0],
          contracting_dims = [2] x [1] : ({row}, {right}) -> {part}
        %given = stablehlo.dynamic_slice {"%b1" if left else "%b2"}, %zero, {step}, %zero,
          sizes = [{batch}, 1, {count}] : ({right}, {i32}, {i32}, {i32}) -> {part}
        %rest = stablehlo.subtract %given, %done : {part}
        %pivot = stablehlo.dynamic_slice {solved}, %zero, {step}, {step}, sizes = [{batch}, 1, 1]
          : ({matrix}, {i32}, {i32}, {i32}) -> {pivot}
        %pivots = stablehlo.broadcast_in_dim %pivot, dims = [0, 1, 2] : ({pivot}) -> {part}
        %quotient = stablehlo.divide %rest, %pivots : {part}
        %next = stablehlo.dynamic_update_slice %x, {divided}, %zero, {step}, %zero
          : ({right}, {part}, {i32}, {i32}, {i32}) -> {right}
        %k = stablehlo.add %t, %one : {i32}
        stablehlo.return %k, %next : {i32}, {right}
      }}
      {"" if left else f"%back = stablehlo.transpose %solution, {swap} : ({right}) -> {right_t}"}
      %result = stablehlo.reshape {"%solution" if left else "%back"} : ({given_b}) -> {b}
      return %result : {b}
    }}"""
