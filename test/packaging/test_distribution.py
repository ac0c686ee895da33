"""What is shipped: the wheel and the source distribution, installed, typed, and read-only."""

import ast
import ctypes
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest

import mlir_fp8

pytestmark = pytest.mark.exhaustive
pytest.importorskip("build", reason="pip install '.[package]'")
pytest.importorskip("twine", reason="pip install '.[package]'")

ROOT = Path(__file__).parents[2]
USER_PROGRAM = Path(__file__).parent / "Inputs" / "user_program.py"
SOURCES = {"mlir_fp8": "python", "mlir_fp8/dialects": "dialects", "mlir_fp8/lowering": "lowering"}
STUBS = {
    f"torch_mlir-stubs/{name}" for name in ("__init__.pyi", "ir.pyi", "passmanager.pyi", "py.typed")
}
# What may lie in a source tree that was worked in, and none of it is to be shipped.
LITTER = (
    "python/__pycache__/context.cpython-311.pyc",
    "lowering/kernels/__pycache__/product.cpython-311.pyc",
    "lowering/kept.code",
    "python/tools/old.pyc",
    "build/lib/mlir_fp8/moved_away.py",
    "build/import/mlir_fp8/context.py",
    "test/test_layout.py",
    "docs/ops.md",
)
# Capabilities by which root writes what it may not: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER.
ROOTS_CAPABILITIES, DROP_CAPABILITY = range(4), 24


@dataclass(frozen=True)
class Distribution:
    sdist: Path
    wheel: Path


