"""Code cached on disk: found again, told apart, shared, bounded, and never in the way."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import dialects, lowering
from mlir_fp8.compiling import execution
from mlir_fp8.compiling.native import code_key, quick_cast
from mlir_fp8.compiling.native.code_cache import CodeCache, open_cache
from mlir_fp8.lowering.frontend import stablehlo_expand_custom_calls as custom_calls

ADD = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}
"""
X = np.array([1, 2, 300, -0.25], np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLIR_FP8_CACHE", "on")
    monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The entry of everything that was compiled, not found."""
    seen: list[str] = []
    compile_module = execution.compile_module

    def counted(source, options, on_stage=None):
        seen.append(options.entry)
        return compile_module(source, options, on_stage)

    monkeypatch.setattr(execution, "compile_module", counted)
    return seen


def _run(program: mlir_fp8.CompiledModule) -> list[int]:
    """The codes, since NaN is not itself."""
    return program(X)[0].view(np.uint8).tolist()


def test_code_is_found_again(folder: Path, compiled: list[str], tmp_path: Path) -> None:
    wanted = _run(mlir_fp8.compile(ADD, cache=False))
    assert not folder.exists()
    file = tmp_path / "add.mlir"
    file.write_text(ADD)
    for source in (ADD, file, str(file), ADD.encode()):
        assert _run(mlir_fp8.compile(source)) == wanted
    assert len(compiled) == 2  # without the cache, and once
    module = mlir_fp8.load(ADD)
    for _ in range(3):
        assert _run(mlir_fp8.compile(module)) == wanted
    assert len(compiled) == 3
    assert len(list(folder.iterdir())) == 2


def test_what_changes_code_has_code_of_its_own(folder: Path, compiled: list[str]) -> None:
    first = _run(mlir_fp8.compile(ADD))
    assert first[2] == 0x7F
    assert _run(mlir_fp8.compile(ADD, saturate=True))[2] == 0x7E
    assert _run(mlir_fp8.compile(ADD, rounding="toward-zero")) != first
    mlir_fp8.compile(ADD, rounding="stochastic", seed=1)
    mlir_fp8.compile(ADD, rounding="stochastic", seed=2)
    mlir_fp8.compile(ADD, opt_level=3)
    mlir_fp8.compile(ADD.replace("@main", "@other"), entry="other")
    mlir_fp8.compile(ADD.replace("add", "multiply"))
    assert len(compiled) == 8


def test_shapes_that_are_given_count(folder: Path, compiled: list[str]) -> None:
    text = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.add %x, %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    for _ in range(2):
        for size in (3, 5):
            ones = np.ones(size, np.float32)
            assert mlir_fp8.compile(text, shapes=[ones])(ones)[0].tolist() == [2.0] * size
    assert len(compiled) == 2


def test_registered_custom_calls_are_not_told_by_bytes(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custom_calls, "_REGISTRY", dict(custom_calls._REGISTRY))
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @mine(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    for op, wanted in (("negate", -2.0), ("sqrt", 2.0**0.5)):
        mlir_fp8.register_custom_call(
            "mine",
            lambda _, op=op: (
                f"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
              %0 = stablehlo.{op} %x : tensor<4xf32>
              return %0 : tensor<4xf32>
            }}"""
            ),
        )
        assert mlir_fp8.compile(text)(np.full(4, 2, np.float32))[0][0] == np.float32(wanted)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "other file"])
