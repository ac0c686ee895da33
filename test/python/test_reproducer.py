"""Reproducers: MLIR's form is read and written, whatever the pipeline and the module hold."""

from pathlib import Path

import pytest
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.reproducer import module_text, parse_reproducer, reproducer_text, save
from mlir_fp8.tools.opt import main

# As mlir-opt writes them: other metadata first, options with braces, quotes as escapes.
UPSTREAM = r"""module {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %a, %a : i32
    %2 = arith.muli %0, %1 : i32
    return %2 : i32
  }
}

{-#
  dialect_resources: {
    builtin: {
      r: "0x040000000000803F"
    }
  },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse, canonicalize{  max-iterations=10 region-simplify=normal}),verify-lowered{to=\22llvm\22})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
"""  # noqa: E501

PIPELINES = [
    "builtin.module(cse)",
    'builtin.module(inline{op-pipelines="func.func(canonicalize,cse)"},func.func(cse))',
    "builtin.module(symbol-privatize{exclude={a,b}})",
    'builtin.module(a{x="\\ä\n\t#-}"})',
]


def test_upstreams_form() -> None:
    found = parse_reproducer(UPSTREAM, "a.mlir")
    assert found.pipeline == (
        "builtin.module(func.func(cse, canonicalize{  max-iterations=10 region-simplify=normal}),"
        'verify-lowered{to="llvm"})'
    )
    assert found.verify_each
    assert "mlir_reproducer" not in found.source
    module = ir.Module.parse(found.source, make_context())
    assert "arith.muli" in str(module)


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("verify_each", [True, False])
def test_what_is_written_is_read(pipeline: str, verify_each: bool) -> None:
    text = reproducer_text("module {}\n", pipeline, verify_each=verify_each)
    found = parse_reproducer(text, "a.mlir")
    assert (found.pipeline, found.verify_each) == (pipeline, verify_each)
    assert str(ir.Module.parse(found.source, make_context())) == "module {\n}\n"
    assert text.isascii()


def test_module_with_resources_and_invalid_ops() -> None:
    source = (
        "func.func @f() -> tensor<2xf32> {\n"
        "  %0 = arith.constant dense_resource<r> : tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}\n"
        '{-# dialect_resources: { builtin: { r: "0x040000000000803F00000040" } } #-}\n'
    )
    module = ir.Module.parse(source, make_context())
    function = module.body.operations[0].operation
    with module.context:
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
    found = parse_reproducer(reproducer_text(module_text(module.operation), "any()"), "a.mlir")
    assert found.pipeline == "any()"
    assert '"0x040000000000803F00000040"' in found.source
    with pytest.raises(ir.MLIRError, match="has 1 operands, but enclosing function"):
        ir.Module.parse(found.source, make_context())


@pytest.mark.parametrize(
    "text", ["module {}", "module {}\n{-# external_resources: {mlir_reproducer: {}} #-}"]
)
def test_what_is_no_reproducer(text: str) -> None:
    with pytest.raises(Fp8Error, match=r"^a.mlir: no reproducer: it has no mlir_reproducer"):
        parse_reproducer(text, "a.mlir")


def test_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert save("a", "native code") == "reproducer written to reproducer-native-code.mlir"
    assert save(b"b", "native code") == "reproducer written to reproducer-native-code-2.mlir"
    assert Path("reproducer-native-code.mlir").read_text() == "a"
    assert Path("reproducer-native-code-2.mlir").read_text() == "b"


def test_folder_that_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert save("a", "cse") == f"reproducer written to {tmp_path}/reproducer-cse.mlir"
    monkeypatch.setattr("tempfile.tempdir", str(gone))
    assert save("a", "cse") == "no reproducer could be written: No such file or directory"


def test_run_reproducer(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Upstream's passes and one of ours, which refuses; by itself it leaves one of two sums."""
    file = tmp_path / "a.mlir"
    file.write_text(UPSTREAM)
    assert main(["--run-reproducer", str(file)]) == 1
    place = f"{file}:2:3"
    assert capfd.readouterr().err == (
        f"{place}: error: 'func.func' is not lowered to the LLVM dialect\n"
    )
    file.write_text(UPSTREAM.replace(r",verify-lowered{to=\22llvm\22}", ""))
    assert main(["--run-reproducer", str(file)]) == 0
    captured = capfd.readouterr()
    assert captured.out.count("arith.addi") == 1
    assert captured.err == ""


@pytest.mark.parametrize("arguments", [["--cse"], ["--pass-pipeline=builtin.module(cse)"]])
def test_the_file_names_the_passes(
    arguments: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.mlir"
    file.write_text(UPSTREAM)
    assert main([str(file), "--run-reproducer", *arguments]) == 1
    assert "--run-reproducer runs the pipeline of the file: name no passes" in (
        capfd.readouterr().err
    )
