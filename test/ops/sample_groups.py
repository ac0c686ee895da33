"""Several programs in one module: one entry that calls each, so that one compilation serves all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from samples import Sample

from mlir_fp8.arrays.tensor_specs import TensorSpec

_HEAD = re.compile(r"func\.func @main\((.*)\) -> \((.*)\) \{")
_TYPE = re.compile(r"tensor<(?:[^<>]|<[^<>]*>)*>")
_SHAPED = re.compile(r"tensor<((?:\d+x)*)([a-z][^?]*)>")
_DEFINED = re.compile(r"func\.func private @(\w+)")


@dataclass(frozen=True)
class Case:
    """A sample over one element type."""

    sample: Sample
    element: str

    @cached_property
    def text(self) -> str:
        return self.sample.program(self.element)

    @cached_property
    def argument_types(self) -> tuple[str, ...]:
        return self._types(1)

    @cached_property
    def result_types(self) -> tuple[str, ...]:
        return self._types(2)

    def _types(self, part: int) -> tuple[str, ...]:
        head = _HEAD.match(self.text)
        assert head is not None, self.text
        return tuple(_TYPE.findall(head.group(part)))

    def __str__(self) -> str:
        return f"{self.sample.op} [{self.sample.form}] {self.element}"


def spec_of(type_: str) -> TensorSpec:
    """`tensor<3x5xf32>` as a spec; raises `ValueError` where a dimension has no size."""
    parts = _SHAPED.fullmatch(type_)
    if parts is None:
        raise ValueError(f"{type_} is not of a static shape")
    sizes = [int(size) for size in parts.group(1).split("x")[:-1]]
    return TensorSpec(tuple(sizes), parts.group(2))


@dataclass(frozen=True)
class Group:
    """Cases in one module, whose entry takes all arguments and gives all results in order."""

    cases: tuple[Case, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join([*(text for text in self._functions), self._entry()])

    @cached_property
    def _functions(self) -> tuple[str, ...]:
        if len(self.cases) == 1:
            return (self.cases[0].text,)
        return tuple(_renamed(case.text, index) for index, case in enumerate(self.cases))

    def _entry(self) -> str:
        if len(self.cases) == 1:
            return ""
        arguments, results, calls = [], [], []
        for index, case in enumerate(self.cases):
            taken = [f"%a{len(arguments) + i}" for i in range(len(case.argument_types))]
            arguments += case.argument_types
            given = f"%r{index}"
            of = f"({', '.join(case.argument_types)}) -> ({', '.join(case.result_types)})"
            calls.append(
                f"  {given}:{len(case.result_types)} ="
                f" func.call @main_{index}({', '.join(taken)}) : {of}"
            )
            results += [(f"{given}#{i}", type_) for i, type_ in enumerate(case.result_types)]
        named = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(arguments))
        names, types = (", ".join(each) for each in zip(*results, strict=True))
        lines = [f"func.func @main({named}) -> ({types}) {{", *calls]
        return "\n".join([*lines, f"  return {names} : {types}", "}"])

    def case_at(self, line: int) -> Case | None:
        """The case whose program has the line, from 1, of the module."""
        last = 0
        for case, text in zip(self.cases, self._functions, strict=True):
            last += text.count("\n") + 1
            if line <= last:
                return case
        return None

    @property
    def specs(self) -> list[TensorSpec]:
        return [spec_of(type_) for case in self.cases for type_ in case.result_types]

    def split(self, results: Sequence[np.ndarray]) -> list[tuple[np.ndarray, ...]]:
        """The results of each case."""
        left = iter(results)
        return [tuple(next(left) for _ in case.result_types) for case in self.cases]


def _renamed(text: str, index: int) -> str:
    names = {"main", *_DEFINED.findall(text)}
    pattern = re.compile(rf"@({'|'.join(sorted(names))})\b")
    return pattern.sub(rf"@\1_{index}", text).replace("func.func @", "func.func private @")
