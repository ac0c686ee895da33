"""The passes: one file each, named as its pass is typed, with underscores for dashes.

A pass is a frozen dataclass deriving from `ModulePass`; its fields are its options. It lies in the
folder of the stage that runs it. The registry is these folders: a new file `my_pass.py` in one of
`STAGES`, defining `MyPass`, is the pass `my-pass`. Files with a leading underscore and folders in a
stage are pieces of its passes; what several stages use lies in one of `ROOMS`. Nothing is imported
before it is used.
"""

import dataclasses
import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mlir_fp8.base.errors import Fp8Error

if TYPE_CHECKING:
    from torch_mlir import ir


ROOMS = ("rewriting", "codec", "real_functions", "loop_analysis", "sums")
"""What several stages use. Each may import those before it."""

STAGES = (
    "frontend",
    "arithmetic",
    "fp8",
    "stablehlo_to_linalg",
    "tensors",
    "codes",
    "buffers",
    "kernels",
    "loops",
    "llvm",
    "gpu",
)
"""The stages in the order of python/pipelines.py. Each may import rooms, and stages before it."""


@dataclasses.dataclass(frozen=True)
class ModulePass(ABC):
    """A pass over `builtin.module`. Fields are options: bool, int or str, each with a default."""

    @abstractmethod
    def run(self, module: "ir.Operation") -> None:
        """Transform `module` in place; raise `Fp8Error` for what cannot be done."""

    @classmethod
    def from_options(cls, name: str, options: Mapping[str, str | None]) -> Self:
        """Build the pass from textual options such as `{saturate=true}`; `{saturate}` is true."""
        fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for key, text in options.items():
            field = fields.get(key)
            if field is None:
                known = ", ".join(fields) or "none"
                raise Fp8Error(f"pass '{name}' has no option '{key}' (options: {known})")
            values[field.name] = _option_value(name, key, type(field.default), text)
        return cls(**values)


def _option_value(pass_name: str, key: str, kind: type, text: str | None) -> bool | int | str:
    if kind is bool and text in (None, "true", "false", "1", "0"):
        return text in (None, "true", "1")
    if kind is int and text is not None and text.removeprefix("-").isdecimal():
        return int(text)
    if kind is str and text is not None:
        return text
    raise Fp8Error(f"pass '{pass_name}': '{text}' is not a value of {kind.__name__} option '{key}'")


@functools.cache
def _modules() -> dict[str, str]:
    """The module of each pass, from the file names alone."""
    files = [file for stage in STAGES for file in (Path(__file__).parent / stage).glob("[!_]*.py")]
    return {
        file.stem.replace("_", "-"): f"{__name__}.{file.parent.name}.{file.stem}" for file in files
    }


@functools.cache
def pass_names() -> tuple[str, ...]:
    """The names of this project's passes."""
    return tuple(sorted(_modules()))


def pass_class(name: str) -> type[ModulePass]:
    """The class of the pass `name`, one of `pass_names()`."""
    module = importlib.import_module(_modules()[name])
    class_name = "".join(part.capitalize() for part in name.split("-"))
    return getattr(module, class_name)
