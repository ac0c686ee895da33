"""`stablehlo-unpack-to-calls`: bit-packed f6 and f4 are unpacked by functions of the module."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.layer_functions import mark_layer
from mlir_fp8.lowering.rewriting.unpack_calls import function_name, is_unpack


@dataclass(frozen=True)
class StablehloUnpackToCalls(ModulePass):
    """Replace each `custom_call @mlir_fp8.unpack` by a call of a function, one for each type.

    `linalg-contract-to-kernels` takes calls away whose results only kernels read.
    """

    def run(self, module: ir.Operation) -> None:
        made: dict[ir.Type, str] = {}
        with module.context:
            for op in filter(is_unpack, operations(module, "stablehlo.custom_call")):
                type_ = ir.RankedTensorType(op.results[0].type)
                if type_ not in made:
                    made[type_] = function_name(str(type_.element_type), len(made))
                    _add(module, made[type_], type_, ir.RankedTensorType(op.operands[0].type))
                with ir.InsertionPoint(op), op.location:
                    call = func.CallOp([type_], made[type_], list(op.operands))
                    replace_op(op, list(call.results))


def _add(
    module: ir.Operation, name: str, type_: ir.RankedTensorType, packed: ir.RankedTensorType
) -> None:
    """The function that gives `type_` of the bytes `packed`: each code of one byte, or of two."""
    element, rank = str(type_.element_type), type_.rank
    bits = FORMATS[element].bits
    given = str(packed).replace("ui8", "i8")
    outer = ", ".join(f"%i{d}" for d in range(rank - 1))
    places = ", ".join(filter(None, [outer, "%low"])), ", ".join(filter(None, [outer, "%high"]))
    dims = ", ".join(f"d{d}" for d in range(rank))
    indices = "\n".join(f"%i{d} = linalg.index {d} : index" for d in range(rank))
    text = f"""func.func private @{name}(%held: {packed}) -> {type_} {{
      %packed = builtin.unrealized_conversion_cast %held : {packed} to {given}
      %bits = arith.constant {bits} : index
      %rest = arith.constant {bits - 1} : index
      %eight = arith.constant 8 : index
      %empty = tensor.empty() : {type_}
      %made = linalg.generic {{
        indexing_maps = [affine_map<({dims}) -> ({dims})>],
        iterator_types = [{", ".join(['"parallel"'] * rank)}]
      }} outs(%empty : {type_}) {{
      ^bb0(%old: {element}):
        {indices}
        %first = arith.muli %i{rank - 1}, %bits : index
        %last = arith.addi %first, %rest : index
        %low = arith.divui %first, %eight : index
        %high = arith.divui %last, %eight : index
        %shift = arith.remui %first, %eight : index
        %a = tensor.extract %packed[{places[0]}] : {given}
        %b = tensor.extract %packed[{places[1]}] : {given}
        %wide = arith.extui %a : i8 to i32
        %above = arith.extui %b : i8 to i32
        %c8 = arith.constant 8 : i32
        %moved = arith.shli %above, %c8 : i32
        %word = arith.ori %wide, %moved : i32
        %by = arith.index_cast %shift : index to i32
        %shifted = arith.shrui %word, %by : i32
        %code = arith.trunci %shifted : i32 to i{bits}
        %number = arith.bitcast %code : i{bits} to {element}
        linalg.yield %number : {element}
      }} -> {type_}
      return %made : {type_}
    }}"""
    parsed = ir.Module.parse(text, module.context)
    function = parsed.body.operations[0].operation
    mark_layer(function)
    function.clone(ip=ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]))
