"""Arguments that callers give away: each is the memory of a result afterwards."""

import math
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.argument_names import argument_names, result_names
from mlir_fp8.compiling.compile_options import AS_DECLARED, Donated
from mlir_fp8.compiling.donation_pairs import NONE_DECLARED, paired
from mlir_fp8.compiling.entry import entry_function, signature

_ALIASING = "tf.aliasing_output"
_DONOR = "jax.buffer_donor"


def donated_pairs(module: ir.Module, entry: str, donated: Donated) -> tuple[tuple[int, int], ...]:
    """Argument and result of each pair, by their numbers in the signature of `entry`: `paired`."""
    if not donated:
        return ()
    arguments, results = signature(entry_function(module, entry))
    listed = (
        _declared(entry_function(module, entry), len(arguments))
        if donated == AS_DECLARED
        else donated
    )
    names = argument_names(module, entry), result_names(module, entry)
    return paired(listed, arguments, results, *names)


def passed_pairs(
    pairs: Sequence[tuple[int, int]], arguments: Sequence[TensorSpec], results: Sequence[TensorSpec]
) -> list[tuple[int, int]]:
    """`pairs` by their numbers among arguments and results that have elements."""
    places = [
        {number: place for place, number in enumerate(_with_elements(specs))}
        for specs in (arguments, results)
    ]
    return [(places[0][a], places[1][r]) for a, r in pairs if a in places[0]]


def _with_elements(specs: Sequence[TensorSpec]) -> list[int]:
    return [number for number, spec in enumerate(specs) if math.prod(spec.shape)]


def _declared(function: ir.Operation, count: int) -> tuple[tuple[int, int | None], ...]:
    """Those that JAX was told of: `donate_argnums`."""
    held = function.attributes.get("arg_attrs")
    entries = [] if held is None else list(ir.ArrayAttr(held))
    donated: list[tuple[int, int | None]] = []
    for number, entry in enumerate(map(ir.DictAttr, entries if len(entries) == count else [])):
        if _ALIASING in entry:
            donated.append((number, ir.IntegerAttr(entry[_ALIASING]).value))
        elif _DONOR in entry:
            donated.append((number, None))
    if not donated:
        raise Fp8Error(NONE_DECLARED)
    return tuple(donated)
