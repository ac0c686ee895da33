"""`stablehlo-outline-layers`: layers that are equal up to their arguments become one function.

A model has its layers one after the other, each with weights of its own. What comes after this pass
sees a layer once: compilation takes the time of the distinct layers.
"""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.layers.layers import layers_of
from mlir_fp8.lowering.frontend.layers.outlining import Functions, erase_unused
from mlir_fp8.lowering.frontend.layers.repeats import longest_repeat
from mlir_fp8.lowering.frontend.layers.steps import steps_of


@dataclass(frozen=True)
class StablehloOutlineLayers(ModulePass):
    """Outline isomorphic parts of functions that follow each other, into private functions.

    Parts are isomorphic if their ops are equal but for locations and for operands from outside,
    which become arguments. Constants are to be equal; large ones become arguments, as do integer
    indices and factors in f32 that differ, such as static scales. Layers begin where the fewest
    bytes go from one to the next. They are not inlined again.

    Options: `min-size`, the least ops of a layer. Short ones are outlined several at once. A layer
    of elementwise ops alone stays: it would be one loop with its neighbours.
    """

    min_size: int = 16

    def run(self, module: ir.Operation) -> None:
        functions = [op.operation for op in module.regions[0].blocks[0]]
        with module.context:
            made = Functions(module)
            for function in functions:
                if function.name == "func.func" and len(function.regions[0].blocks) == 1:
                    self._outline(function.regions[0].blocks[0], made)

    def _outline(self, block: ir.Block, made: Functions) -> None:
        steps = steps_of(block)
        keys = np.array([step.key for step in steps.steps])
        least = max(1, self.min_size)
        taken = -1
        while (repeat := longest_repeat(keys, least)) is not None:
            layers = layers_of(steps, repeat)
            if layers is not None:
                made.outline(steps, layers)
            done = repeat if layers is None else layers
            # Not looked at again: a key of its own for each.
            keys[done.start : done.end] = range(taken, taken - (done.end - done.start), -1)
            taken -= done.end - done.start
        if made.are_called:
            erase_unused(block)
