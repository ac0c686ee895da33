"""Object files, assembly and shared libraries: what C sees, and that it computes the same."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.aot import linker
from mlir_fp8.aot.library import c_name
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.compiling.native.symbols import undefined_symbols
from mlir_fp8.tools import translate

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "test" / "models"
AARCH64 = 183  # e_machine of ELF

MANY_TYPES = """
func.func @first(%a: tensor<4xf8E5M2>, %b: tensor<4xbf16>, %c: tensor<f16>, %none: tensor<0x3xf32>)
    -> (tensor<4xf8E4M3FN>, tensor<4xbf16>, tensor<f16>, tensor<0xi8>) {
  %0 = stablehlo.convert %a : (tensor<4xf8E5M2>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.add %b, %b : tensor<4xbf16>
  %2 = stablehlo.exponential %c : tensor<f16>
  %3 = stablehlo.constant dense<> : tensor<0xi8>
  return %0, %1, %2, %3 : tensor<4xf8E4M3FN>, tensor<4xbf16>, tensor<f16>, tensor<0xi8>
}
func.func @"second one"(%x: tensor<5xf32>) -> (tensor<5xi1>, tensor<5xf32>, tensor<5xcomplex<f32>>,
                                               tensor<5xf64>, tensor<5xi32>, tensor<5xui8>) {
  %strange = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0.0447]>
    : tensor<5xf32>
  %0 = stablehlo.compare LT, %x, %strange : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %1 = stablehlo.select %0, %x, %strange : tensor<5xi1>, tensor<5xf32>
  %2 = stablehlo.complex %x, %x : tensor<5xcomplex<f32>>
  %3 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xf64>
  %tenth = stablehlo.constant dense<0.1> : tensor<5xf64>
  %4 = stablehlo.multiply %3, %tenth : tensor<5xf64>
  %5 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi32>
  %6 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xui8>
  return %0, %1, %2, %4, %5, %6 : tensor<5xi1>, tensor<5xf32>, tensor<5xcomplex<f32>>,
    tensor<5xf64>, tensor<5xi32>, tensor<5xui8>
}
func.func private @unused(%x: tensor<5xf32>) -> tensor<5xf32> { return %x : tensor<5xf32> }
"""


def _emit(kind: str, module: Path, output: Path, *options: str) -> Path:
    arguments = [f"--emit={kind}", str(module), "-o", str(output), *options]
    assert translate.main(arguments) == 0
    return output


@pytest.fixture
def many_types(tmp_path: Path) -> Path:
    file = tmp_path / "many.types.mlir"
    file.write_text(MANY_TYPES)
    return file


def _call(
    library: Path, name: str, program: mlir_fp8.CompiledModule, arrays: list[np.ndarray]
) -> list[np.ndarray]:
    results = [np.empty(spec.shape, spec.dtype) for spec in program.results]
    passed = [ctypes.c_void_p(a.ctypes.data) for a in arrays + results if a.size]
    getattr(ctypes.CDLL(str(library)), name)(*passed)
    return results


def _assert_same(got: list[np.ndarray], wanted: tuple[np.ndarray, ...]) -> None:
    for ours, theirs in zip(got, wanted, strict=True):
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize(
    "model",
    ["mlp_delayed_scaling", pytest.param("transformer_forward", marks=pytest.mark.exhaustive)],
)
def test_models_give_the_same_bits(model: str, tmp_path: Path) -> None:
    library = _emit("shared-lib", MODELS / f"{model}.mlirbc", tmp_path / "model.so")
    arrays = [array for _, array in restored(np.load(MODELS / f"{model}.in.npz"))]
    program = mlir_fp8.compile(MODELS / f"{model}.mlirbc")
    _assert_same(_call(library, "model_main", program, arrays), program(*arrays))


def test_every_public_function_is_one_of_c(many_types: Path, tmp_path: Path) -> None:
    library = _emit("shared-lib", many_types, tmp_path / "lib.so", "--c-prefix=many.types")
    generator = np.random.default_rng(0)
    for entry, name in (("first", "many_types_first"), ("second one", "many_types_second_one")):
        program = mlir_fp8.compile(many_types, entry=entry)
        arrays = [generator.standard_normal(s.shape).astype(s.dtype) for s in program.arguments]
        _assert_same(_call(library, name, program, arrays), program(*arrays))
    with pytest.raises(AttributeError):
        ctypes.CDLL(str(library)).many_types_unused  # noqa: B018


def test_objects_need_the_c_library_alone(many_types: Path, tmp_path: Path) -> None:
    model = MODELS / "mlp_delayed_scaling.mlirbc"
    code = _emit("obj", model, tmp_path / "code.o").read_bytes()
    needed = undefined_symbols(code) - {"syscall"}  # by which tiles are asked for
    assert {"malloc", "free"} <= needed <= {"malloc", "free", "memset"}
    code = _emit("obj", many_types, tmp_path / "code.o").read_bytes()
    known = {"malloc", "free", "memcpy", "memset", "memmove", "syscall"}
    assert undefined_symbols(code) <= known


SHARED = """
func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x1024xf8E4M3FN>) -> tensor<256x1024xf32> {
  %0 = stablehlo.convert %w : (tensor<512x1024xf8E4M3FN>) -> tensor<512x1024xf32>
  %1 = stablehlo.dot %x, %0
    : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %2 = stablehlo.exponential %1 : tensor<256x1024xf32>
  return %2 : tensor<256x1024xf32>
}
"""
COUNTS_THREADS = """
import ctypes, os, sys
import numpy as np
library = ctypes.CDLL(sys.argv[1])
x, w = np.ones((256, 512), np.float32), np.zeros((512, 1024), np.uint8)
y = np.empty((256, 1024), np.float32)
def threads_after(count):
    library.lib_set_threads(ctypes.c_int64(count))
    before = len(os.listdir("/proc/self/task"))
    library.lib_main(*(ctypes.c_void_p(a.ctypes.data) for a in (x, w, y)))
    assert (y == 1).all()
    return len(os.listdir("/proc/self/task")) - before
