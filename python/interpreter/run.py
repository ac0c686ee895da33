"""Run a module in StableHLO's reference interpreter: slow, op by op, an independent reference.

The interpreter aborts the process on unsupported ops, so it runs in a forked child, which writes
its results to files. After a crash a second, traced run finds the op that it aborted on.
"""

import contextlib
import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.artifacts.dense_resources import make_dense
from mlir_fp8.base.context import (
    diagnostics,
    format_location,
    make_context,
    mlir_error,
    op_error,
    symbol_name,
)
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.base.operations import function_type, operations, readable_attributes
from mlir_fp8.interpreter.limits import check_element_type
from mlir_fp8.interpreter.probes import instrument
from mlir_fp8.interpreter.record import TABLE, Recorded, reached_op, read_record

Arguments = Callable[[ir.Context], Sequence[ir.Attribute]]
"""Makes the constants that stand for the arguments, in the context of the run."""
Legalize = Callable[[ir.Module], ir.Operation]
MakeStatic = Callable[[ir.Module, ir.Operation, Sequence[ir.Type]], None]

_STDERR = "stderr"
DEQUANTIZE = (
    "func.func(stablehlo-legalize-quantized-op-to-qdq,stablehlo-legalize-quant-to-math,"
    "chlo-legalize-to-stablehlo)"
)


@dataclass(frozen=True)
class Evaluation:
    """What a run gave: results, and what `interpreter.probe` and `.print` were given, in order."""

    results: tuple[Recorded, ...]
    probes: tuple[Recorded, ...]
    printed: tuple[Recorded, ...]


