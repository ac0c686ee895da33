"""`mlir_fp8.load`: every form of a module, and what is refused, by whose name."""

import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.source import is_module, read_source

MODELS = Path(__file__).parent.parent / "models"
TEXT = """\
func.func @main(%a: tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN> {
  %0 = stablehlo.add %a, %a : tensor<2xf8E4M3FN>
  return %0 : tensor<2xf8E4M3FN>
}
"""
MHLO = """\
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = mhlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def assert_is_text(module: ir.Module) -> None:
    assert str(module) == str(mlir_fp8.load(TEXT))


def test_text_and_bytes() -> None:
    assert_is_text(mlir_fp8.load(TEXT))
    assert_is_text(mlir_fp8.load(TEXT.encode()))
    assert_is_text(mlir_fp8.load(TEXT.replace("\n", "\r\n")))
    assert_is_text(mlir_fp8.load(bytecode(mlir_fp8.load(TEXT))))
    assert_is_text(mlir_fp8.load(mlir_fp8.serialize(mlir_fp8.load(TEXT), "1.0.0")))


def test_files(tmp_path: Path) -> None:
    module = mlir_fp8.load(TEXT)
    for name, data in (
        ("text.mlir", TEXT.encode()),
        # Contents tell, not names.
        ("bytecode.mlir", bytecode(module)),
        ("artifact.txt", mlir_fp8.serialize(module, "minimum")),
        ("line\nbreak.mlir", TEXT.encode()),
    ):
        (tmp_path / name).write_bytes(data)
        assert_is_text(mlir_fp8.load(tmp_path / name))
    assert_is_text(mlir_fp8.load(str(tmp_path / "text.mlir")))


def test_locations_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "named.mlir"
    file.write_text(TEXT)
    location = str(mlir_fp8.load(file).body.operations[0].location)
    assert location == f'loc("{file}":1:1)'


def test_given_context() -> None:
    context = make_context()
    for data in (TEXT.encode(), mlir_fp8.serialize(mlir_fp8.load(TEXT)), MHLO.encode()):
        assert mlir_fp8.load(data, context=context).context == context


@pytest.mark.parametrize(
    "source",
    [
        MHLO,
        MHLO.replace(
            "mhlo.add %a, %a : tensor<2xf32>",
            '"mhlo.add"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>',
        ),
    ],
)
def test_mhlo_is_legalized(source: str) -> None:
    assert str(mlir_fp8.load(source)) == str(mlir_fp8.load(MHLO.replace("mhlo", "stablehlo")))


def test_mhlo_beside_stablehlo_and_chlo() -> None:
    source = MHLO.replace(
        "return",
        "%1 = stablehlo.abs %0 : tensor<2xf32>\n"
        "  %2 = chlo.tan %1 : tensor<2xf32> -> tensor<2xf32>\n"
        "  return",
    )
    text = str(mlir_fp8.load(source))
    assert "stablehlo.add" in text
    assert "stablehlo.abs" in text
    assert "mhlo." not in text.replace("stablehlo.", "")


def test_chlo_stays() -> None:
    assert "chlo.erf" in str(
        mlir_fp8.load(
            "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = chlo.erf %a : tensor<2xf32> -> tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n}"
        )
    )


def test_an_mhlo_model_is_its_stablehlo() -> None:
    from_mhlo = str(mlir_fp8.load(MODELS / "mlp_delayed_scaling.mhlo.mlir"))
    stablehlo = str(mlir_fp8.load(MODELS / "mlp_delayed_scaling.mlir"))
    # MHLO leaves out a precision that is the default.
    assert from_mhlo == stablehlo.replace(", precision = [DEFAULT, DEFAULT]", "")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\n", "<text>: the file is empty"),
        (b"", "<bytes>: the file is empty"),
        (b" \n\t", "<bytes>: the file is empty"),
        ("func.func @f() {\n  retrn\n}", "<text>:2:3: custom op 'retrn' is unknown"),
        (TEXT + TEXT, "<text>:5:1: redefinition of symbol named 'main'"),
        (
            TEXT.encode("utf-16"),
            "<bytes>: neither MLIR text, nor MLIR bytecode, nor a portable artifact",
        ),
        (TEXT.encode() + b"\0", "<bytes>: binary data that is neither MLIR bytecode nor"),
        (b"ML\xefR", "<bytes>: attempting to parse a byte at the end of the bytecode"),
        (
            'func.func @main() {\n  "foo.bar"() : () -> ()\n  return\n}',
            "<text>:2:12: 'foo.bar' is of a dialect that is not registered here",
        ),
        (
            MHLO.replace("return", '"foo.bar"() : () -> ()\n  return'),
            "<text>:3:12: 'foo.bar' is of a dialect that is not registered here",
        ),
        (
            MHLO.replace("return", "%1 = tensor.empty() : tensor<2xf32>\n  return"),
            "<text>:3:8: 'tensor.empty' cannot stand in one module with MHLO",
        ),
        (MHLO.replace("mhlo.add", "mhlo.addd"), "<text>:2:8: custom op 'mhlo.addd' is unknown"),
    ],
)
def test_refused(source: str | bytes, message: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^{re.escape(message)}") as raised:
        mlir_fp8.load(source)
    assert "\n" not in str(raised.value)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("share", [0.2, 0.6, 0.99])
@pytest.mark.parametrize("kind", ["artifact", "bytecode"])
def test_truncated(tmp_path: Path, kind: str, share: float) -> None:
    module = mlir_fp8.load(TEXT)
    data = mlir_fp8.serialize(module) if kind == "artifact" else bytecode(module)
    file = tmp_path / "cut.mlirbc"
    file.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^{re.escape(str(file))}: ") as raised:
        mlir_fp8.load(file)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.mlir", "No such file or directory"),
        ("", "Is a directory"),
        ("null\0byte.mlir", "embedded null byte"),
    ],
)
def test_unreadable(tmp_path: Path, name: str, reason: str) -> None:
    path = f"{tmp_path}/{name}"
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^cannot read '{re.escape(path)}': {reason}$"):
        mlir_fp8.load(path)


def test_no_name() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^cannot read '': No such file or directory$"):
        mlir_fp8.load("")


def test_the_place_of_an_error_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "bad.mlir"
    file.write_text("func.func @f() {\n  retrn\n}")
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^{re.escape(str(file))}:2:3: custom op 'retrn'"):
        mlir_fp8.load(file)


def test_mlir_that_another_thread_is_still_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_mlir.ir", ModuleType("torch_mlir.ir"))
    assert not is_module("func.func private @f()")
    assert read_source("func.func private @f() {}")[1] == "<text>"