print([threads_after(count) for count in (1, 0, -5, 3, 2)])
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library whose work is worth two threads, its header, and `SHARED` beside it."""
    folder = tmp_path_factory.mktemp("shared")
    module = folder / "shared.mlir"
    module.write_text(SHARED)
    options = ["--threads=2", f"--c-header={folder / 'lib.h'}"]
    return _emit("shared-lib", module, folder / "lib.so", *options)


def test_threads_share_a_call(shared: Path) -> None:
    program = mlir_fp8.compile(shared.with_name("shared.mlir"), threads=1)
    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal(s.shape).astype(s.dtype) for s in program.arguments]
    _assert_same(_call(shared, "lib_main", program, arrays), program(*arrays))
    command = [sys.executable, "-c", COUNTS_THREADS, str(shared)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 0, 0, 2, 0]\n"


def test_the_header_of_a_shared_library_has_its_threads(shared: Path, tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text(
        '#include "lib.h"\nint main(void) { lib_set_threads(3); return LIB_MAIN_ARG0_RANK != 2; }\n'
    )
    program = str(tmp_path / "main")
    command = [*linker.c_compiler(), "-Wall", "-Wextra", "-Werror", f"-I{shared.parent}"]
    command += [str(source), str(shared), "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    subprocess.run([program], check=True)


@pytest.mark.parametrize(
    ("triple", "weak"), [("x86_64-unknown-linux-gnu", True), ("arm64-apple-macosx", False)]
)
def test_only_linux_is_asked_for_processors(triple: str, weak: bool, tmp_path: Path) -> None:
    module = tmp_path / "shared.mlir"
    module.write_text(SHARED)
    text = _emit("asm", module, tmp_path / "lib.s", f"--mtriple={triple}", "--threads=4")
    assert ("sched_getcpu" in text.read_text()) == weak
    assert "pthread_create" in text.read_text()


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_is_c_and_cpp(language: str, many_types: Path, tmp_path: Path) -> None:
    header = tmp_path / "lib.h"
    _emit("obj", many_types, tmp_path / "lib.o", f"--c-header={header}")
    check = tmp_path / "check"
    check.write_text(
        """#include "lib.h"
        #include "lib.h"
        char arg0[LIB_FIRST_ARG0_BYTES == 4 && LIB_FIRST_ARG0_ELEMENTS == 4 ? 1 : -1];
        char arg1[LIB_FIRST_ARG1_BYTES == 8 && LIB_FIRST_ARG1_RANK == 1 ? 1 : -1];
        char arg2[LIB_FIRST_ARG2_BYTES == 2 && LIB_FIRST_ARG2_RANK == 0 ? 1 : -1];
        char arg3[LIB_FIRST_ARG3_ELEMENTS == 0 && LIB_FIRST_ARG3_RANK == 2 ? 1 : -1];
        const int shape[] = LIB_FIRST_ARG3_SHAPE;
        char two[sizeof(shape) == 2 * sizeof(int) ? 1 : -1];
        void use(void);
        void use(void) {
          uint8_t a[4], i1[5], ui8[5]; uint16_t b[4], c; float f[5], complex[10]; double d[5];
          int32_t i[5];
          lib_first(a, b, &c, a, b, &c);
          lib_second_one(f, i1, f, complex, d, i, ui8);
        }
        """
    )
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    strict += ["-std=c99", "-Wstrict-prototypes"] if language == "c" else ["-std=c++11"]
    command = [*linker.c_compiler(), "-x", language, *strict, f"-I{tmp_path}", str(check)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_the_cmake_example_runs(tmp_path: Path) -> None:
    translate_command = f"{sys.executable};-m;mlir_fp8.tools.translate"
    folder = subprocess.run(
        [*translate_command.split(";"), "--cmake-dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    source = ROOT / "examples" / "aot"
    configure = ["cmake", "-S", str(source), "-B", str(tmp_path), f"-Dmlir_fp8_DIR={folder}"]
    for command in (
        [*configure, f"-DMLIR_FP8_TRANSLATE={translate_command}"],
        ["cmake", "--build", str(tmp_path)],
        [str(tmp_path / "layer_example")],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stdout + done.stderr
    weights = [0x38, 0x40, 0xB0, 0x38, 0x38, 0x38, 0x40, 0xB0, 0x38, 0x38, 0x40, 0x40]
    program = mlir_fp8.compile(source / "layer.mlir", entry="forward")
    relu, codes = program(
        np.array([[1, 2, 3, 4], [-1, 0.5, -2, 1]], np.float32),
        np.array(weights, np.uint8).reshape(4, 3).view(program.arguments[1].dtype),
    )
    pairs = zip(relu.flat, codes.view(np.uint8).flat, strict=True)
    assert done.stdout == "".join(f"{x:g} 0x{code:02X}\n" for x, code in pairs)


def test_code_is_for_the_processor_asked_for(tmp_path: Path) -> None:
    model = tmp_path / "product.mlir"
    model.write_text(
        """func.func @main(%a: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<1024xf32> {
          %0 = stablehlo.multiply %a, %b : tensor<1024xf32>
          return %0 : tensor<1024xf32>
        }"""
    )

    def assembly(*options: str) -> str:
        return _emit("asm", model, tmp_path / "code.s", *options).read_text()

    x86 = "--mtriple=x86_64-unknown-linux-gnu"
    assert "zmm" in assembly(x86, "--mcpu=znver4")
    wide = assembly(x86, "--mcpu=x86-64-v3")
    assert "ymm" in wide and "zmm" not in wide
    assert "ymm" not in assembly(x86, "--mcpu=x86-64")
    assert "ymm" in assembly(x86, "--mcpu=x86-64", "--mattr=+avx,+avx2")
    assert "fmul\tv0.4s" in assembly("--march=aarch64") or "ldr\tq0" in assembly("--march=aarch64")
    code = _emit("obj", model, tmp_path / "code.o", "--march=aarch64").read_bytes()
    assert int.from_bytes(code[18:20], "little") == AARCH64


def test_options_change_what_is_computed(tmp_path: Path) -> None:
    module = tmp_path / "convert.mlir"
    module.write_text(
        """func.func @main(%x: tensor<3xf32>) -> tensor<3xf8E4M3FN> {
          %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
          return %0 : tensor<3xf8E4M3FN>
        }"""
    )
    x = np.array([1e6, 1.99, -1.99], np.float32)
    program = mlir_fp8.compile(module)
    for options, wanted in (
        ([], [0x7F, 0x40, 0xC0]),
        (["--saturate"], [0x7E, 0x40, 0xC0]),
        (["--rounding=toward-zero"], [0x7E, 0x3F, 0xBF]),
    ):
        # A name of its own: a library that is loaded stays.
        library = tmp_path / f"lib{len(wanted)}{options}.so".replace("/", "")
        _emit("shared-lib", module, library, "--c-prefix=c", *options)
        (codes,) = _call(library, "c_main", program, [x])
        assert codes.view(np.uint8).tolist() == wanted


def test_names_become_c_names() -> None:
    assert [c_name(name) for name in ("main", "a.b-c", "2x", "_x", "")] == [
        "main", "a_b_c", "m2x", "m_x", "m",
    ]  # fmt: skip
