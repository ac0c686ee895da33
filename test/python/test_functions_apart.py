"""Functions that are lowered apart are those that the module would have had."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.base.context import make_context, symbol_name
from mlir_fp8.compiling import execution
from mlir_fp8.compiling.compile_options import CompileOptions
from mlir_fp8.compiling.native import module_parts, part_compiler
from mlir_fp8.compiling.native.functions_apart import Apart, lowered, take_kernels, take_loops
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.passes.unlocked import run_unlocked, verify_unlocked

MODELS = Path(__file__).parent.parent / "models"
NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
# A convolution and products of several forms, which threads share.
MIXED = """
func.func @main(%a: tensor<512x512xf8E4M3FN>, %b: tensor<512x512xf8E5M2>,
                %i: tensor<1x32x32x16xf32>, %f: tensor<3x3x16x16xf32>)
    -> (tensor<512x512xf32>, tensor<512xf32>, tensor<1x30x30x16xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<512x512xf8E4M3FN>, tensor<512x512xf8E5M2>) -> tensor<512x512xf32>
  %1 = stablehlo.tanh %0 : tensor<512x512xf32>
  %2 = stablehlo.slice %1 [0:1, 0:512] : (tensor<512x512xf32>) -> tensor<1x512xf32>
  %3 = stablehlo.reshape %2 : (tensor<1x512xf32>) -> tensor<512xf32>
  %4 = stablehlo.convert %a : (tensor<512x512xf8E4M3FN>) -> tensor<512x512xf32>
  %5 = stablehlo.dot_general %3, %4, contracting_dims = [0] x [0]
    : (tensor<512xf32>, tensor<512x512xf32>) -> tensor<512xf32>
  %6 = stablehlo.convolution(%i, %f) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x32x32x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x30x30x16xf32>
  return %1, %5, %6 : tensor<512x512xf32>, tensor<512xf32>, tensor<1x30x30x16xf32>
}
"""


def _functions(module: ir.Module) -> dict[str, str]:
    texts = {}
    for op in module.body:
        text = str(op.operation.get_asm(use_local_scope=True))
        text = re.sub(r', sym_visibility = "\w+"', "", text)
        texts[symbol_name(op)] = re.sub(
            r"^llvm.func (internal|private) (private )?", "llvm.func ", text
        )
    return texts


@dataclass
class _Taken:
    """What is taken out of a module, lowered as `PartCompiler` does."""

    threads: int
    parts: list[module_parts.Part] = field(default_factory=list)
    called: set[str] = field(default_factory=set)

    def take_kernels(self, module: ir.Module) -> None:
        found = take_kernels(module)
        assert found is not None
        self._lower(found, pipelines.kernels_to_llvm(threads=2))

    def take_loops(self, module: ir.Module) -> None:
        for found in take_loops(module, self.threads, are_busy=False):
            self._lower(found, pipelines.loops_to_llvm(threads=2))

    def _lower(self, found: Apart, passes: list[str]) -> None:
        self.parts.append(lowered(found, passes, make_context()))
        self.called |= set(found.called)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name",
    [NAMES[0], *(pytest.param(each, marks=pytest.mark.exhaustive) for each in NAMES[1:]), "mixed"],
)
@pytest.mark.parametrize("kernels", ["host", "avx512-bf16", "neon", "neon-bf16", "neon-fp8"])
def test_the_code_is_that_of_the_whole_module(name: str, kernels: str) -> None:
    source = mlir_fp8.load(MIXED if name == "mixed" else MODELS / f"{name}.mlirbc")
    options = CompileOptions("main", threads=2, kernels=kernels)
    whole, *_ = execution.lower_to_llvm(source, options)
    taken = _Taken(3)
    rest, *_ = execution.lower_to_llvm(source, options, taker=taken)
    # Kernels, and two shares of the loops.
    assert len(taken.parts) == (3 if name == NAMES[2] else 1)
    wanted, of_rest = _functions(whole), _functions(rest)
    found = [_functions(part.module) for part in taken.parts]
    assert set(of_rest).union(*found) == wanted.keys()
    for functions in (of_rest, *found):
        for function, text in functions.items():
            if not (functions is of_rest and function in taken.called):
                assert text == wanted[function]
    for part in taken.parts:
        assert part.module.context != rest.context


def _loops(body: str) -> ir.Module:
    """Forty functions as `outline-loops` makes them."""
    functions = [
        f"""func.func private @loops_{number}(%a: memref<4xf32>, %b: memref<4xf32>)
            attributes {{llvm.linkage = #llvm.linkage<internal>, llvm.no_inline}} {{
          {body}
          return
        }}"""
        for number in range(40)
    ]
    table = "memref.global constant @table : memref<4xf32> = dense<1.5>"
    return ir.Module.parse("\n".join([table, *functions]), make_context())


def test_loops_are_shared_among_threads() -> None:
    module = _loops("memref.copy %a, %b : memref<4xf32> to memref<4xf32>")
    assert take_loops(module, 1, are_busy=False) == []
    shares = take_loops(module, 2, are_busy=False)
    assert [len(each.called) for each in shares] == [24]
    busy = _loops("memref.copy %a, %b : memref<4xf32> to memref<4xf32>")
    assert [len(each.called) for each in take_loops(busy, 2, are_busy=True)] == [16]
    assert str(module).count("memref.copy") == 16
    assert str(module).count("func.func private @loops_") == 40


def test_loops_that_use_the_module_stay_there() -> None:
    table = "%0 = memref.get_global @table : memref<4xf32>"
    module = _loops(f"{table}\n memref.copy %0, %b : memref<4xf32> to memref<4xf32>")
    assert take_loops(module, 2, are_busy=False) == []
    assert str(module).count("memref.copy") == 40


def test_a_failing_kernel_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(apart: Apart, passes: list[str], context: ir.Context) -> module_parts.Part:
        text = str(apart.source).replace("func.call", "func.call_not", 1)
        return lowered(Apart(text, apart.called), passes, context)

    monkeypatch.setattr(part_compiler, "lowered", broken)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        mlir_fp8.compile(MIXED, threads=2)
    assert "call_not" in str(caught.value) and "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_the_passes_error_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that fails while the kernels are compiled."""

    def failing(*, threads: int, huge_pages: bool = False) -> list[str]:
        return ["verify-lowered{to=llvm}"]

    monkeypatch.setattr(pipelines, "kernels_to_loops", failing)
    with pytest.raises(mlir_fp8.Fp8Error, match="is not lowered to the LLVM dialect"):
        mlir_fp8.compile(MIXED, threads=2)


