"""The location of an op, as messages about a file spell it."""

from torch_mlir import ir

from mlir_fp8.base.context import format_location


def module_place(location: ir.Location, name: str) -> str:
    """`file:line:column`; `name` stands for text that was not read from a file, or no place."""
    place = format_location(location)
    if place in ("-:0:0", "unknown"):
        return name
    return name + place[1:] if place.startswith("-:") else place
