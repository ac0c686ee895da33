"""What is raised inside and is no `Fp8Error`: its words, its cause, the file that runs it again.

A pass that fails stands in for a fault of ours.
"""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8 import lowering, pipelines
from mlir_fp8.compiling import execution
from mlir_fp8.failures import trace
from mlir_fp8.lowering import ModulePass
from mlir_fp8.passes import pass_manager, unlocked
from mlir_fp8.tools import explain, opt

MODULE = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
CUSTOM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @fails(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
ERRORS = [
    KeyError("x"),
    ValueError("two\nlines"),
    RecursionError(),
    AssertionError("a.mlir:1:2: b"),
]
REASONS = ["KeyError: 'x'", "ValueError: two", "RecursionError", "AssertionError: a.mlir:1:2: b"]
CASES = list(zip(ERRORS, REASONS, strict=True))


@dataclasses.dataclass(frozen=True)
class Fault(ModulePass):
    """Marks the module, then raises `error`."""

    times: int = 1
    error = KeyError("x")

    def run(self, module: ir.Operation) -> None:
        module.attributes["test.seen"] = ir.UnitAttr.get()
        raise Fault.error


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fault` is a pass, and the second of those to linalg and of those to loops."""
    names = (*lowering.pass_names(), "fault")
    real = lowering.pass_class
    for module in (lowering, pass_manager, unlocked):
        monkeypatch.setattr(module, "pass_names", lambda: names)
        monkeypatch.setattr(
            module, "pass_class", lambda name: Fault if name == "fault" else real(name)
        )
    to_linalg = pipelines.to_linalg
    monkeypatch.setattr(
        execution.pipelines,
        "to_linalg",
        lambda **options: ["cse", "fault{times=2}", *to_linalg(**options)],
    )


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(("error", "reason"), CASES)
def test_pass(error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fault, "error", error)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        mlir_fp8.compile(MODULE)
    file = "reproducer-fault.mlir"
    assert str(caught.value) == f"internal error: fault: {reason}; reproducer written to {file}"
    assert caught.value.__cause__ is error
    text = Path(file).read_text()
    # The module before the pass, with the rest of the pipeline.
    assert "test.seen" not in text
    assert "fp8.main" in text
    pipeline = re.search(r'pipeline: "builtin.module\((.*)\)"', text)
    assert pipeline is not None
    assert pipeline[1].startswith("fault{times=2},")
    assert pipeline[1].endswith("verify-lowered{to=linalg}")
    assert "verify_each: false" in text


@pytest.mark.usefixtures("faulty")
def test_reproducer_runs_again(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(mlir_fp8.Fp8Error):
        mlir_fp8.compile(MODULE)
    assert opt.main(["--run-reproducer", "reproducer-fault.mlir"]) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "error: internal error: fault: KeyError: 'x'; "
        "reproducer written to reproducer-fault-2.mlir\n"
    )
    first, second = (Path(f"reproducer-fault{end}.mlir").read_text() for end in ("", "-2"))
    assert first == second


@pytest.mark.usefixtures("faulty")
def test_pass_of_fp8_opt(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.mlir").write_text(MODULE)
    arguments = ["a.mlir", "-o", "out.mlir", "--cse", "--fault", "--mlir-print-ir-after-all"]
    assert opt.main(arguments) == 1
    assert capfd.readouterr().err.splitlines()[-1] == (
        "error: internal error: fault: KeyError: 'x'; reproducer written to reproducer-fault.mlir"
    )
    assert not Path("out.mlir").exists()
    assert 'pipeline: "builtin.module(fault)"' in Path("reproducer-fault.mlir").read_text()


def test_step_of_a_tool(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fail(*_: Any) -> None:
        raise AttributeError("no such thing")

    Path("a.mlir").write_text(MODULE)
    monkeypatch.setattr(explain, "_explain", fail)
    assert explain.main(["a.mlir"]) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "error: internal error: fp8-explain: AttributeError: no such thing; "
        "reproducer written to reproducer-fp8-explain.mlir\n"
    )
    text = Path("reproducer-fp8-explain.mlir").read_text()
    assert text.startswith(MODULE)
    assert opt.main(["--run-reproducer", "reproducer-fp8-explain.mlir"]) == 0


def test_step_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(execution, "native_code", fail)
    module = mlir_fp8.load(MODULE)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        mlir_fp8.compile(module, threads=1, cache=False)
    assert str(caught.value) == (
        "internal error: compile: OSError: [Errno 5] Input/output error; "
        "reproducer written to reproducer-compile.mlir"
    )
    assert isinstance(caught.value.__cause__, OSError)
    assert opt.main(["--run-reproducer", "reproducer-compile.mlir", "-o", "again.mlir"]) == 0
    assert Path("again.mlir").read_text() == str(module).rstrip() + "\n"


def test_out_of_memory(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    runs: list[None] = []

    def fail(*_: Any) -> None:
        runs.append(None)
        raise MemoryError("no room")

    monkeypatch.setattr(execution, "native_code", fail)
    with pytest.raises(MemoryError, match="no room"):
        mlir_fp8.compile(MODULE, threads=1, cache=False)
    assert len(runs) == 1
    assert list(folder.iterdir()) == []


PUBLIC = [
    (
        mlir_fp8.apply_checkpoint,
        (MODULE, mlir_fp8.Checkpoint("mine", {})),
        "mlir_fp8.checkpoints.application.loaded",
    ),
    (
        mlir_fp8.checkpoint_of,
        (mlir_fp8.quantize(MODULE), {}),
        "mlir_fp8.checkpoints.exporting.find_entry",
    ),
    (mlir_fp8.load_checkpoint, ("x",), "mlir_fp8.checkpoints.reading._file_of"),
    (mlir_fp8.repeat_steps, (MODULE, 2, {}), "mlir_fp8.inference.repetition.loaded"),
    (
        mlir_fp8.save_checkpoint,
        ("x", mlir_fp8.Checkpoint("mine", {})),
        "mlir_fp8.checkpoints.writing.quantization_config",
    ),
    (mlir_fp8.clear_cache, (), "mlir_fp8.compiling.native.code_cache._folder"),
    (mlir_fp8.compare, (MODULE,), "mlir_fp8.judging.judges.loaded"),
    (mlir_fp8.compile, (MODULE,), "mlir_fp8.compiling.compilation.check_threads"),
    (mlir_fp8.deserialize, (b"x",), "mlir_fp8.reading.artifact.artifact_version"),
    (mlir_fp8.explain, (MODULE,), "mlir_fp8.explaining.explain.check_module"),
    (mlir_fp8.interpret, (MODULE,), "mlir_fp8.judging.interpretation.check_module"),
    (mlir_fp8.lint, (MODULE,), "mlir_fp8.explaining.lint.check_module"),
    (mlir_fp8.load, (MODULE,), "mlir_fp8.reading.loader.parse"),
    (mlir_fp8.load_arrays, ("x.npz",), "mlir_fp8.tensors.array_files.file_entries"),
    (mlir_fp8.minimum_version, (MODULE,), "mlir_fp8.serialization.serialize.check_module"),
    (mlir_fp8.pack_weights, (MODULE, "x"), "mlir_fp8.quantization.packed_in"),
    (mlir_fp8.quantize, (MODULE,), "mlir_fp8.quantization.recipe_named"),
    (mlir_fp8.reduce, (MODULE,), "mlir_fp8.reduction.reduce.compare"),
    (
        mlir_fp8.register_custom_call,
        ("x", str),
        "mlir_fp8.compiling.custom_calls.custom_calls.register",
    ),
    (mlir_fp8.report, (MODULE,), "mlir_fp8.reporting.report.loaded"),
    (mlir_fp8.save_arrays, ("x.npz", {}), "mlir_fp8.tensors.array_files.file_contents"),
    (mlir_fp8.serialize, (MODULE,), "mlir_fp8.serialization.serialize.check_module"),
    (mlir_fp8.cast, (np.ones(2), "f8E5M2"), "mlir_fp8.compiling.native.cast.kernel"),
]


@pytest.mark.parametrize(
    ("function", "arguments", "inner"), PUBLIC, ids=lambda x: getattr(x, "__name__", "")
)
def test_every_public_function(
    function: Any, arguments: tuple[Any, ...], inner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise LookupError("inside")

    monkeypatch.setattr(inner, fail)
    monkeypatch.setattr("mlir_fp8.compiling.native.cast.cast_quickly", lambda *_: None)
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        function(*arguments)
    assert str(caught.value).startswith(f"internal error: {function.__name__}: LookupError: inside")
    assert isinstance(caught.value.__cause__, LookupError)


def test_every_public_function_is_tried() -> None:
    functions = {name for name in mlir_fp8.__all__ if not isinstance(getattr(mlir_fp8, name), type)}
    assert functions == {function.__name__ for function, _, _ in PUBLIC}


def test_arguments_that_a_function_does_not_take() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'entri'"):
        mlir_fp8.compile(MODULE, entri="main")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        mlir_fp8.load()  # pyright: ignore[reportCallIssue]


def test_errors_of_callers_own_functions(folder: Path) -> None:
    mine = ZeroDivisionError("mine")
    calls: list[str] = []

    def on_stage(stage: str, *_: Any) -> None:
        calls.append(stage)
        raise mine

    with pytest.raises(ZeroDivisionError) as caught:
        mlir_fp8.compile(MODULE, on_stage=on_stage)
    assert caught.value is mine
    assert calls == ["to linalg"]

    def expansion(_: ir.Operation) -> str:
        raise mine

    mlir_fp8.register_custom_call("fails", expansion)
    with pytest.raises(ZeroDivisionError) as caught:
        mlir_fp8.compile(CUSTOM)
    assert caught.value is mine
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.usefixtures("faulty")
def test_interrupts(kind: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fault, "error", kind())
    with pytest.raises(kind):
        mlir_fp8.compile(MODULE)
    assert list(folder.iterdir()) == []


def test_nothing_is_watched_in_the_end() -> None:
    assert trace.tracing() is None
