"""Arrays from files, matched to what a function declares; results to files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec, adapt
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.array_files import file_contents, file_entries
from mlir_fp8.tensors.file_entry import Entry
from mlir_fp8.tensors.shards import SUFFIX
from mlir_fp8.tools._command import read_input, write_output


@dataclass(frozen=True)
class Role:
    """What the arrays are to the function, and how their keys start."""

    word: str
    prefix: str


ARGUMENT = Role("argument", "arg")
RESULT = Role("result", "res")


@dataclass(frozen=True)
class Declared:
    """What a function takes or gives: names, empty for what has none, and a phrase such as
    `'main' takes 3`. `held` are arrays by name that count where no file has one of that name.
    """

    names: Sequence[str]
    phrase: str
    held: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def spell(self, number: int, role: Role) -> str:
        """`argument 2`, with its name if it has one."""
        name = self.names[number]
        return f"{role.word} {number}" + (f" '{name}'" if name else "")


def read_matching(
    paths: Sequence[str],
    entries: Sequence[Entry],
    specs: Sequence[TensorSpec],
    role: Role,
    declared: Declared,
) -> list[np.ndarray]:
    """One array of `paths` per spec: by name where the function names it so.

    The rest is by number where all are `arg0`, `arg1`, ..., else in their order, for what has no
    array by name. Raises `Fp8Error` naming what is missing, left over or of another type.
    """
    arrays: list[np.ndarray] = []
    slots = slots_of(entries, role, declared)
    for number, spec in enumerate(specs):
        what = declared.spell(number, role)
        entry = slots.pop(number, None)
        if entry is None:
            where = f"in {', '.join(paths)}" if paths else "without --args"
            raise Fp8Error(f"{what} ({spec}) is missing {where}: {declared.phrase}")
        arrays.append(adapt(f"{what} ({entry.place})", entry.read(), spec))
    if slots:
        entry = slots[min(slots)]
        raise Fp8Error(f"{entry.place} is one {role.word} too many: {declared.phrase}")
    return arrays


def read_all(entries: Sequence[Entry], role: Role, declared: Declared) -> list[np.ndarray]:
    """The arrays, in the order of the function, or of their numbers or the files."""
    slots = slots_of(entries, role, declared)
    return [slots[number].read() for number in sorted(slots)]


def slots_of(entries: Sequence[Entry], role: Role, declared: Declared) -> dict[int, Entry]:
    """The array for each number of what is declared, and any that are too many."""
    numbers = {name: number for number, name in enumerate(declared.names) if name}
    slots: dict[int, Entry] = {}
    rest: list[Entry] = []
    for entry in entries:
        number = numbers.get(entry.name)
        if number is None:
            rest.append(entry)
            continue
        if number in slots:
            raise Fp8Error(f"{entry.place} and {slots[number].place} are the same {role.word}")
        slots[number] = entry
    for name, array in declared.held.items():
        slots.setdefault(numbers[name], Entry(f"'{name}'", name, name, lambda array=array: array))
    count = len(declared.names)
    left = [number for number in range(count) if number not in slots]
    for number, entry in _by_number(rest, role, [declared.names[each] for each in left]).items():
        slots[left[number] if number < len(left) else count + number] = entry
    return slots


def _by_number(entries: Sequence[Entry], role: Role, names: Sequence[str]) -> dict[int, Entry]:
    """`names` are those of what is not taken by name, as far as it has any."""
    numbered = [re.fullmatch(rf"{role.prefix}(0|[1-9]\d*)", entry.name) for entry in entries]
    loose = next((entry for entry in entries if not entry.keeps_order), None)
    if names and loose is not None and len(entries) > 1 and not all(numbered):
        path = loose.place.partition(" of ")[2]
        wanted = ", ".join(filter(None, names)) or f"{role.prefix}0, {role.prefix}1, ..."
        raise Fp8Error(f"'{path}' does not keep the order of its arrays: name them {wanted}")
    slots: dict[int, Entry] = {}
    for position, (entry, match) in enumerate(zip(entries, numbered, strict=True)):
        number = int(match[1]) if match and all(numbered) else position
        if number in slots:
            raise Fp8Error(f"{entry.place} and {slots[number].place} are the same {role.word}")
        slots[number] = entry
    return slots


def entries_of(paths: Sequence[str], names: Sequence[str] = ()) -> list[Entry]:
    """The arrays of files, which are not read yet; those of a pipe are, and cannot be again.

    Of arrays without one of `names`, the order counts: in one file alone, or one `.npy` each.
    """
    entries: list[Entry] = []
    ordered: list[tuple[str, list[Entry]]] = []
    for path in paths:
        # Standard input or a pipe (or nothing): readers want to seek.
        data = None if Path(path).is_file() else read_input(path)[1]
        found = file_entries(path, data)
        entries += found
        rest = [entry for entry in found if not entry.name or entry.name not in names]
        if rest or not found:
            ordered.append((path, rest))
    for path, rest in ordered if len(ordered) > 1 else ():
        if len(rest) != 1 or rest[0].name:
            kind = "a .safetensors" if rest and not rest[0].keeps_order else "an .npz"
            raise Fp8Error(f"'{path}' is {kind}: give it alone, or one .npy per array")
    return entries


def write_arrays(path: str, arrays: Sequence[np.ndarray], role: Role = RESULT) -> None:
    """Write all arrays, in the form that the name of the file ends in; an `.npz` of any other."""
    for file, parts in file_contents(path, _named(arrays, role)):
        write_output(file, b"".join(parts))


def check_output(path: str, specs: Sequence[TensorSpec]) -> None:
    """An `Fp8Error` where a file of that name cannot hold results of `specs`."""
    if path.endswith((".safetensors", SUFFIX)):
        # What a type becomes is the same for no elements.
        file_contents(path, _named([np.empty(0, spec.dtype) for spec in specs], RESULT))


def _named(arrays: Sequence[np.ndarray], role: Role) -> dict[str, np.ndarray]:
    return {f"{role.prefix}{index}": array for index, array in enumerate(arrays)}