def _python(*arguments: str, cwd: Path, **environment: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=kept | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def _copy_sources(to: Path) -> None:
    for folder in (*SOURCES.values(), "typings"):
        shutil.copytree(ROOT / folder, to / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, to)
    for name in LITTER:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (to / name).write_text("")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    """`python -m build`: the source distribution, and the wheel that is built from it."""
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    _copy_sources(tree)
    _python("-m", "build", "--no-isolation", f"--outdir={out}", cwd=tree)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Distribution(sdist, wheel)


@pytest.fixture(scope="module")
def installed(built: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, whose dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", "--no-compile", str(built.wheel))
    # No PATH: no compiler is there to be found.
    _python("-m", "pip", f"--python={python}", *install, cwd=folder, PATH="")
    (site_packages,) = (folder / "lib").glob("*/site-packages")
    theirs = sysconfig.get_paths()["purelib"]
    (site_packages / "dependencies.pth").write_text(
        "\n".join([theirs, *(path for path in sys.path if path.endswith("site-packages"))])
    )
    return folder


def _members(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def _source_files() -> set[str]:
    return {
        f"{package}/{file.relative_to(ROOT / folder).as_posix()}"
        for package, folder in SOURCES.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and file.suffix not in (".pyc", ".code")
    }


def test_wheel_holds_the_source_tree(built: Distribution) -> None:
    assert _members(built.wheel) == _source_files() | STUBS


def test_wheel_built_in_the_tree_holds_the_same(built: Distribution, tmp_path: Path) -> None:
    """`pip wheel .`, which an earlier build, of modules that have moved since, must not reach."""
    tree = tmp_path / "tree"
    tree.mkdir()
    _copy_sources(tree)
    options = ("--no-deps", "--no-build-isolation", f"--wheel-dir={tmp_path}")
    _python("-m", "pip", "wheel", ".", *options, cwd=tree)
    (wheel,) = tmp_path.glob("*.whl")
    assert _members(wheel) == _members(built.wheel)


def test_wheel_is_for_every_system(built: Distribution) -> None:
    assert built.wheel.name.endswith("-py3-none-any.whl")


def test_source_distribution_holds_what_the_wheel_is_made_of(built: Distribution) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    folders = {name.split("/")[0] for name in names}
    files = {"CHANGELOG.md", "LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml"}
    assert folders == {
        *SOURCES.values(),
        "typings",
        "mlir_fp8.egg-info",
        "setup.cfg",
        "setup.py",
    } | (files)
    assert not names.intersection(LITTER)


def test_twine_is_content(built: Distribution) -> None:
    _python(
        *("-m", "twine", "check", "--strict", str(built.sdist), str(built.wheel)),
        cwd=built.wheel.parent,
    )


def test_metadata_names_license_and_python(built: Distribution) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["License-Expression"] == "Apache-2.0 WITH LLVM-exception"
    assert metadata["Requires-Python"] == "<3.15,>=3.11"
    assert metadata["License-File"] == "LICENSE"


def _without_roots_rights() -> None:
    """Make root obey permissions, as other users do."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for capability in ROOTS_CAPABILITIES:
            if libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")


class ReadOnly:
    """The installed package where nothing but `writable` can be written to."""

    def __init__(self, folder: Path, writable: Path) -> None:
        self.folder, self.writable = folder, writable
        self.home = writable / "home"
        self.home.mkdir(mode=0o555)

    def run(self, command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": "", "TMPDIR": str(self.home)},
            preexec_fn=_without_roots_rights,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def read_only(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> ReadOnly:
    if sys.platform != "linux":
        pytest.skip("permissions of root are dropped by prctl")
    for path in [installed, *installed.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    return ReadOnly(installed, tmp_path_factory.mktemp("writable"))


def test_nothing_can_be_written(read_only: ReadOnly) -> None:
    site_packages = next(read_only.folder.glob("lib/*/site-packages"))
    for folder in (site_packages, site_packages / "mlir_fp8", read_only.home):
        run = read_only.run(["python", "-c", f"open({str(folder / 'new')!r}, 'w')"])
        assert "PermissionError" in run.stderr


def test_program_runs_read_only(read_only: ReadOnly) -> None:
    dot = ROOT / "examples" / "dot.mlir"
    run = read_only.run(["python", str(USER_PROGRAM), str(dot)])
    assert run.stderr == ""
    assert run.returncode == 0
    assert run.stdout == "done\n"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["fp8-opt", "DOT", "--lower-to-llvm-pipeline"], "llvm.func"),
        (["fp8-translate", "DOT", "--serialize", "-o", "OUT/dot.mlirbc"], ""),
        (["fp8-translate", "DOT", "--emit=obj", "-o", "OUT/dot.o"], ""),
        (["fp8-run", "DOT", "--random", "0"], "res0 : tensor<4x2xf8E4M3FN>"),
        (["fp8-run", "DOT", "--random", "0", "--report", "OUT/dot.html"], "DOT: 3 float values"),
        (["fp8-explain", "DOT"], "DOT:2:8: fused"),
        (["python", "-m", "mlir_fp8"], "usage: python -m mlir_fp8"),
        (["python", "-m", "mlir_fp8", "run", "DOT", "--random", "0"], "res0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_tools_run_read_only(command: list[str], output: str, read_only: ReadOnly) -> None:
    dot = str(ROOT / "examples" / "dot.mlir")
    places = {"DOT": dot, "OUT": str(read_only.writable)}

    def placed(text: str) -> str:
        for name, place in places.items():
            text = text.replace(name, place)
        return text

    run = read_only.run([placed(word) for word in command])
    assert run.stderr == ""
    assert run.returncode == 0
    assert placed(output) in run.stdout


def test_output_that_cannot_be_written_is_one_line(read_only: ReadOnly) -> None:
    dot = ROOT / "examples" / "dot.mlir"
    run = read_only.run(["fp8-opt", str(dot), "-o", str(read_only.home / "dot.mlir")])
    assert run.returncode == 1
    assert run.stderr == f"error: cannot write '{read_only.home}/dot.mlir': Permission denied\n"


def test_program_uses_every_public_name() -> None:
    tree = ast.parse(USER_PROGRAM.read_text())
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "mlir_fp8"
    }
    assert sorted(set(mlir_fp8.__all__) - used) == []


def _pyright(program: str, python: Path, folder: Path) -> list[str]:
    """What pyright says of `program` in an environment, by rule; its own settings, not ours."""
    pytest.importorskip("basedpyright", reason="pip install '.[lint]'")
    (folder / "program.py").write_text(program)
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    run = subprocess.run(
        [
            *(sys.executable, "-m", "basedpyright", "--outputjson"),
            *(f"--pythonpath={python}", f"--project={folder}"),
        ],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return [
        f"{each['range']['start']['line'] + 1}: {each.get('rule')}: {each['message']}"
        for each in json.loads(run.stdout)["generalDiagnostics"]
    ]


def test_program_has_its_types(installed: Path, tmp_path: Path) -> None:
    assert _pyright(USER_PROGRAM.read_text(), installed / "bin" / "python", tmp_path) == []


def test_mistakes_are_found(installed: Path, tmp_path: Path) -> None:
    program = """import mlir_fp8
mlir_fp8.compil("dot.mlir")
mlir_fp8.compile("dot.mlir", rounding=1)
mlir_fp8.quantize("dot.mlir", 3)
mlir_fp8.serialize("dot.mlir")
"""
    found = _pyright(program, installed / "bin" / "python", tmp_path)
    errors = [each for each in found if "Unknown" not in each.split(": ")[1]]
    assert [each.split(": ")[:2] for each in errors] == [
        ["2", "reportAttributeAccessIssue"],
        ["3", "reportArgumentType"],
        ["4", "reportArgumentType"],
        ["5", "reportArgumentType"],
    ]
