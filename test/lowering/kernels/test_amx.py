"""Products by AMX: tiles as the processor has them, and processes that may not use them."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from kernel_products import Form, compiled, program

import mlir_fp8
from mlir_fp8.aot.target import Target
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.kernels.vector_code.target import host_target

needs_amx = pytest.mark.skipif(host_target().name != "amx-bf16", reason="needs AMX")
FORMS = [
    Form("mk,kn->mn", {"m": 70, "k": 130, "n": 40}),
    Form("mk,nk->mn", {"m": 33, "k": 1100, "n": 65}),
    Form("bmk,bnk->bmn", {"b": 3, "m": 16, "k": 64, "n": 16}),
]
REFUSE = """
import ctypes, struct
libc = ctypes.CDLL(None)
ARCH_PRCTL, EPERM, ALLOW = 158, 0x00050001, 0x7FFF0000
code = [(0x20, 0, 0, 0), (0x15, 0, 1, ARCH_PRCTL), (6, 0, 0, EPERM), (6, 0, 0, ALLOW)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(code), ctypes.addressof(text))
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP
"""
"""Python that makes the system refuse tiles to this process."""
CALL = """
import ctypes, sys
import numpy as np
function = ctypes.CDLL(sys.argv[1]).dot_main
a, b, expected = (np.load(f"{sys.argv[2]}/{each}.npy") for each in ("a", "b", "expected"))
result = np.full(expected.shape, 77, expected.dtype)
function(*(ctypes.c_void_p(each.ctypes.data) for each in (a, b, result)))
np.testing.assert_array_equal(result, expected)
"""


def _operands(form: Form) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Small whole numbers of two formats, and their product, which is exact."""
    generator = np.random.default_rng(0)
    left, right = (generator.integers(-3, 4, form.shape(each)) for each in form.operands)
    expected = np.einsum(form.letters, left, right).astype(np.float32)
    return left.astype(ml_dtypes.float8_e4m3fn), right.astype(ml_dtypes.float8_e5m2), expected


@needs_amx
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_emulated_tiles_give_the_processors_bits(form: Form) -> None:
    text = program([(form, ("f8E4M3FN", "f8E5M2"))])
    generator = np.random.default_rng(1)
    left, right = (
        generator.standard_normal(form.shape(each)).astype(dtype)
        for each, dtype in zip(
            form.operands, (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2), strict=True
        )
    )
    own, emulated = (
        compiled(text, "amx-bf16", emulates=each)(left, right) for each in (False, True)
    )
    np.testing.assert_array_equal(own, emulated)


@needs_amx
@pytest.mark.parametrize("is_refused", [False, True])
@pytest.mark.parametrize(
    "elements",
    [
        ("f8E4M3FN", "f8E5M2"),
        ("bf16", "f8E5M2"),
        ("bf16", "bf16"),
        ("i8", "i8"),
        ("ui8", "i8"),
        ("ui8", "ui8"),
    ],
)
def test_a_library_asks_for_tiles_and_does_without(
    tmp_path: Path, elements: tuple[str, str], is_refused: bool
) -> None:
    form = FORMS[0]
    *arrays, expected = _operands(form)
    if elements[0].endswith("i8"):
        bytes_ = [each.astype(np.float32).astype(np.int32).astype(np.uint8) for each in arrays]
        dtypes = [{"i8": np.int8, "ui8": np.uint8}[each] for each in elements]
        left, right = (each.view(dtype) for each, dtype in zip(bytes_, dtypes, strict=True))
        expected = left.astype(np.int32) @ right.astype(np.int32)
    else:
        left, right = (
            each.astype(FORMATS[element].dtype)
            for each, element in zip(arrays, elements, strict=True)
        )
    for name, each in (("a", left), ("b", right), ("expected", expected)):
        np.save(
            tmp_path / f"{name}.npy",
            each.view(f"u{each.itemsize}") if each is not expected else each,
        )
    (tmp_path / "dot.mlir").write_text(program([(form, elements)]))
    library = tmp_path / "dot.so"
    command = ["--emit=shared-lib", str(tmp_path / "dot.mlir"), "-o", str(library)]
    from mlir_fp8.tools.translate import main

    assert not main([*command, "--c-prefix=dot", f"--c-header={tmp_path / 'dot.h'}"])
    assert b"syscall" in library.read_bytes()
    code = (REFUSE if is_refused else "") + CALL
    subprocess.run([sys.executable, "-c", code, str(library), str(tmp_path)], check=True)


@needs_amx
def test_a_process_that_may_not_use_tiles_gets_none(tmp_path: Path) -> None:
    code = REFUSE + (
        "from mlir_fp8.lowering.kernels.vector_code.target import host_target\n"
        "print(host_target().name)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("avx512")


@needs_amx
def test_code_that_is_found_on_disk_may_use_tiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(tmp_path / "cache"))
    form = FORMS[0]
    left, right, expected = _operands(form)
    text = program([(form, ("f8E4M3FN", "f8E5M2"))])
    for name, each in (("a", left), ("b", right), ("expected", expected)):
        np.save(tmp_path / f"{name}.npy", each.view(np.uint8) if each.itemsize == 1 else each)
    code = (
        "import sys, ml_dtypes, mlir_fp8, numpy as np\n"
        "names = 'a', 'b', 'expected'\n"
        "a, b, expected = (np.load(f'{sys.argv[2]}/{each}.npy') for each in names)\n"
        "a, b = a.view(ml_dtypes.float8_e4m3fn), b.view(ml_dtypes.float8_e5m2)\n"
        "assert (mlir_fp8.compile(sys.argv[1])(a, b) == expected).all()"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, text, str(tmp_path)], check=True)


def test_processors_by_name() -> None:
    assert Target(mcpu="sapphirerapids").kernels == "amx-bf16-if-permitted"
    assert Target(mcpu="znver4").kernels == "avx512-bf16"
    assert Target(mcpu="haswell").kernels == "avx2"
    assert Target(mcpu="pentium4").kernels == "baseline"
    assert Target(mcpu="sapphirerapids", mattr="-amx-bf16").kernels == "baseline"


def test_a_library_of_another_processor_is_made_here(tmp_path: Path) -> None:
    from mlir_fp8.tools.translate import main

    text = program([(FORMS[0], ("f8E4M3FN", "f8E5M2"))])
    (tmp_path / "dot.mlir").write_text(text)
    for processor, instruction in (("sapphirerapids", "tdpbf16ps"), ("znver4", "vdpbf16ps")):
        out = tmp_path / f"{processor}.s"
        command = ["--emit=asm", str(tmp_path / "dot.mlir"), "-o", str(out), f"--mcpu={processor}"]
        assert not main(command)
        assert instruction in out.read_text()
    assert mlir_fp8.load(text)