@pytest.mark.exhaustive
def test_what_cannot_be_linked_is_compiled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = [array for _, array in restored(np.load(MODELS / f"{NAMES[0]}.in.npz"))]
    source = MODELS / f"{NAMES[0]}.mlirbc"
    wanted = [each.tobytes() for each in mlir_fp8.compile(source, threads=2)(*arrays)]
    monkeypatch.setattr(execution, "is_linkable", lambda _: False)
    assert [each.tobytes() for each in mlir_fp8.compile(source, threads=2)(*arrays)] == wanted


def test_errors_in_loops_have_their_place() -> None:
    source = mlir_fp8.load(MODELS / f"{NAMES[2]}.mlirbc")
    taken = _Taken(2)
    execution.lower_to_llvm(source, CompileOptions("main", threads=2), taker=taken)
    _, loops = taken.parts
    text = str(loops.module.operation.get_asm(enable_debug_info=True))
    assert "jit(tf_train)/jvp()/reduce_sum" in text


@pytest.mark.parametrize(
    "pipeline",
    [
        ["canonicalize", "one-shot-bufferize{bufferize-function-boundaries}"],
        ["verify-lowered{to=llvm}"],
        ["signed-slice-indices", "verify-lowered{to=other}"],
    ],
)
@pytest.mark.parametrize("place", ["", " loc(unknown)", ' loc("file.mlir":3:4)'])
def test_errors_of_passes_without_the_lock(
    pipeline: list[str], place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text = f"""module {{
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = stablehlo.abs %a : tensor<4xf32>{place}
      return %0 : tensor<4xf32>
    }}{place} }}"""
    with pytest.raises(mlir_fp8.Fp8Error) as wanted:
        run_pipeline(ir.Module.parse(text, make_context()), pipeline, verify_each=False)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        run_unlocked(ir.Module.parse(text, make_context()), pipeline)
    assert str(caught.value) == str(wanted.value)
    assert capfd.readouterr().err == ""


def test_what_is_not_valid_is_told_without_the_lock() -> None:
    module = ir.Module.parse("func.func @f() { return }", make_context())
    module.body.operations[0].attributes["function_type"] = ir.Attribute.parse(
        "() -> i32", module.context
    )
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^<module>:1:"):
        verify_unlocked(module)


ENDS = {
    "a thread that Python waits for": "threading.Thread(target=compile_it).start()",
    "at exit": "atexit.register(compile_it)",
    "at exit, not the first": "mlir_fp8.compile(SMALL, threads=2); atexit.register(compile_it)",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("end", ENDS)
def test_modules_are_compiled_while_python_ends(end: str) -> None:
    script = f"""
import atexit, threading, mlir_fp8
SMALL = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{ return %a : tensor<2xf32> }}"
def compile_it():
    print(len(mlir_fp8.compile({MIXED!r}, threads=2).arguments))
{ENDS[end]}
"""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"MLIR_FP8_CACHE": "off"},
    )
    assert (ran.stdout, ran.stderr) == ("4\n", "")


def test_where_no_thread_can_be_had_the_caller_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    wanted = _object_files()
    monkeypatch.setattr(ThreadPoolExecutor, "_adjust_thread_count", refused)
    assert _object_files() == wanted


def _object_files() -> list[bytes]:
    _, objects = execution.compile_module(mlir_fp8.load(MIXED), CompileOptions("main", threads=2))
    return objects()
