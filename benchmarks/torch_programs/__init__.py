"""PyTorch models and programs, of random weights: what the suite `pytorch` measures."""

from collections.abc import Iterator
from importlib import import_module

from benchmarks.torch_programs.program import Program

FAMILIES = ("language_models", "vision_models", "networks", "fp8_programs", "steps")


def programs() -> Iterator[Program]:
    """All of them, in the order of the table."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").PROGRAMS
