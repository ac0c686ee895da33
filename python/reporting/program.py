"""Every float value of an entry function as a result, with its value before rounding."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8 import pipelines
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import mlir_error
from mlir_fp8.base.operations import operations, terminator
from mlir_fp8.compiling import compilation
from mlir_fp8.compiling.entry import copy_of, entry_function, entry_signature, isolate_entry
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.reporting import naming, twin
from mlir_fp8.reporting.clamps import rounded_value

# Without the inliner's own clean-up, which would fold values away.
_INLINED = ["inline{default-pipeline=}", "symbol-dce"]
_OWN_OPS = "fp8-legalize-to-stablehlo"

_SHORT = 1 << 14
"""Elements of a value, on average, below which its loops are not worth optimizing."""


@dataclass(frozen=True)
class Value:
    """One float value of the program, after inlining."""

    names: tuple[str, ...]
    """As MLIR spells them; a value has several where calls return it."""
    op: str
    """The op that yields it, or `argument`."""
    scope: str
    place: str
    spec: TensorSpec
    origin: int | None = None
    """The value that this one rounds, where the code does not say it by a convert alone."""
    is_clamped: bool = False
    """Whether it is rounded by way of a clamp to the format's range."""

    @property
    def format(self) -> FloatFormat:
        return FORMATS[self.spec.element]


@dataclass(frozen=True)
class LeftOut:
    """Values that a report has nothing to say of."""

    reason: str
    values: int

    def __str__(self) -> str:
        return f"{self.values} value{'' if self.values == 1 else 's'}: {self.reason}"


class Executable:
    """A module whose entry returns what was asked for, by position in the list of all `results`."""

    def __init__(self, module: ir.Module, entry: str, kept: int) -> None:
        self._module = module
        self._entry = entry
        with module.context:
            self._function = entry_function(module, entry)
            results = list(_terminator(self._function).operands)
        self._declared = results[:kept]
        self.results: list[ir.Value] = results[kept:]

    def run(
        self, positions: Sequence[int], arrays: Sequence[Any], saturate: bool
    ) -> list[np.ndarray]:
        """The results at `positions`; the entry's own are computed too: all is compiled."""
        with self._module.context:
            chosen = [self.results[position] for position in positions]
            set_results(self._function, [*self._declared, *chosen])
            elements = sum(math.prod(ir.RankedTensorType(value.type).shape) for value in chosen)
        # Optimizing hundreds of short loops takes longer than running them. The bits are equal.
        is_short = elements < _SHORT * len(chosen)
        compiled = compilation.compile(
            self._module,
            entry=self._entry,
            saturate=saturate,
            opt_level=0 if is_short else 2,
            cache=False,
        )
        return list(compiled(*arrays)[len(self._declared) :])


