"""Which argument a result takes the memory of: `donate=`, told of types and names alone."""

from collections.abc import Sequence

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error

NONE_DECLARED = "donate=True, and no argument of the module says that it is donated"


def paired(
    listed: Sequence[tuple[int | str, int | str | None]],
    arguments: Sequence[TensorSpec],
    results: Sequence[TensorSpec],
    argument_names: Sequence[str],
    result_names: Sequence[str],
) -> tuple[tuple[int, int], ...]:
    """Argument and result of each pair, by their numbers.

    An argument without a result takes the first one of its type that no other has, as in JAX.
    Raises `Fp8Error` for names that are not there, what is given twice, and types that differ.
    """
    wanted = [
        (
            _number("argument", argument, argument_names, len(arguments)),
            None if result is None else _number("result", result, result_names, len(results)),
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
