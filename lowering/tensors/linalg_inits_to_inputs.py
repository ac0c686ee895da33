"""`linalg-inits-to-inputs`: an init that a parallel `linalg.generic` reads becomes an input.

Upstream's elementwise fusion recomputes a producer in every loop of its consumer. One that adds to
its init, as a dot without contracting dimensions does, would add once per recomputation.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass

_PARALLEL = "#linalg.iterator_type<parallel>"


@dataclass(frozen=True)
class LinalgInitsToInputs(ModulePass):
    """Append the inits that parallel `linalg.generic` ops on tensors read to their inputs."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            if op.name == "linalg.generic" and len(op.results) and _accumulates(op):
                _read_inits_as_inputs(op)


def _accumulates(op: ir.Operation) -> bool:
    iterators = ir.ArrayAttr(op.attributes["iterator_types"])
    if any(str(each) != _PARALLEL for each in iterators):
        return False
    arguments = list(op.regions[0].blocks[0].arguments)[-len(op.results) :]
    return any(list(argument.uses) for argument in arguments)


def _read_inits_as_inputs(op: ir.Operation) -> None:
    count = len(op.results)
    operands = list(op.operands)
    inits, maps = operands[-count:], list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    attributes = dict(op.attributes.items())
    attributes["indexing_maps"] = ir.ArrayAttr.get([*maps, *maps[-count:]])
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(operands), count])
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create(
            "linalg.generic",
            results=[result.type for result in op.results],
            operands=[*operands, *inits],
            attributes=attributes,
            regions=1,
        )
    block = op.regions[0].blocks[0]
    block.append_to(new.regions[0])
    # The block arguments of the inits are now those of the last inputs.
    for argument in list(block.arguments)[-count:]:
        block.add_argument(argument.type, op.location)
    replace_op(op, new.results)
