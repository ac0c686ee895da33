"""A machine that runs artifacts by XLA has jax and numpy: neither MLIR's wheel nor llvmlite."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8

pytest.importorskip("jax")

TEXT = """\
func.func @main(%x: tensor<4xf32> {mlir_fp8.name = "x"}) -> tensor<4xf8E5M2> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
"""
FORBID = """\
import importlib.machinery, importlib.util, sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch_mlir", "llvmlite", "torch", "scipy.linalg"):
            raise ModuleNotFoundError(f"{name} is forbidden", name=name)
sys.meta_path.insert(0, Forbid())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name.partition(".")[0] in ("torch_mlir", "llvmlite", "torch") else found(name, package)
)
"""


def run(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", FORBID + program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
    )


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("xla") / "cast.mlirbc"
    path.write_bytes(mlir_fp8.serialize(mlir_fp8.load(TEXT), "1.0.0"))
    return path


def test_the_api(artifact: Path) -> None:
    program = """
import numpy as np
import mlir_fp8
cast = mlir_fp8.compile(sys.argv[1], backend="xla", device="cpu")
(result,) = cast(np.array([1, 2, 3.1, 7e4], np.float32))
print(result.to_numpy().astype(float).tolist())
assert not [name for name in sys.modules if name.startswith(("torch_mlir", "llvmlite"))]
try:
    mlir_fp8.compile("func.func @main() { return }", backend="xla")
except mlir_fp8.Fp8Error as error:
    print(error)
"""
    got = run(program, str(artifact))
    assert got.returncode == 0, got.stderr
    values, refusal = got.stdout.splitlines()
    assert values == "[1.0, 2.0, 3.0, inf]"
    assert refusal.startswith("<text>: needs the compiler, and torch-mlir is not installed: give")


def test_the_tool(artifact: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.array([1, 2, 3.1, 7e4], np.float32))
    program = "from mlir_fp8.tools.run import main; sys.exit(main(sys.argv[1:]))"
    given = ["--args", str(tmp_path / "in.npz"), "--backend=xla"]
    got = run(program, str(artifact), *given, "--print", "--timing")
    assert got.returncode == 0, got.stderr
    assert got.stdout.split() == ["res0", ":", "tensor<4xf8E5M2>", "[", "1.", "2.", "3.", "inf]"]
    assert "to XLA" in got.stderr
    missing = run(program, str(artifact), *given, "--device=gpu:99")
    assert missing.returncode == 1
    assert missing.stderr.startswith("error: there is no gpu:99: ")
    assert len(missing.stderr.splitlines()) == 1


def test_executables_are_kept_on_disk_where_jax_is_told_to(artifact: Path, tmp_path: Path) -> None:
    program = """
import jax
import mlir_fp8
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
seen = []
jax.monitoring.register_event_listener(lambda name, **_: seen.append(name))
mlir_fp8.compile(sys.argv[1], backend="xla")
print(sum(name.endswith("/cache_hits") for name in seen))
"""
    os_cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "xla")}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in os_cache.items():
            patch.setenv(name, value)
        runs = [run(program, str(artifact)) for _ in range(2)]
    assert [each.stdout.strip() for each in runs] == ["0", "1"], runs[0].stderr