def find_entry(module: ir.Module, entry: str) -> ir.Operation | None:
    """The function that runs: `entry`, or the only one for `main`; None in a module without any."""
    functions = {
        symbol_name(op): op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    if not functions and entry == "main":
        return None
    if entry not in functions and entry == "main" and len(functions) == 1:
        return next(iter(functions.values()))
    if entry not in functions:
        names = ", ".join(f"'{name}'" for name in functions) or "none"
        raise Fp8Error(f"no function '{entry}': the module's functions are {names}")
    return functions[entry]


def register_interpreter_dialect(context: ir.Context) -> None:
    """Let `context` parse `interpreter.probe` and `interpreter.print`."""
    _stablehlo.register_interpreter_dialect(context)


def evaluate(
    module: ir.Module,
    arguments: Arguments,
    *,
    entry: str = "main",
    seconds: float = 60.0,
    name: str = "-",
    legalize: Legalize = lambda module: module.operation,
    make_static: MakeStatic | None = None,
) -> Evaluation:
    """Run `entry` of a StableHLO module and read back everything that it recorded.

    `legalize` gives what to run of a module of other dialects, or a copy; `make_static` lets the
    entry, in place, take the types of the arguments where its shapes are dynamic. `name` stands
    for the file in errors, which are those of `mlir_fp8.interpret`.
    """
    try:
        return _evaluate(module, arguments, entry, seconds, legalize, make_static)
    except Fp8Error as error:
        message = str(error)
        raise Fp8Error(name + message[1:] if message.startswith("-:") else message) from None


def _evaluate(
    module: ir.Module,
    arguments: Arguments,
    entry: str,
    seconds: float,
    legalize: Legalize,
    make_static: MakeStatic | None,
) -> Evaluation:
    function = find_entry(module, entry)
    if function is None:
        return Evaluation((), (), ())
    if not function.regions[0].blocks:
        raise op_error(function, f"'{symbol_name(function)}' has no body to run: define it")
    _refuse_sparse(module)
    for index, type_ in enumerate(argument_types(function)):
        what = f"argument {index} of '{symbol_name(function)}'"
        check_element_type(f"{format_location(function.location)}: {what}", type_)
    buffer = io.BytesIO()
    legalize(module).write_bytecode(buffer)
    run = _Run(buffer.getvalue(), arguments, entry, seconds, make_static)
    with _scratch() as directory:
        started = time.monotonic()
        crash: CrashError | None = None
        try:
            run.isolated(directory, trace=False)
        except CrashError as error:
            crash = error
        record = read_record(directory)
        if record.failure:
            raise Fp8Error(record.failure)
        if crash is None:
            return Evaluation(record.results, record.probes, record.printed)
        if time.monotonic() - started >= seconds:
            raise Fp8Error(f"the interpreter did not finish in {seconds:g} s: give it more time")
        reason = _last_words(directory) or str(crash)
    raise _name_op(run, reason)


def _refuse_sparse(module: ir.Module) -> None:
    """The interpreter reads the memory of a constant, which is no array of its elements there."""
    for op in operations(module.operation):
        if not op.name.endswith(".constant"):
            continue
        for _, value in readable_attributes(op):
            if not isinstance(value, ir.DenseElementsAttr) and str(value).startswith("sparse<"):
                raise op_error(op, "is sparse, which the interpreter cannot read: make it dense")


@dataclass(frozen=True)
class _Run:
    bytecode: bytes
    arguments: Arguments
    entry: str
    seconds: float
    make_static: MakeStatic | None

    def isolated(self, directory: Path, *, trace: bool) -> None:
        call_isolated(lambda: self._work(directory, trace=trace), seconds=self.seconds)

    def _work(self, directory: Path, *, trace: bool) -> bytes:
        os.dup2(os.open(directory / _STDERR, os.O_WRONLY | os.O_CREAT), 2)
        context = make_context()
        _stablehlo.register_interpreter_dialect(context)
        module = ir.Module.parse(self.bytecode, context)
        # The interpreter reads a resource's header as numbers.
        make_dense(module.operation, "-")
        values = self.arguments(context)
        entry = find_entry(module, self.entry)
        assert entry is not None
        make_main(module, entry)
        with diagnostics(context) as errors:
            try:
                self._make_static(module, entry, values)
                table = instrument(module, entry, trace=trace)
                (directory / TABLE).write_text(json.dumps(table.to_json()))
                module.operation.verify()
                _stablehlo.eval_module(module, values, str(directory))
            except ir.MLIRError as error:
                raise mlir_error(error, "-") from None
            except ValueError as error:
                reason = errors[0] if errors else str(error)
                raise Fp8Error(reason.splitlines()[0].removeprefix("unknown: ")) from None
        return b""

    def _make_static(
        self, module: ir.Module, entry: ir.Operation, values: Sequence[ir.Attribute]
    ) -> None:
        """As the interpreter itself does, which would meet our probes: shapes, quantized types."""
        type_ = function_type(entry)
        types = list(type_.inputs)
        is_dynamic = any(
            not isinstance(each, ir.RankedTensorType) or not each.has_static_shape
            for each in (*types, *type_.results)
        )
        if self.make_static and is_dynamic and len(values) == len(types):
            self.make_static(module, entry, [ir.DenseElementsAttr(each).type for each in values])
        if "!quant." in str(module):
            pipeline = f"builtin.module({DEQUANTIZE})"
            passmanager.PassManager.parse(pipeline, module.context).run(module.operation)


def _name_op(run: _Run, reason: str) -> Fp8Error:
    """The error for a crash, with the op that a traced run stops at."""
    with _scratch() as directory:
        # It crashes again, as it should.
        with contextlib.suppress(CrashError):
            run.isolated(directory, trace=True)
        reached = reached_op(directory)
    if reached is None:
        return Fp8Error(f"the interpreter stopped: {reason}")
    op, place = reached
    ways_out = {
        "chlo.": "legalize it first (--chlo-legalize-to-stablehlo, small floats by "
        "--float-normalization before)",
        "custom_call": "write it as ops",
        "": "compile the module instead",
    }
    way_out = next(way for prefix, way in ways_out.items() if op.startswith(prefix))
    return Fp8Error(f"{place}: '{op}' cannot be interpreted: {reason}; {way_out}")


def _last_words(directory: Path) -> str:
    """Why the library aborted, without the op's text and the advice that follow."""
    lines = (directory / _STDERR).read_text(errors="replace").splitlines()
    fatal = next((line for line in lines if line.startswith("LLVM ERROR: ")), "")
    sentence = fatal.removeprefix("LLVM ERROR: ").partition(". ")[0].rstrip(".")
    if sentence.startswith("Unsupported op: "):
        return "the interpreter does not know it"
    return sentence[:1].lower() + sentence[1:]


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mlir-fp8-") as directory:
        yield Path(directory)


def make_main(module: ir.Module, entry: ir.Operation) -> None:
    """Name `entry` main, the only name that the interpreter starts at."""
    table = ir.SymbolTable(module.operation)
    name = symbol_name(entry)
    if name == "main":
        return
    with module.context:
        for old, new in (("main", "main.other"), (name, "main")):
            if old in table:
                ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
                ir.SymbolTable.set_symbol_name(table[old].operation, new)
                table = ir.SymbolTable(module.operation)


def argument_types(function: ir.Operation) -> list[ir.Type]:
    return list(function_type(function).inputs)
