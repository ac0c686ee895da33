"""Arguments that callers give away: each is the memory of a result afterwards."""

import math
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.argument_names import argument_names, result_names
from mlir_fp8.compiling.compile_options import AS_DECLARED, Donated
from mlir_fp8.compiling.entry import entry_function, signature

_ALIASING = "tf.aliasing_output"
_DONOR = "jax.buffer_donor"


def donated_pairs(module: ir.Module, entry: str, donated: Donated) -> tuple[tuple[int, int], ...]:
    """Argument and result of each pair, by their numbers in the signature of `entry`.

    An argument without a result takes the first one of its type that no other has, as in JAX.
    Raises `Fp8Error` for names that are not there, what is given twice, and types that differ.
    """
    if not donated:
        return ()
    arguments, results = signature(entry_function(module, entry))
    of = argument_names(module, entry), result_names(module, entry)
    listed = (
        _declared(entry_function(module, entry), len(arguments))
        if donated == AS_DECLARED
        else donated
    )
    wanted = [
        (
            _number("argument", argument, of[0], len(arguments)),
            None if result is None else _number("result", result, of[1], len(results)),
        )
        for argument, result in listed
    ]
    taken = {result for _, result in wanted if result is not None}
    pairs: list[tuple[int, int]] = []
    for argument, result in wanted:
        if result is None:
            result = _first_of_type(argument, arguments[argument], results, taken)
            taken.add(result)
        if arguments[argument] != results[result]:
            types = f"argument {argument} is {arguments[argument]}, result {result} is"
            raise Fp8Error(f"donate: {types} {results[result]}: only one type shares memory")
        pairs.append((argument, result))
    for which, what in enumerate(("argument", "result")):
        numbers = [pair[which] for pair in pairs]
        for number in numbers:
            if numbers.count(number) > 1:
                raise Fp8Error(f"donate: {what} {number} is given twice")
    return tuple(pairs)


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
        raise Fp8Error("donate=True, and no argument of the module says that it is donated")
    return tuple(donated)


def _number(what: str, place: int | str, names: Sequence[str], count: int) -> int:
    if isinstance(place, int):
        if not 0 <= place < count:
            raise Fp8Error(f"donate: there is no {what} {place}: there are {count}")
        return place
    if names.count(place) != 1:
        known = ", ".join(filter(None, names)) or "none has a name"
        raise Fp8Error(f"donate: there is no one {what} '{place}' ({known})")
    return names.index(place)


def _first_of_type(
    number: int, spec: TensorSpec, results: Sequence[TensorSpec], taken: set[int]
) -> int:
    for result, each in enumerate(results):
        if each == spec and result not in taken:
            return result
    raise Fp8Error(f"donate: argument {number} is {spec}, and no result that is left is")
