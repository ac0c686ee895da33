"""`fp8-run` on files of arrays: every form they come in, and what is refused, by name."""

import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mlir_fp8.tools.run import main

E5M2, BF16 = ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
MODULE = """\
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf8E5M2>, %c: tensor<bf16>)
    -> (tensor<4xf32>, tensor<4xf8E5M2>, tensor<bf16>) {
  %0 = stablehlo.convert %b : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4xf32>
  return %1, %b, %c : tensor<4xf32>, tensor<4xf8E5M2>, tensor<bf16>
}
"""
A = np.array([1, np.nan, -0.0, np.inf], np.float32)
B = np.array([1, 2, -0.0, 57344], E5M2)
C = np.array(1.5, BF16)
PRINTED = """\
res0 : tensor<4xf32>
[ 2. nan -0. inf]
res1 : tensor<4xf8E5M2>
[    1.     2.    -0. 57344.]
res2 : tensor<bf16>
1.5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.mlir").write_text(MODULE)
    for name, array in (("a", A), ("b", B), ("c", C)):
        np.save(tmp_path / f"{name}.npy", array)
    np.save(tmp_path / "b8.npy", B.view(np.uint8))
    np.save(tmp_path / "c16.npy", C.view(np.uint16))
    coded = {"arg2@bf16": C.view(np.uint16), "arg0": A, "arg1@f8E5M2": B.view(np.uint8)}
    np.savez(tmp_path / "in.npz", allow_pickle=False, **coded)
    np.savez(tmp_path / "bare.npz", x=A, y=B, z=C)
    np.savez_compressed(tmp_path / "order.npz", x=A, y=B.view(np.uint8), z=C.view(np.uint16))
    return tmp_path


@pytest.mark.parametrize(
    "files",
    [
        ("in.npz",),
        ("order.npz",),
        ("bare.npz",),
        ("a.npy", "b.npy", "c.npy"),
        ("a.npy", "b8.npy", "c16.npy"),
    ],
)
def test_arguments(folder: Path, capfd: pytest.CaptureFixture[str], files: Sequence[str]) -> None:
    assert main(["model.mlir", "--print", "--args", *files]) == 0
    assert capfd.readouterr() == (PRINTED, "")


def test_results_come_back(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["model.mlir", "--args", "in.npz", "-o", "out.npz"]) == 0
    assert capfd.readouterr() == ("", "")
    with np.load("out.npz") as written:
        assert written.files == ["res0", "res1@f8E5M2", "res2@bf16"]
        assert written["res1@f8E5M2"].dtype == np.uint8
    # Results of one run are arguments of another, and what a third must give.
    assert main(["model.mlir", "--args", "out.npz", "-o", "out.npz"]) == 0
    assert main(["model.mlir", "--args", "out.npz", "--expect", "out.npz"]) == 1
    output, error = capfd.readouterr()
    assert [line.split()[-1] for line in output.splitlines() if line.startswith("res")] == [
        "identical", "FAIL", "ok", "ok",
    ]  # fmt: skip
    assert "first at [0]: got 4., expected 3." in output
    assert error == "error: 1 of 3 results differ from 'out.npz' by more than 1e-05\n"
    assert sorted(path.name for path in folder.iterdir() if "out" in path.name) == ["out.npz"]


def test_one_result_as_npy(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = "func.func @main(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {\n"
    (folder / "one.mlir").write_text(source + "  return %a : tensor<4xf8E5M2>\n}\n")
    assert main(["one.mlir", "--args", "b.npy", "-o", "out.npy"]) == 0
    assert np.load("out.npy").tobytes() == B.tobytes()
    assert main(["one.mlir", "--args", "out.npy", "--expect", "b8.npy", "--tolerance", "0"]) == 0


@pytest.mark.exhaustive
def test_pipes(folder: Path) -> None:
    command = [sys.executable, "-m", "mlir_fp8.tools.run", "model.mlir", "--args"]
    written = subprocess.run(
        [*command, "-", "-o", "-"],
        input=(folder / "in.npz").read_bytes(),
        capture_output=True,
        check=True,
    ).stdout
    assert np.load(io.BytesIO(written)).files == ["res0", "res1@f8E5M2", "res2@bf16"]
    os.mkfifo("pipe.npy")
    with subprocess.Popen(
        [*command, "pipe.npy", "b.npy", "c.npy", "--print"], stdout=subprocess.PIPE
    ) as process:
        Path("pipe.npy").write_bytes((folder / "a.npy").read_bytes())
        assert process.communicate()[0].decode() == PRINTED


def test_pipes_give_open_sizes(folder: Path) -> None:
    (folder / "open.mlir").write_text("""func.func @main(%x: tensor<?x4xf8E4M3FN>)
        -> (tensor<?x4xf8E4M3FN>, tensor<?x4xf8E4M3FN>) {
      %0 = stablehlo.negate %x : tensor<?x4xf8E4M3FN>
      %1 = stablehlo.logistic %0 : tensor<?x4xf8E4M3FN>
      return %0, %1 : tensor<?x4xf8E4M3FN>, tensor<?x4xf8E4M3FN>
    }""")
    written = io.BytesIO()
    # 1.25, -1.25 and other codes: the interpreter computes a logistic in several steps of f8.
    np.save(written, np.arange(0x30, 0x50, dtype=np.uint8).reshape(8, 4))
    command = [sys.executable, "-m", "mlir_fp8.tools.run", "open.mlir", "--args"]
    run = subprocess.run([*command, "-"], input=written.getvalue(), capture_output=True, check=True)
    assert b"8x4xf8E4M3FN" in run.stdout
    os.mkfifo("pipe.npy")
    options = ["--compare=llvm,interpreter", "--reduce", "small.mlir"]
    with subprocess.Popen([*command, "pipe.npy", *options], stdout=subprocess.PIPE) as process:
        Path("pipe.npy").write_bytes(written.getvalue())
        assert b"reduced: 2 ops -> 1 op" in process.communicate()[0]
    assert "stablehlo.logistic %arg0 : tensor<1xf8E4M3FN>" in Path("small.mlir").read_text()


def save(**arrays: np.ndarray) -> Callable[[], None]:
    return lambda: np.savez("bad.npz", allow_pickle=True, **arrays)


def write(data: bytes) -> Callable[[], None]:
    return lambda: (Path("bad.npz").write_bytes(data), None)[1]


def cut() -> None:
    Path("bad.npz").write_bytes(Path("in.npz").read_bytes()[:300])


def flip() -> None:
    data = bytearray(Path("in.npz").read_bytes())
    data[data.index(b"\xc0\x3f")] ^= 0xFF  # the bf16 1.5 of the first member
    Path("bad.npz").write_bytes(data)


def foreign_zip() -> None:
    with zipfile.ZipFile("bad.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: None, "cannot read 'bad.npz': No such file or directory"),
        (lambda: Path("bad.npz").mkdir(), "cannot read 'bad.npz': Is a directory"),
        (write(b""), "'bad.npz' is empty"),
        (write(b"text\n"), "'bad.npz' is neither an .npz nor an .npy nor a .safetensors file"),
        (cut, "'bad.npz' cannot be read: File is not a zip file"),
        (flip, "'bad.npz' cannot be read: Bad CRC-32 for file 'arg2@bf16.npy'"),
        (foreign_zip, "'bad.npz': 'readme.txt' is not an array"),
        (save(), "argument 0 (tensor<4xf32>) is missing in bad.npz: 'main' takes 3"),
        (
            save(arg0=A, arg2=C.view("u2")),
            "argument 1 (tensor<4xf8E5M2>) is missing in bad.npz: 'main' takes 3",
        ),
        (
            save(arg0=A, arg1=B, arg2=C, arg10=C),
            "'arg10' of bad.npz is one argument too many: 'main' takes 3",
        ),
        (
            save(x=A, arg0=B, arg1=C, y=C),
            "'y' of bad.npz is one argument too many: 'main' takes 3",
        ),
        (
            save(**{"arg0": A, "arg0@f32": A.view("u4")}),
            "'arg0@f32' of bad.npz and 'arg0' of bad.npz are the same argument",
        ),
        (
            save(arg0=A.astype("f8"), arg1=B, arg2=C),
            "argument 0 ('arg0' of bad.npz) is tensor<4xf64>, declared tensor<4xf32>",
        ),
        (
            save(**{"arg0": A, "arg1@f8E4M3FN": B.view("u1"), "arg2": C}),
            "argument 1 ('arg1@f8E4M3FN' of bad.npz) is tensor<4xf8E4M3FN>, "
            "declared tensor<4xf8E5M2>",
        ),
        (save(**{"arg0@f9": A}), "key 'arg0@f9': no type that files hold as codes is named f9"),
        (
            save(arg0=np.array([{}], object)),
            "'bad.npz' cannot be read: Object arrays cannot be loaded when allow_pickle=False",
        ),
    ],
)
def test_refused(
    folder: Path, capfd: pytest.CaptureFixture[str], make: Callable[[], None], error: str
) -> None:
    make()
    assert main(["model.mlir", "--args", "bad.npz", "-o", "out.npz"]) == 1
    assert capfd.readouterr() == ("", f"error: {error}\n")
    assert not Path("out.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--args", "a.npy"), "argument 1 (tensor<4xf8E5M2>) is missing in a.npy: 'main' takes 3"),
        (
            ("--args", "a.npy", "b.npy", "c.npy", "a.npy"),
            "a.npy is one argument too many: 'main' takes 3",
        ),
        (
            ("--args", "in.npz", "a.npy"),
            "'in.npz' is an .npz: give it alone, or one .npy per array",
        ),
        (
            ("--args", "in.npz", "--expect", "a.npy"),
            "result 1 (tensor<4xf8E5M2>) is missing in a.npy: 'main' gives 3",
        ),
        (
            ("--random", "0", "--expect", "in.npz"),
            "result 0 ('arg2@bf16' of in.npz) is tensor<bf16>, declared tensor<4xf32>",
        ),
    ],
)
def test_refused_files(
    folder: Path, capfd: pytest.CaptureFixture[str], arguments: Sequence[str], error: str
) -> None:
    assert main(["model.mlir", *arguments]) == 1
    assert capfd.readouterr() == ("", f"error: {error}\n")


def test_random_arguments_are_rounded_once() -> None:
    from mlir_fp8.arrays.tensor_specs import TensorSpec
    from mlir_fp8.dialects.float_formats import NARROW_FLOATS
    from mlir_fp8.dialects.float_reference import encode
    from mlir_fp8.tools._run_random import random_arrays

    for name, fmt in NARROW_FLOATS.items():
        (array,) = random_arrays([TensorSpec((200,), name)], seed=7)
        drawn = np.random.Generator(np.random.PCG64(7)).standard_normal(200, dtype=np.float32)
        numbers = map(float, drawn if fmt.signed else np.abs(drawn))
        wanted = [encode(fmt, number) for number in numbers]
        assert array.view(f"uint{fmt.storage_bits}").tolist() == wanted, name


def test_random_integers_are_small() -> None:
    from mlir_fp8.arrays.tensor_specs import TensorSpec
    from mlir_fp8.tools._run_random import random_arrays

    specs = [TensorSpec((100,), element) for element in ("i32", "ui8", "i1")]
    integers, unsigned, booleans = random_arrays(specs, seed=0)
    assert set(integers.tolist()) == set(unsigned.tolist()) == set(range(8))
    assert set(booleans.tolist()) == {False, True}


def test_help_imports_no_mlir() -> None:
    program = (
        "import sys; from mlir_fp8.tools.run import main; main(['--help'])\n"
        "heavy = {'torch_mlir', 'jaxlib', 'numpy', 'ml_dtypes'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(b"usage: fp8-run FILE ")