def test_damaged_entries_are_compiled_again(folder: Path, compiled: list[str], damage: str) -> None:
    wanted = _run(mlir_fp8.compile(ADD))
    (entry,) = folder.iterdir()
    good = entry.read_bytes()
    bad = {
        "truncated": good[: len(good) // 2],
        "flipped": good[:-9] + bytes([good[-9] ^ 1]) + good[-8:],
        "empty": b"",
        "other file": b"something else",
    }[damage]
    entry.write_bytes(bad)
    assert _run(mlir_fp8.compile(ADD)) == wanted
    assert len(compiled) == 2
    assert entry.read_bytes()[:16] == good[:16]
    assert _run(mlir_fp8.compile(ADD)) == wanted
    assert len(compiled) == 2


def test_errors_are_not_kept(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(mlir_fp8.Fp8Error, match="there is no function 'other'"):
            mlir_fp8.compile(ADD, entry="other")
    assert not folder.exists()


@pytest.mark.parametrize("value", ["off", "0", "false", "NO"])
def test_the_environment_turns_it_off(
    folder: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("MLIR_FP8_CACHE", value)
    mlir_fp8.compile(ADD)
    assert not folder.exists()


def test_stages_are_those_of_a_compilation(folder: Path) -> None:
    for _ in range(2):
        stages: list[str] = []
        mlir_fp8.compile(ADD, on_stage=lambda stage, *_, seen=stages: seen.append(stage))
        assert stages == ["to linalg", "to LLVM", "to native code"]


@pytest.mark.parametrize("what", ["a file", "below a file", "open to others", "full"])
def test_a_folder_that_will_not_do_is_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    if what == "a file":
        folder.write_text("in the way")
    elif what == "below a file":
        folder.write_text("in the way")
        monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(folder / "cache"))
    elif what == "open to others":
        folder.mkdir()
        folder.chmod(0o777)
    else:
        monkeypatch.setenv("MLIR_FP8_CACHE_DIR", "/dev/full/cache")
    for _ in range(2):
        assert _run(mlir_fp8.compile(ADD))[0] == 0x40
    if what == "open to others":
        assert not list(folder.iterdir())


def test_a_write_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert _run(mlir_fp8.compile(ADD))[0] == 0x40
    assert list(folder.iterdir()) == []


def test_the_least_lately_used_goes_first(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path, max_bytes=1000)
    for number in range(5):
        cache.put(f"{number}", bytes(150))  # 198 bytes with what is before
        os.utime(tmp_path / f"{number}.code", (number, number))
    assert cache.get("0") == bytes(150)  # used now
    cache.put("5", bytes(150))
    assert [cache.get(str(n)) is not None for n in range(6)] == [True, False, *[True] * 4]
    cache.put("large", bytes(1000))
    assert cache.get("large") is None and cache.get("5") is not None


def test_what_others_left_unfinished_goes(tmp_path: Path) -> None:
    old, new = tmp_path / "old.part", tmp_path / "new.part"
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    CodeCache(tmp_path, 1000).put("key", b"code")
    assert not old.exists() and new.exists()


def test_it_can_be_cleared(folder: Path) -> None:
    mlir_fp8.compile(ADD)
    (folder / "not ours").write_text("stays")
    mlir_fp8.clear_cache()
    assert [file.name for file in folder.iterdir()] == ["not ours"]


def test_the_folder_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLIR_FP8_CACHE", "on")
    monkeypatch.delenv("MLIR_FP8_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for value, wanted in ((str(tmp_path / "x"), tmp_path / "x"), ("x", tmp_path / ".cache")):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        monkeypatch.setattr(sys, "platform", "linux")
        assert open_cache() == CodeCache(wanted / "mlir-fp8", 1 << 30)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert open_cache() == CodeCache(tmp_path / "Library" / "Caches" / "mlir-fp8", 1 << 30)
    monkeypatch.setenv("MLIR_FP8_CACHE_MAX_BYTES", "1000")
    cache = open_cache()
    assert cache is not None and cache.max_bytes == 1000
    monkeypatch.setenv("MLIR_FP8_CACHE_MAX_BYTES", "1G")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^MLIR_FP8_CACHE_MAX_BYTES=1G: give a number of"):
        open_cache()


def test_threads_share_it(folder: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        for program in threads.map(lambda _: mlir_fp8.compile(ADD), range(8)):
            assert _run(program)[0] == 0x40
    assert len(list(folder.iterdir())) == 1


PROGRAM = f"""
import sys, numpy as np, mlir_fp8
x = np.array([1, 2, 300, -0.25], np.float32)
print(mlir_fp8.compile({ADD!r})(x)[0].view(np.uint8).tolist())
print(mlir_fp8.cast(x, "f8E5M2").view(np.uint8).tolist())
print("torch_mlir" in sys.modules)
"""


def test_processes_share_it_and_then_need_no_mlir(folder: Path, exhaustive: bool) -> None:
    command, count = [sys.executable, "-c", PROGRAM], 3 if exhaustive else 2
    first = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    outputs = [process.communicate()[0] for process in first]
    assert len(list(folder.iterdir())) == 2
    results = "[64, 72, 127, 176]\n[60, 64, 93, 180]\n"
    assert {output.rsplit("\n", 2)[0] + "\n" for output in outputs} == {results}
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout == f"{results}False\n"


def test_kernels_of_casts_are_kept(folder: Path) -> None:
    for _ in range(2):
        quick_cast.forget()
        got = mlir_fp8.cast(X, "f8E4M3FN")
        assert got.astype(np.float32).tolist() == [1, 2, 288, -0.25]
        assert len(list(folder.iterdir())) == 1
    (entry,) = folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    quick_cast.forget()
    assert mlir_fp8.cast(X, "f8E4M3FN").astype(np.float32)[2] == 288


SHARED = """
import sys, numpy as np, mlir_fp8
text = '''func.func @main(%x: tensor<2097152xf32>) -> tensor<2097152xf32> {
  %0 = stablehlo.tanh %x : tensor<2097152xf32>
  return %0 : tensor<2097152xf32>
}'''
x = np.linspace(-3, 3, 1 << 21, dtype=np.float32)
y, = mlir_fp8.compile(text)(x)
alone, = mlir_fp8.compile(text, threads=1, cache=False)(x) if sys.argv[1:] else (y,)
assert (y == alone).all() and abs(y - np.tanh(x)).max() < 1e-6
print("torch_mlir" in sys.modules, len(list(__import__("os").scandir("/proc/self/task"))) > 1)
"""


def test_code_that_shares_loops_brings_the_pool(folder: Path) -> None:
    environment = os.environ | {"MLIR_FP8_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    for options, said in ((["compare"], "True True\n"), ([], "False True\n")):
        command = [sys.executable, "-c", SHARED, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout == said
    assert len(list(folder.iterdir())) == 2  # the module's, and the pool's


def test_all_files_of_the_project_are_in_the_key() -> None:
    told = {line.split()[0] for line in code_key._files()}
    packages = [Path(package.__path__[0]) for package in (mlir_fp8, dialects, lowering)]
    parts = ("compiling", "real_functions", "kernels", ".")
    there = {
        file.name
        for package in packages
        for part in parts
        for file in (package / part).rglob("*.py")
    }
    assert {"code_key.py", "target.py", "float_formats.py"} <= there <= told
