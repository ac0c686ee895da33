"""The names of judges; imports no MLIR."""

import re
from collections.abc import Sequence

JUDGES = ("llvm", "interpreter", "xla")
XLA = "xla-"
"""What stands before the device of a judge that is XLA on a GPU."""

_ON_GPU = re.compile(rf"{XLA}gpu(:(0|[1-9]\d*))?")


def are_judges(names: Sequence[str]) -> bool:
    """Whether `names` are two judges or more, none of them twice."""
    known = all(name in JUDGES or _ON_GPU.fullmatch(name) for name in names)
    return known and len(names) > 1 and len(set(names)) == len(names)


def on_device(names: Sequence[str], device: str) -> tuple[str, ...]:
    """`names` with `xla`, or `xla-gpu` without a number, on `device`."""
    if device == "cpu":
        return tuple(names)
    moved = {"xla": XLA + device, f"{XLA}gpu": XLA + device}
    return tuple(moved.get(name, name) for name in names)
