"""`fp8-to-composite`: ops of the `fp8` dialect as composites, which any StableHLO consumer runs."""

import dataclasses

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, readable_attributes
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._emulation import enclosing_module
from mlir_fp8.lowering.arithmetic._rounding import require_index
from mlir_fp8.lowering.fp8.fp8_legalize_to_stablehlo import put_in_place
from mlir_fp8.lowering.fp8.ops.decompositions import DECOMPOSITIONS
from mlir_fp8.lowering.fp8.ops.functions import Decompositions
from mlir_fp8.lowering.fp8.ops.wire import VERSION, to_wire
from mlir_fp8.lowering.rewriting.composites import replace_by_composite
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape


@dataclasses.dataclass(frozen=True)
class Fp8ToComposite(ModulePass):
    """Rewrite each op of the `fp8` dialect to a versioned `stablehlo.composite` of its name.

    The decomposition is a private function of StableHLO alone, the one that
    `fp8-legalize-to-stablehlo{chlo=false}` puts in the place of the op; equal ops share it.
    `composite-to-fp8` is the inverse. An `fp8.convert` of a dynamic shape becomes the body of its
    decomposition: StableHLO does not refine the shapes of composites.
    """

    def run(self, module: ir.Operation) -> None:
        functions: dict[ir.Operation, Decompositions] = {}
        with module.context:
            for op in operations(module, *DECOMPOSITIONS):
                if not has_static_shape(op.results[0]):
                    put_in_place(op)
                else:
                    around = enclosing_module(op)
                    if around not in functions:
                        functions[around] = Decompositions(around)
                    _replace(op, functions[around])


def _replace(op: ir.Operation, functions: Decompositions) -> None:
    if str(op.attributes.get("rounding")) == '"stochastic"':
        require_index(op)
    with op.location:
        entries = ir.DictAttr.get(to_wire(op))
    function = functions.of(op, entries, op.name)
    replace_by_composite(op, op.name, entries, function, VERSION, _of_others(op))


def _of_others(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes that go along as they are: those with a dot in their name."""
    readable = dict(readable_attributes(op))
    names = [name for name in op.attributes if "." in name]
    for name in names:
        if name not in readable:
            raise op_error(op, f"has {name}, which cannot go along on a composite: drop it")
    return {name: readable[name] for name in names}