@dataclass(frozen=True)
class Program:
    """The values of a module's entry, in program order, and the code that computes them."""

    values: tuple[Value, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    strict: Executable
    """Result i is value i; `before[i]` is the position of what it was before its rounding."""
    before: dict[int, int]
    twin: Executable
    """The same program in f32: result i is value i."""


def instrumented(source: ir.Module, entry: str, file: str) -> Program:
    """The program of `entry`; raises `Fp8Error` where the module cannot be compiled.

    `source` is left as it is; `file` is what places call text that has no name.
    """
    entry_signature(source, entry)
    module = copy_of(source)
    with module.context:
        isolate_entry(module, entry_function(module, entry))
    to_inline, to_rounded = _road()
    run_pipeline(module, to_inline)
    with module.context:
        naming.name_values(module)
    run_pipeline(module, _INLINED)
    with module.context:
        function = entry_function(module, entry)
        found, values, left_out = _collect(function, file)
        declared = list(_terminator(function).operands)
        set_results(function, [*declared, *found])
    in_f32 = copy_of(module)
    with in_f32.context:
        widened = entry_function(in_f32, entry)
        notes = twin.widen(widened)
        set_results(widened, list(_terminator(widened).operands))
    try:
        in_f32.operation.verify()
    except ir.MLIRError as error:
        raise mlir_error(error, "the program in f32") from None
    run_pipeline(module, to_rounded)
    with module.context:
        before = _unrounded(entry_function(module, entry), len(declared))
    origins = {
        index: value.origin for index, value in enumerate(values) if value.origin is not None
    }
    before.update(origins)
    return Program(
        tuple(values),
        tuple(left_out),
        tuple(notes),
        Executable(module, entry, len(declared)),
        before,
        Executable(in_f32, entry, len(declared)),
    )


def _road() -> tuple[list[str], list[str]]:
    """The passes before calls are inlined, and those after which all rounding is in converts."""
    road = pipelines.to_linalg(outline_layers=False)
    # A value should be one op until it is named: a convert with its rounding is.
    road[road.index(_OWN_OPS)] = f"{_OWN_OPS}{{keep-convert}}"
    inlined, rounded = road.index("symbol-dce") + 1, road[::-1].index("float-normalization")
    return road[: road.index("inline")], [_OWN_OPS, *road[inlined : len(road) - rounded]]


def _terminator(function: ir.Operation) -> ir.Operation:
    return terminator(function.regions[0].blocks[0])


def set_results(function: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Make `values` what `function` returns."""
    old = _terminator(function)
    with ir.InsertionPoint(old), old.location:
        ir.Operation.create("func.return", operands=list(values))
    old.erase()
    arguments = [argument.type for argument in function.regions[0].blocks[0].arguments]
    type_ = ir.FunctionType.get(arguments, [value.type for value in values])
    function.attributes["function_type"] = ir.TypeAttr.get(type_)
    # One dictionary per result of before.
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]


def _collect(
    function: ir.Operation, file: str
) -> tuple[list[ir.Value], list[Value], list[LeftOut]]:
    returned = naming.call_results(function)
    block = function.regions[0].blocks[0]
    state = ir.AsmState(function)
    found: list[ir.Value] = []
    values: list[Value] = []
    index: dict[ir.Value, int] = {}
    others: Counter[str] = Counter()

    def add(
        value: ir.Value,
        name: str,
        op: str,
        location: ir.Location,
        rounded: tuple[ir.Value, bool] | None = None,
    ) -> None:
        spec = _float_spec(value)
        if spec is None:
            others[f"{element_type(value) or value.type} is not a float"] += 1
            return
        # The caller's name first.
        names = tuple(sorted((*returned.get(value, ()), name), key=lambda path: path.count("/")))
        source = naming.scope(location), naming.place(location, file)
        origin, is_clamped = rounded or (None, False)
        rounds = None if origin is None else index.get(origin)
        index[value] = len(values)
        found.append(value)
        values.append(Value(names, op, *source, spec, rounds, is_clamped))

    for argument in block.arguments:
        location = ir.Location.name("argument", argument.location)
        add(argument, argument.get_name(state), "argument", location)
    *ops, _ = (op.operation for op in block.operations)
    for op in ops:
        if inner := sum(len(each.results) for each in operations(op, inner_first=True)[:-1]):
            others[f"in the regions of {op.name}, which run many times or not at all"] += inner
        for number, result in enumerate(op.results):
            several = number if len(op.results) > 1 else None
            name = naming.value_name(op.location, several)
            add(result, name, op.name, op.location, rounded_value(op))
    return found, values, [LeftOut(reason, count) for reason, count in others.items()]


def _float_spec(value: ir.Value) -> TensorSpec | None:
    name = str(element_type(value))
    if name not in FORMATS or not has_static_shape(value):
        return None
    return TensorSpec(tuple(ir.RankedTensorType(value.type).shape), name)


def _unrounded(function: ir.Operation, kept: int) -> dict[int, int]:
    """By value, the position of what its rounding takes, which becomes one more result."""
    results = list(_terminator(function).operands)
    values = results[kept:]
    positions = {value: position for position, value in enumerate(values)}
    before: dict[int, int] = {}
    for number, value in enumerate(values):
        source = _rounded_from(value)
        if source is None:
            continue
        if source not in positions:
            positions[source] = len(results) - kept
            results.append(source)
        before[number] = positions[source]
    set_results(function, results)
    return before


def _rounded_from(value: ir.Value) -> ir.Value | None:
    """What a convert to fewer bits takes; None for any other value."""
    op = value.owner
    if not isinstance(op, ir.Operation | ir.OpView) or op.operation.name != "stablehlo.convert":
        return None
    source = op.operation.operands[0]
    wide, narrow = (FORMATS.get(str(element_type(each))) for each in (source, value))
    return source if wide and narrow and wide.bits > narrow.bits else None
