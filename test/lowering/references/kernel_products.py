"""Products compiled to kernels for a given target, whatever processor runs them."""

import contextlib
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import make_context
from mlir_fp8.compiling.entry import copy_of, entry_function, signature
from mlir_fp8.compiling.execution import CompiledModule
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.kernels.vector_code import target as target_module
from mlir_fp8.lowering.kernels.vector_code.target import TARGETS, host_target
from mlir_fp8.passes.pass_pipeline import run_pipeline

PASS = "linalg-contract-to-kernels"
_EMULATED = Path(__file__).parent / "Inputs" / "emulated.mlir"
_DECLARED = re.compile(
    r"^ *func\.func private @llvm\.(?:x86|aarch64)\.([\w.]+)\(.*\)(?: -> .*)?$\n", re.MULTILINE
)
_DOT = re.compile(r"x86\.avx512\.dot (.*) : vector<32xbf16> -> vector<16xf32>")
_READ = re.compile(r"@llvm\.read_volatile_register\.i64\(%\w+\) : \(!llvm\.metadata\) -> i64")
_READ_DECLARED = re.compile(r"^ *func\.func private @llvm\.read_volatile.*$\n", re.MULTILINE)
_FEATURES = re.compile(r"llvm\.target_features = #llvm\.target_features<.*?>,? ?")
_LOOP = re.compile(r"arith\.add[fi] %out")
_SHARED = ("avx2.pmadd.ub.sw", "sse.ldmxcsr", "sse.stmxcsr")
"""Instructions that the processors of all targets have that use them."""


@dataclass(frozen=True)
class Form:
    """A dot_general by the letters of its operands and result, `bmk,bnk->bmn`; and all sizes."""

    letters: str
    sizes: dict[str, int]

    def __str__(self) -> str:
        return self.letters + "".join(f"-{k}{v}" for k, v in self.sizes.items())

    @property
    def operands(self) -> list[str]:
        return self.letters.partition("->")[0].split(",")

    def shape(self, letters: str) -> tuple[int, ...]:
        return tuple(self.sizes[each] for each in letters)

    def attributes(self) -> str:
        left, right = self.operands
        result = self.letters.partition("->")[2]
        shared = [each for each in left if each in right]
        batch = [each for each in shared if each in result]
        summed = [each for each in shared if each not in result]
        text = ""
        for name, group in (("batching", batch), ("contracting", summed)):
            if group:
                places = [[side.index(each) for each in group] for side in (left, right)]
                text += f", {name}_dims = {places[0]} x {places[1]}"
        return text


def targets(*names: str) -> list[Any]:
    """For `parametrize`: `names`, or all; where this is no x86, without those that need its
    instructions. Without `--exhaustive`, only the processor's own, or the first."""
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    found = [each for each in names or TARGETS if is_x86 or not TARGETS[each].fast_subnormals]
    own = host_target().name
    quick = own if own in found else found[0]
    marks = {each: [] if each == quick else [pytest.mark.exhaustive] for each in found}
    return [pytest.param(each, marks=marks[each]) for each in found]


@contextlib.contextmanager
def without_tiles() -> Iterator[None]:
    """Compile without AMX, which adds up products of bf16 in another order than those of f32."""
    own = host_target()
    with pytest.MonkeyPatch.context() as patch:
        other = TARGETS["avx512"] if own.tiles else own
        patch.setattr(target_module, "host_target", lambda: other)
        yield


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


Case = tuple[Form, tuple[str, str]]
"""A dot_general to f32, or of bytes to i32, and the element types of its operands."""


