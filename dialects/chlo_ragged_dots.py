"""The dimension numbers of `chlo.ragged_dot`, for which the bindings have no class."""

import re
from collections.abc import Mapping, Sequence

from torch_mlir import ir

RAGGED_DOT = "chlo.ragged_dot"
NUMBERS = "ragged_dot_dimension_numbers"
NAMES = (
    "lhs_batching",
    "rhs_batching",
    "lhs_contracting",
    "rhs_contracting",
    "lhs_ragged",
    "rhs_group",
)
"""The lists of numbers, in the order in which JAX writes them as attributes of a composite."""


def ragged_numbers(op: ir.Operation) -> dict[str, list[int]]:
    """The lists of dimensions of a ragged dot, by `NAMES`."""
    return read_numbers(op.attributes[NUMBERS])


def read_numbers(attribute: ir.Attribute) -> dict[str, list[int]]:
    """The lists that a `#chlo.ragged_dot` holds, by `NAMES`."""
    written = str(attribute)
    found: dict[str, list[int]] = {name: [] for name in NAMES}
    for name, numbers in re.findall(r"(\w+)_dimensions = \[([\d, ]*)\]", written):
        found[name] = [int(each) for each in numbers.split(",") if each.strip()]
    return found


def is_ragged_batch(op: ir.Operation) -> bool:
    """Whether a ragged dot is a dot of batches, whatever the sizes of groups."""
    numbers = ragged_numbers(op)
    return set(numbers["lhs_ragged"]) <= set(numbers["lhs_batching"])


def is_ragged_attribute(attribute: ir.Attribute) -> bool:
    return str(attribute).startswith("#chlo.ragged_dot<")


def ragged_attribute(numbers: Mapping[str, Sequence[int]]) -> ir.Attribute:
    """The attribute of these lists."""
    lists = ", ".join(f"{name}_dimensions = {list(numbers[name])}" for name in NAMES)
    return ir.Attribute.parse(f"#chlo.ragged_dot<{lists}>")
