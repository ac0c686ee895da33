"""Native code for one of several devices, with what it exchanges with the others."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch_mlir import ir

from mlir_fp8.arrays.exchange import Exchange
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.compiling.execution import lower_to_llvm, native_code
from mlir_fp8.compiling.shapes import with_shapes
from mlir_fp8.lowering.rewriting.exchange_calls import EXCHANGES
from mlir_fp8.reading.loader import loaded
from mlir_fp8.simulation.grid import check_devices, grid_of, of_devices
from mlir_fp8.simulation.simulated_module import SimulatedModule


def compile_simulated(
    source: ir.Module | str | Path | bytes,
    options: CompileOptions,
    devices: Any,
    shapes: Sequence[Any] | None = None,
) -> SimulatedModule:
    """`source` for `devices`, a number of them or replicas and partitions.

    Raises `Fp8Error` where the module is for others, or cannot be compiled.
    """
    given = check_devices(devices)
    module = loaded(source)
    if shapes is not None:
        module = with_shapes(module, options.entry, shapes, saturate=options.saturate)
    grid = grid_of(module, given)
    # The devices are threads already.
    options = dataclasses.replace(options, devices=grid, threads=1)
    lowered, arguments, results, _ = lower_to_llvm(module, options)
    attributes = lowered.operation.attributes
    listed = ir.ArrayAttr(attributes[EXCHANGES]) if EXCHANGES in attributes else ()
    exchanges = [_named(Exchange.from_json(ir.StringAttr(each).value)) for each in listed]
    code = native_code(lowered, options.opt_level)
    compiled = CompiledModule(code, options.entry, arguments, results)
    takes, gives = of_devices(module, math.prod(grid), arguments, results)
    return SimulatedModule(compiled, exchanges, grid, takes, gives)


def _named(exchange: Exchange) -> Exchange:
    """With the name that a module without a file has in other errors."""
    place = exchange.place
    if place.startswith("-:"):
        place = f"<module>{place[1:]}"
    return dataclasses.replace(exchange, place=place)
