"""Large modules are compiled in parts by several threads: the same bits as in one part."""

import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.base.context import make_context
from mlir_fp8.compiling import execution
from mlir_fp8.compiling.native import module_parts, part_compiler
from mlir_fp8.compiling.native.code_generator import is_usable, let_threads_translate, object_of
from mlir_fp8.compiling.native.module_parts import parts_of
from mlir_fp8.compiling.native.stored_module import is_linkable, linked

MODELS = Path(__file__).parent.parent / "models"
NAMES = ("mlp_delayed_scaling", "transformer_forward", "transformer_train_step")
# Loops with a constant that every part clones and one that one part owns, whose columns the product
# packs; a function of the C library, and one whose name the C library has too.
SMALL = f"""
func.func private @malloc(%a: tensor<256xf32>) -> tensor<256xf32> {{
  %0 = stablehlo.tanh %a : tensor<256xf32>
  return %0 : tensor<256xf32>
}}
func.func @main(%a: tensor<256xf32>, %b: tensor<256x4xf8E4M3FN>)
    -> (tensor<256xf32>, tensor<4xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x4xf32>,
        tensor<2xcomplex<f32>>) {{
  %few = stablehlo.constant dense<[1.5, 2.0, -3.0, 4.0]> : tensor<4xf32>
  %many = stablehlo.constant dense<{[n % 7 + 0.25 for n in range(256)]}> : tensor<256xf32>
  %0 = func.call @malloc(%a) : (tensor<256xf32>) -> tensor<256xf32>
  %1 = stablehlo.add %0, %many : tensor<256xf32>
  %2 = stablehlo.convert %b : (tensor<256x4xf8E4M3FN>) -> tensor<256x4xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0]
    : (tensor<256xf32>, tensor<256x4xf32>) -> tensor<4xf32>
  %4 = stablehlo.multiply %3, %few : tensor<4xf32>
  %5 = stablehlo.sort %1 {{}}
  %6 = stablehlo.power %many, %a : tensor<256xf32>
  %7 = stablehlo.broadcast_in_dim %few, dims = [1] : (tensor<4xf32>) -> tensor<256x4xf32>
  %8 = stablehlo.multiply %7, %2 : tensor<256x4xf32>
  %c = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
  %9 = stablehlo.multiply %c, %c : tensor<2xcomplex<f32>>
  return %1, %4, %5, %6, %8, %9
    : tensor<256xf32>, tensor<4xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x4xf32>,
      tensor<2xcomplex<f32>>
}}
""".replace(
    "stablehlo.sort %1 {}",
    """"stablehlo.sort"(%1) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<256xf32>) -> tensor<256xf32>""",
)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Of how many parts each module was made."""
    seen: list[int] = []

    def counted(module: ir.Module, most: int) -> list[module_parts.Part]:
        parts = parts_of(module, most)
        seen.append(len(parts))
        return parts

    monkeypatch.setattr(part_compiler, "parts_of", counted)
    return seen


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_parts, "_WORTH_A_PART", 1)


def _arguments(name: str) -> list[np.ndarray]:
    return [array for _, array in restored(np.load(MODELS / f"{name}.in.npz"))]


def _small_arguments() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 0x7F, (256, 4), np.uint8)
    e4m3 = mlir_fp8.cast(np.zeros(1, np.float32), "f8E4M3FN").dtype
    return [rng.standard_normal(256).astype(np.float32), codes.view(e4m3)]


def _bits(program: mlir_fp8.CompiledModule, arguments: list[np.ndarray]) -> list[bytes]:
    return [result.tobytes() for result in program(*arguments)]


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(each, marks=pytest.mark.exhaustive) for each in NAMES[1:])]
)
def test_models_have_the_same_bits_from_any_number_of_parts(name: str, counts: list[int]) -> None:
    module = mlir_fp8.load(MODELS / f"{name}.mlirbc")
    arguments = _arguments(name)
    wanted = _bits(mlir_fp8.compile(module, threads=1), arguments)
    for threads in (2, 5):
        assert _bits(mlir_fp8.compile(module, threads=threads), arguments) == wanted
    # Where they are many, loops are compiled apart (test_functions_apart.py).
    assert counts[0] == 0 and len(counts) == (1 if name == NAMES[2] else 3)


def test_constants_and_names_of_the_c_library(counts: list[int], small_parts: None) -> None:
    arguments = _small_arguments()
    wanted = _bits(mlir_fp8.compile(SMALL, threads=1), arguments)
    for threads in (2, 3, 64):
        assert _bits(mlir_fp8.compile(SMALL, threads=threads), arguments) == wanted
    assert counts[:3] == [0, 2, 3] and counts[3] > 5


def test_small_modules_stay_whole(counts: list[int]) -> None:
    mlir_fp8.compile("func.func @main() {\n  return\n}", threads=8)
    assert counts == [0]


def test_the_environment_says_how_many(
    counts: list[int], small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("1", "4"):
        monkeypatch.setenv("MLIR_FP8_NUM_THREADS", number)
        mlir_fp8.compile(SMALL)
    assert counts == [0, 4]


def _parts(text: str, most: int) -> list[module_parts.Part]:
    return parts_of(ir.Module.parse(text, make_context()), most)


GLOBALS = """
llvm.mlir.global internal constant @few(7 : i64) : i64
llvm.mlir.global private constant @many(dense<3> : tensor<65xi64>) : !llvm.array<65 x i64>
llvm.mlir.global internal @made() : i64 {
  %0 = llvm.mlir.constant(11 : i64) : i64
  llvm.return %0 : i64
}
llvm.func internal @one(%to: !llvm.ptr) attributes {no_inline} {
  %few = llvm.mlir.addressof @few : !llvm.ptr
  %many = llvm.mlir.addressof @many : !llvm.ptr
  %0 = llvm.load %few : !llvm.ptr -> i64
  %1 = llvm.load %many : !llvm.ptr -> i64
  %2 = llvm.add %0, %1 : i64
  llvm.store %2, %to : i64, !llvm.ptr
  llvm.return
}
llvm.func internal @two(%to: !llvm.ptr) attributes {no_inline} {
  %few = llvm.mlir.addressof @few : !llvm.ptr
  %many = llvm.mlir.addressof @many : !llvm.ptr
  %made = llvm.mlir.addressof @made : !llvm.ptr
  %0 = llvm.load %few : !llvm.ptr -> i64
  %1 = llvm.load %many : !llvm.ptr -> i64
  %2 = llvm.load %made : !llvm.ptr -> i64
  %3 = llvm.mul %0, %1 : i64
  %4 = llvm.mul %3, %2 : i64
  llvm.store %4, %to : i64, !llvm.ptr
  llvm.return
}
llvm.func @three(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr) {
  llvm.call @one(%a) : (!llvm.ptr) -> ()
  llvm.call @two(%b) : (!llvm.ptr) -> ()
  %made = llvm.mlir.addressof @made : !llvm.ptr
  %0 = llvm.load %made : !llvm.ptr -> i64
  llvm.store %0, %c : i64, !llvm.ptr
  llvm.return
}
"""


def test_what_parts_share(small_parts: None) -> None:
    parts = _parts(GLOBALS, 8)
    texts = [str(part.module) for part in parts]
    # `@made` has code, which its users stay with; `@many` is one part's, and `@few` everybody's.
    (values,) = [text for text in texts if "@many(dense" in text]
    assert "llvm.func" not in values
    assert len(parts) == 3
    assert sum("constant @few(7" in text for text in texts) == 2
    assert sum("constant @many() " in text for text in texts) == 2
    assert sum("@made() " in text for text in texts) == 1
    let_threads_translate(parts[0].module.context)
    objects = [object_of(part.module, 2, part.shown, part.others) for part in parts]
    assert is_linkable(objects)
    assert not is_linkable(objects[:2])
    code = linked(objects)
    address = code.raw_lookup("three")
    results = (ctypes.c_int64 * 3)()
    start = ctypes.addressof(results)
    values_at = (ctypes.c_void_p * 3)(start, start + 8, start + 16)
    at = ctypes.addressof(values_at)
    packed = (ctypes.c_void_p * 3)(at, at + 8, at + 16)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(packed))
    assert list(results) == [10, 231, 11]


def test_other_symbols_leave_a_module_whole(small_parts: None) -> None:
    alias = """
    llvm.mlir.alias external @other : !llvm.func<void (ptr, ptr, ptr)> {
      %0 = llvm.mlir.addressof @three : !llvm.ptr
      llvm.return %0 : !llvm.ptr
    }"""
    assert _parts(GLOBALS + alias, 8) == []


def test_a_part_that_fails_is_one_line(
    small_parts: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(module: ir.Module, opt_level: int, shown: str, others: tuple[str, ...]) -> bytes:
        return object_of(module, opt_level, f"no {shown}", others)

    monkeypatch.setattr(part_compiler, "object_of", failing)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^LLVM made no code of 'no \S+'$"):
        mlir_fp8.compile(SMALL, threads=2)
    assert capfd.readouterr().err == ""


def test_what_cannot_be_linked_is_compiled_whole(
    small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = _small_arguments()
    wanted = _bits(mlir_fp8.compile(SMALL, threads=1), arguments)
    linked_from: list[int] = []
    monkeypatch.setattr(execution, "linked", lambda files: linked_from.append(len(files)))
    monkeypatch.setattr(execution, "is_linkable", lambda _: False)
    assert _bits(mlir_fp8.compile(SMALL, threads=2), arguments) == wanted
    monkeypatch.setattr(part_compiler, "is_usable", lambda: False)
    assert _bits(mlir_fp8.compile(SMALL, threads=2), arguments) == wanted
    assert linked_from == []


def test_this_wheel_is_the_one_that_it_is_written_for() -> None:
    assert is_usable()


def test_threads_compile_at_once(small_parts: None, exhaustive: bool) -> None:
    arguments = _small_arguments()
    wanted = _bits(mlir_fp8.compile(SMALL, threads=1), arguments)
    counts = [2, 3, 4] * (4 if exhaustive else 2)
    with ThreadPoolExecutor(4) as threads:
        for program in threads.map(lambda n: mlir_fp8.compile(SMALL, threads=n), counts):
            assert _bits(program, arguments) == wanted


PROGRAM = """
import hashlib, sys, numpy as np, mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
arguments = [array for _, array in restored(np.load(sys.argv[2]))]
results = mlir_fp8.compile(sys.argv[1], threads=2)(*arguments)
digest = hashlib.sha256(b"".join(r.tobytes() for r in results)).hexdigest()
print(digest, "torch_mlir" in sys.modules)
"""


@pytest.mark.exhaustive
def test_processes_share_what_was_compiled_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLIR_FP8_CACHE", "on")
    monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(tmp_path))
    files = [str(MODELS / f"{NAMES[0]}{suffix}") for suffix in (".mlirbc", ".in.npz")]
    command = [sys.executable, "-c", PROGRAM, *files]
    first = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = {process.communicate()[0].split()[0] for process in first}
    assert len(outputs) == 1
    assert len(list(tmp_path.iterdir())) == 1
    again = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert again == [*outputs, "False"]