def program(cases: Sequence[Case]) -> str:
    """One function: two arguments and a result per case."""
    signature, body, returned, results = [], [], [], []
    for i, (form, elements) in enumerate(cases):
        left, right = (
            tensor(form.shape(o), e) for o, e in zip(form.operands, elements, strict=True)
        )
        sums = "i32" if elements[0].endswith("i8") else "f32"
        result = tensor(form.shape(form.letters.partition("->")[2]), sums)
        signature += [f"%a{i}: {left}", f"%b{i}: {right}"]
        names = [f"%a{i}", f"%b{i}"]
        if sums == "i32" and elements[0] != elements[1]:
            for side, type_ in ((0, left), (1, right)):
                wide = tensor(form.shape(form.operands[side]), "i32")
                body.append(f"%w{i}_{side} = stablehlo.convert {names[side]} : ({type_}) -> {wide}")
                names[side] = f"%w{i}_{side}"
            left, right = (tensor(form.shape(each), "i32") for each in form.operands)
        body.append(
            f"%r{i} = stablehlo.dot_general {names[0]}, {names[1]}{form.attributes()}"
            f" : ({left}, {right}) -> {result}"
        )
        returned.append(f"%r{i}")
        results.append(result)
    lines = "\n".join(body)
    return (
        f"func.func @main({', '.join(signature)}) -> ({', '.join(results)}) {{\n{lines}\n"
        f"return {', '.join(returned)} : {', '.join(results)} }}"
    )


def compiled(
    text: str,
    target: str,
    *,
    min_size: int = 1,
    epilogues: bool = False,
    emulates: bool = False,
) -> CompiledModule:
    """The module with kernels for `target`, and no other loops that sum.

    With `epilogues` something must follow the products, which they compute. What this processor
    need not have is emulated, with `emulates` also what it has.
    """
    module = copy_of(mlir_fp8.load(text))
    with module.context:
        arguments, results = signature(entry_function(module, "main"))
    rest = to_kernels(module, f"target={target} min-size={min_size} epilogues={epilogues}".lower())
    written = str(module)
    assert "call @product" in written and not _LOOP.search(written)
    assert ("call @epilogue" in written) == epilogues
    if emulates or host_target().name != target:
        module = ir.Module.parse(emulated(written), make_context())
    run_pipeline(module, rest)
    return native(module, arguments, results)


def to_kernels(module: ir.Module, options: str) -> list[str]:
    """Run all passes up to that which makes kernels; gives what comes after it."""
    passes = [*pipelines.to_linalg(), *pipelines.to_llvm()]
    place = next(i for i, each in enumerate(passes) if each.startswith(PASS))
    run_pipeline(module, [*passes[:place], f"{PASS}{{{options}}}"])
    return passes[place + 1 :]


def emulated(text: str) -> str:
    """The module with functions in place of instructions that not every processor has."""
    found = [each for each in _DECLARED.findall(text) if each not in _SHARED]
    text, count = _DOT.subn(
        r"func.call @emulated.dot(\1) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>)"
        " -> vector<16xf32>",
        text,
    )
    if not found and not count:
        return text
    text = _DECLARED.sub(lambda each: each[0] if each[1] in _SHARED else "", text)
    for name in found:
        for prefix in ("x86", "aarch64"):
            text = text.replace(f"@llvm.{prefix}.{name}(", f"@emulated.{name}(")
    text = _READ.sub("@emulated.get.fpmr() : () -> i64", _READ_DECLARED.sub("", text))
    text = _FEATURES.sub("", text)
    return text.replace("module {", "module {\n" + _EMULATED.read_text(), 1)


def native(
    module: ir.Module, arguments: list[TensorSpec], results: list[TensorSpec]
) -> CompiledModule:
    """The function `main` of a module in the LLVM dialect, which uses no threads."""
    with module.context:
        for op in module.body.operations:
            if op.operation.name == "llvm.func" and '"main"' in str(op.attributes["sym_name"]):
                ir.SymbolTable.set_symbol_name(op.operation, "fp8.main")
        engine = ExecutionEngine(module, opt_level=2)
        return CompiledModule(engine, "main", arguments, results)


def integers(generator: np.random.Generator, shape: Sequence[int], element: str) -> np.ndarray:
    """Small whole numbers of `element`, so that sums are exact in f32; of f8E8M0FNU powers of 2."""
    if element == "f8E8M0FNU":
        numbers = 2.0 ** generator.integers(-2, 3, shape)
    else:
        numbers = generator.integers(-3, 4, shape).astype(np.float64)
    return numbers.astype(np.float32).astype(FORMATS[element].dtype)
