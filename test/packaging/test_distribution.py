"""What is in the wheel and in the source distribution."""

import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from distribution import LITTER, ROOT, SOURCES, STUBS, Distribution, copy_sources, run_python

pytestmark = pytest.mark.exhaustive


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
    copy_sources(tree)
    options = ("--no-deps", "--no-build-isolation", f"--wheel-dir={tmp_path}")
    run_python("-m", "pip", "wheel", ".", *options, cwd=tree)
    (wheel,) = tmp_path.glob("*.whl")
    assert _members(wheel) == _members(built.wheel)


def test_wheel_names_the_backend_of_torch_compile(built: Distribution) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("/entry_points.txt")]
        text = archive.read(name).decode()
    assert "[torch_dynamo_backends]\nmlir_fp8 = mlir_fp8.torch.dynamo.backend:mlir_fp8\n" in text


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
    run_python(
        *("-m", "twine", "check", "--strict", str(built.sdist), str(built.wheel)),
        cwd=built.wheel.parent,
    )


def test_metadata_names_license_andrun_python(built: Distribution) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["License-Expression"] == "Apache-2.0 WITH LLVM-exception"
    assert metadata["Requires-Python"] == "<3.15,>=3.11"
    assert metadata["License-File"] == "LICENSE"
