"""The function that calls a Fortran routine once for each problem of a batch, in MLIR text.

It takes buffers and works on pointers. Fortran passes everything by reference, so sizes and letters
are on the stack. The workspace size is queried from the routine.
"""

import math
from dataclasses import dataclass, field

from mlir_fp8.base.symbols import LAPACK
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.arguments import (
    Argument,
    Character,
    Integer,
    Null,
    One,
    Operand,
    Result,
    Routine,
    Scratch,
    Tensor,
    Workspace,
    WorkspaceSize,
)
from mlir_fp8.lowering.stablehlo_to_linalg.lapack.problem import Problem

_BYTES = {"f32": 4, "f64": 8, "i32": 4}
_NOT_FINITE = -4
"""What jaxlib puts into `info` where it does not call the routine."""


@dataclass
class _Text:
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def value(self, operation: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {operation}")
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def number(self, value: int, type_: str = "i64") -> str:
        return self.value(f"llvm.mlir.constant({value} : {type_}) : {type_}")

    def on_stack(self, value: str, type_: str) -> str:
        place = self.value(f"llvm.alloca {self.number(1)} x {type_} : (i64) -> !llvm.ptr")
        self.line(f"llvm.store {value}, {place} : {type_}, !llvm.ptr")
        return place

    def at(self, pointer: str, place: str, element: str) -> str:
        return self.value(
            f"llvm.getelementptr {pointer}[{place}] : (!llvm.ptr, i64) -> !llvm.ptr, {element}"
        )

    def allocated(self, size: str) -> str:
        return self.value(f"llvm.call @malloc({size}) : (i64) -> !llvm.ptr")


class _Kernel:
    """Writes the body; buffers come in the order of operands, then of results not in place."""

    def __init__(self, problem: Problem, routine: Routine) -> None:
        self._text, self._problem, self._routine = _Text(), problem, routine
        self._symbol = f"{LAPACK}{problem.letter}{problem.routine}"
        self._freed: list[str] = []
        self._work = self._work_size = self._nothing = ""
        self._scalars: dict[int, str] = {}

    def body(self, buffers: dict[Operand | Result, str]) -> list[str]:
        """`buffers` are the memref types of those that have elements."""
        text = self._text
        pointers = {
            key: self._pointer(f"%b{number}", type_)
            for number, (key, type_) in enumerate(buffers.items())
        }
        for number, argument in enumerate(self._routine.arguments):
            self._prepare(number, argument)
        self._nothing = text.value(f"llvm.alloca {text.number(16)} x i8 : (i64) -> !llvm.ptr")
        for key, pointer in pointers.items():
            if isinstance(key, Result):
                self._clear(pointer, key)
        first, count, step = (
            text.value(f"arith.constant {value} : index") for value in (0, self._problem.count(), 1)
        )
        if self._work:
            self._ask_for_workspace(pointers)
        text.line(f"scf.for %i = {first} to {count} step {step} {{")
        index = text.value("arith.index_cast %i : index to i64")
        self._call_one(index, pointers)
        text.line("}")
        for pointer in self._freed:
            text.line(f"llvm.call @free({pointer}) : (!llvm.ptr) -> ()")
        return text.lines

    def _pointer(self, buffer: str, type_: str) -> str:
        text = self._text
        index = text.value(f"memref.extract_aligned_pointer_as_index {buffer} : {type_} -> index")
        number = text.value(f"arith.index_cast {index} : index to i64")
        return text.value(f"llvm.inttoptr {number} : i64 to !llvm.ptr")

    def _prepare(self, number: int, argument: Argument) -> None:
        """The pointer of an argument that is the same for all problems."""
        text = self._text
        match argument:
            case Character(value):
                pointer = text.on_stack(text.number(value, "i8"), "i8")
            case Integer(value):
                pointer = text.on_stack(text.number(value, "i32"), "i32")
            case WorkspaceSize():
                pointer = self._work_size = text.on_stack(text.number(-1, "i32"), "i32")
            case One():
                real = self._problem.real
                one = text.value(f"llvm.mlir.constant(1.0 : {real}) : {real}")
                parts = text.value(f"llvm.alloca {text.number(2)} x {real} : (i64) -> !llvm.ptr")
                nothing = text.value(f"llvm.mlir.constant(0.0 : {real}) : {real}")
                imaginary = text.at(parts, text.number(1), real)
                text.line(f"llvm.store {one}, {parts} : {real}, !llvm.ptr")
                text.line(f"llvm.store {nothing}, {imaginary} : {real}, !llvm.ptr")
                pointer = parts
            case Null():
                pointer = text.value("llvm.mlir.zero : !llvm.ptr")
            case Scratch(kind, count):
                size = text.number(max(1, count) * self._bytes(kind))
                pointer = text.allocated(size)
                self._freed.append(pointer)
            case Workspace():  # for the result of the workspace query
                pointer = self._work = text.allocated(text.number(16))
                self._freed.append(pointer)
            case Operand() | Result():
                return
        self._scalars[number] = pointer

    def _element(self, kind: str) -> str:
        """The element type in memory; a complex number is two of it."""
        return "i32" if kind == "I" else self._problem.real

    def _bytes(self, kind: str) -> int:
        parts = 2 if self._problem.is_complex and kind == "T" else 1
        return _BYTES[self._element(kind)] * parts

    def _tensor(self, key: Operand | Result) -> Tensor:
        tensors = self._routine.operands if isinstance(key, Operand) else self._routine.results
        return tensors[key.number]

    def _clear(self, pointer: str, key: Result) -> None:
        """Zero the outputs that the routine does not write (vectors that are not requested)."""
        tensor, text = self._tensor(key), self._text
        size = math.prod(tensor.sizes) * self._bytes(tensor.kind) * self._problem.count()
        zero = text.number(0, "i8")
        text.line(
            f'"llvm.intr.memset"({pointer}, {zero}, {text.number(size)})'
            " <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()"
        )

    def _passed(self, index: str, pointers: dict[Operand | Result, str]) -> list[str]:
        text, passed = self._text, []
        for number, argument in enumerate(self._routine.arguments):
            if not isinstance(argument, Operand | Result):
                passed.append(self._scalars[number])
                continue
            key = Operand(argument.number) if isinstance(argument, Operand) else argument
            if key not in pointers:  # it is empty
                passed.append(self._nothing)
                continue
            tensor = self._tensor(key)
            parts = self._bytes(tensor.kind) // _BYTES[self._element(tensor.kind)]
            step = text.number(math.prod(tensor.sizes) * parts)
            place = text.value(f"llvm.mul {index}, {step} : i64")
            skipped = argument.skipped if isinstance(argument, Operand) else 0
            if skipped:
                place = text.value(f"llvm.add {place}, {text.number(skipped * parts)} : i64")
            passed.append(text.at(pointers[key], place, self._element(tensor.kind)))
        return passed

    def _call(self, passed: list[str]) -> None:
        types = ", ".join("!llvm.ptr" for _ in passed)
        self._text.line(f"llvm.call @{self._symbol}({', '.join(passed)}) : ({types}) -> ()")

    def _ask_for_workspace(self, pointers: dict[Operand | Result, str]) -> None:
        """Query the workspace size, which is returned as a float, and allocate it.

        f32 holds only 24 bits of it: half an ulp is added.
        """
        text, real = self._text, self._problem.real
        self._call(self._passed(text.number(0), pointers))
        told = text.value(f"llvm.load {self._work} : !llvm.ptr -> {real}")
        if real != "f64":
            told = text.value(f"llvm.fpext {told} : {real} to f64")
        factor = text.value(f"llvm.mlir.constant({1 + 2.0**-23!r} : f64) : f64")
        wanted = text.value(f"llvm.fmul {told}, {factor} : f64")
        whole = text.value(f"llvm.fptosi {wanted} : f64 to i64")
        count = text.value(f"llvm.add {whole}, {text.number(1)} : i64")
        narrow = text.value(f"llvm.trunc {count} : i64 to i32")
        text.line(f"llvm.store {narrow}, {self._work_size} : i32, !llvm.ptr")
        size = text.value(f"llvm.mul {count}, {text.number(self._bytes('T'))} : i64")
        work = text.allocated(size)
        self._freed.append(work)
        self._scalars = {
            number: work if pointer == self._work else pointer
            for number, pointer in self._scalars.items()
        }

    def _call_one(self, index: str, pointers: dict[Operand | Result, str]) -> None:
        text, routine = self._text, self._routine
        passed = self._passed(index, pointers)
        if not routine.only_finite or Operand(0) not in pointers:
            self._call(passed)
            return
        matrix = passed[routine.arguments.index(Operand(0))]
        is_finite = self._is_finite(matrix)
        text.line(f"scf.if {is_finite} {{")
        self._call(passed)
        text.line("} else {")
        assert routine.info is not None
        info = passed[routine.arguments.index(Result(routine.info))]
        text.line(f"llvm.store {text.number(_NOT_FINITE, 'i32')}, {info} : i32, !llvm.ptr")
        text.line("}")

    def _is_finite(self, matrix: str) -> str:
        """Whether each number that is looked at minus itself is 0."""
        text, real = self._text, self._problem.real
        rows, columns = self._routine.operands[0].sizes
        parts = 2 if self._problem.is_complex else 1
        first, step, all_rows, all_columns = (
            text.value(f"arith.constant {value} : index") for value in (0, 1, rows, columns)
        )
        nothing = text.value(f"arith.constant 0.0 : {real}")
        start = text.value("arith.constant true")
        text.line(
            f"%finite = scf.for %c = {first} to {all_columns} step {step}"
            f" iter_args(%before = {start}) -> (i1) {{"
        )
        after = text.value(f"arith.addi %c, {step} : index")
        begin = "%c" if self._routine.only_finite == "lower" else first
        end = after if self._routine.only_finite == "upper" else all_rows
        text.line(
            f"%column = scf.for %r = {begin} to {end} step {step}"
            " iter_args(%above = %before) -> (i1) {"
        )
        place = text.value(f"arith.muli %c, {all_rows} : index")
        place = text.value(f"arith.addi {place}, %r : index")
        good = "%above"
        for part in range(parts):
            number = text.value(f"arith.index_cast {place} : index to i64")
            number = text.value(f"llvm.mul {number}, {text.number(parts)} : i64")
            number = text.value(f"llvm.add {number}, {text.number(part)} : i64")
            element = text.value(f"llvm.load {text.at(matrix, number, real)} : !llvm.ptr -> {real}")
            difference = text.value(f"arith.subf {element}, {element} : {real}")
            is_zero = text.value(f"arith.cmpf oeq, {difference}, {nothing} : {real}")
            good = text.value(f"arith.andi {good}, {is_zero} : i1")
        text.line(f"scf.yield {good} : i1")
        text.line("}")
        text.line("scf.yield %column : i1")
        text.line("}")
        return "%finite"


def kernel_text(problem: Problem, routine: Routine, buffers: dict[Operand | Result, str]) -> str:
    """The function @NAME of `buffers`, their memref types; see `_Kernel`."""
    lines = _Kernel(problem, routine).body(buffers)
    parameters = ", ".join(f"%b{number}: {type_}" for number, type_ in enumerate(buffers.values()))
    body = "\n  ".join([*lines, "return"])
    return f"""func.func private @NAME({parameters}) attributes {{
  no_inline, llvm.no_inline, llvm.linkage = #llvm.linkage<internal>
}} {{
  {body}
}}"""


def declarations(problem: Problem, routine: Routine) -> list[str]:
    """What the function calls."""
    pointers = ", ".join("!llvm.ptr" for _ in routine.arguments)
    return [
        f"llvm.func @{LAPACK}{problem.letter}{problem.routine}({pointers})",
        "llvm.func @malloc(i64) -> !llvm.ptr",
        "llvm.func @free(!llvm.ptr)",
    ]
