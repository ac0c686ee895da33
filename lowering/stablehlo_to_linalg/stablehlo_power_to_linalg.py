"""`stablehlo-power-to-linalg`: integer powers, by as many squarings as the exponent has bits.

`stablehlo-legalize-to-linalg` looks at six bits of the exponent and takes unsigned ones for signed.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.text_expansion import expand
from mlir_fp8.lowering.stablehlo_to_linalg._scalar_body import refuse_in_reduction

_IN_REDUCTION = "of integers in the body of {} has no lowering: multiply there"


@dataclass(frozen=True)
class StablehloPowerToLinalg(ModulePass):
    """Replace `power` of integers by a loop per element, modulo the type's range.

    A negative exponent gives 0, but for the bases 1 and -1; 0 to the 0 is 1.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "stablehlo.power", inner_first=True):
            element = ir.ShapedType(op.results[0].type).element_type
            if isinstance(element, ir.IntegerType):
                refuse_in_reduction(op, _IN_REDUCTION)
                expand(op, _program)


def _program(op: ir.Operation) -> str:
    tensor = ir.RankedTensorType(op.results[0].type)
    element = ir.IntegerType(tensor.element_type)
    i = f"i{element.width}"
    plain = f"tensor<{''.join(f'{size}x' for size in tensor.shape)}{i}>"
    dims = ", ".join(f"d{axis}" for axis in range(tensor.rank))
    each = f"affine_map<({dims}) -> ({dims})>"
    parallel = ", ".join(['"parallel"'] * tensor.rank)
    exponent, result = ("%e", "%power") if element.is_unsigned else ("%counted", "%signed")
    return f"""
    func.func @power(%base: {tensor}, %exponent: {tensor}) -> {tensor} {{
      %b = builtin.unrealized_conversion_cast %base : {tensor} to {plain}
      %x = builtin.unrealized_conversion_cast %exponent : {tensor} to {plain}
      %out = tensor.empty() : {plain}
      %powers = linalg.generic {{indexing_maps = [{each}, {each}, {each}],
          iterator_types = [{parallel}]}} ins(%b, %x : {plain}, {plain}) outs(%out : {plain}) {{
      ^bb0(%a: {i}, %e: {i}, %o: {i}):
        %zero = arith.constant 0 : {i}
        %one = arith.constant 1 : {i}
        %minus = arith.constant -1 : {i}
        %negative = arith.cmpi slt, %e, %zero : {i}
        %counted = arith.select %negative, %zero, %e : {i}
        %power, %last, %none = scf.while (%p = %one, %s = %a, %n = {exponent})
            : ({i}, {i}, {i}) -> ({i}, {i}, {i}) {{
          %more = arith.cmpi ne, %n, %zero : {i}
          scf.condition(%more) %p, %s, %n : {i}, {i}, {i}
        }} do {{
        ^bb0(%p: {i}, %s: {i}, %n: {i}):
          %bit = arith.andi %n, %one : {i}
          %is_set = arith.cmpi ne, %bit, %zero : {i}
          %times = arith.muli %p, %s : {i}
          %next = arith.select %is_set, %times, %p : {i}
          %square = arith.muli %s, %s : {i}
          %rest = arith.shrui %n, %one : {i}
          scf.yield %next, %square, %rest : {i}, {i}, {i}
        }}
        %odd = arith.andi %e, %one : {i}
        %is_odd = arith.cmpi ne, %odd, %zero : {i}
        %alternating = arith.select %is_odd, %minus, %one : {i}
        %is_one = arith.cmpi eq, %a, %one : {i}
        %is_minus = arith.cmpi eq, %a, %minus : {i}
        %unit = arith.select %is_one, %one, %zero : {i}
        %inverse = arith.select %is_minus, %alternating, %unit : {i}
        %signed = arith.select %negative, %inverse, %power : {i}
        linalg.yield {result} : {i}
      }} -> {plain}
      %result = builtin.unrealized_conversion_cast %powers : {plain} to {tensor}
      return %result : {tensor}
    }}"""
