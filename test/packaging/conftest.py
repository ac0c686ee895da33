"""The wheel and the source distribution, built and installed once for all tests here."""

import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from distribution import Distribution, copy_sources, run_python


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    """`python -m build`: the source distribution, and the wheel that is built from it."""
    for package in ("build", "twine"):
        pytest.importorskip(package, reason="pip install '.[package]'")
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    copy_sources(tree)
    run_python("-m", "build", "--no-isolation", f"--outdir={out}", cwd=tree)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return Distribution(sdist, wheel)


@pytest.fixture(scope="package")
def installed(built: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, whose dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", "--no-compile", str(built.wheel))
    # No PATH: no compiler is there to be found.
    run_python("-m", "pip", f"--python={python}", *install, cwd=folder, PATH="")
    (site_packages,) = (folder / "lib").glob("*/site-packages")
    theirs = sysconfig.get_paths()["purelib"]
    (site_packages / "dependencies.pth").write_text(
        "\n".join([theirs, *(path for path in sys.path if path.endswith("site-packages"))])
    )
    return folder
