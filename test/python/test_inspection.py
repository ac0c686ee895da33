"""What `--inspect` says of each kind of file, of large and damaged ones, and of two."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.artifacts.targets import writable_versions
from mlir_fp8.inspection import file as inspected_file
from mlir_fp8.inspection.bytecode_header import file_header, read_header, read_varint
from mlir_fp8.inspection.bytecode_outline import outline
from mlir_fp8.inspection.difference import differences
from mlir_fp8.inspection.facts import Inspection
from mlir_fp8.inspection.file import inspect_bytes, inspect_file
from mlir_fp8.tools._inspect_page import Style, page

MODELS = Path(__file__).parent.parent / "models"
TEXT = """\
func.func @main(%a: tensor<2xf8E3M4>, %b: tensor<f8E5M2>) -> tensor<2xf8E3M4> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E3M4>
  %1 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %2 = stablehlo.add %a, %0 : tensor<2xf8E3M4>
  %3 = call @g(%2) : (tensor<2xf8E3M4>) -> tensor<2xf8E3M4>
  return %3 : tensor<2xf8E3M4>
}
func.func private @g(%a: tensor<2xf8E3M4>) -> tensor<2xf8E3M4> {
  return %a : tensor<2xf8E3M4>
}
"""
LARGE = 1 << 17


def large_artifact(version: str, *, splat: bool = False) -> bytes:
    numbers = np.random.default_rng(0).integers(0, 100, LARGE, np.uint8).tobytes().hex()
    other = "dense<2.0>" if splat else f'dense<"0x{numbers}">'
    text = f"""
func.func @main() -> (tensor<{LARGE}xf8E5M2>, tensor<{LARGE // 64}x16xf32>, tensor<9xi32>) {{
  %0 = stablehlo.constant dense<"0x{numbers}"> : tensor<{LARGE}xf8E5M2>
  %1 = stablehlo.constant {other} : tensor<{LARGE // 64}x16xf32>
  %2 = stablehlo.constant dense<7> : tensor<9xi32>
  return %0, %1, %2 : tensor<{LARGE}xf8E5M2>, tensor<{LARGE // 64}x16xf32>, tensor<9xi32>
}}
"""
    return mlir_fp8.serialize(mlir_fp8.load(text), version)


def test_facts_of_a_module() -> None:
    facts = inspect_bytes(TEXT.encode(), "a.mlir")
    assert facts.error is None
    assert (facts.header.kind, facts.header.size) == ("text", len(TEXT))
    assert [(each.name, each.visibility) for each in facts.functions] == [
        ("main", "public"),
        ("g", "private"),
    ]
    assert facts.functions[1].type == "(tensor<2xf8E3M4>) -> tensor<2xf8E3M4>"
    assert facts.ops["stablehlo.constant"] == 2
    assert list(facts.ops.values()) == sorted(facts.ops.values(), reverse=True)
    assert facts.small_floats == {
        "f8E3M4": {"arguments": 2, "results": 2, "constants": 1, "ops": 5},
        "f8E5M2": {"arguments": 1, "results": 0, "constants": 0, "ops": 0},
    }
    assert facts.minimum_version == "1.7.0"
    assert [each.name for each in facts.features] == ["f8E3M4"]
    # The second constant repeats one number.
    assert (facts.constants, facts.constant_bytes) == (2, 6)
    assert facts.largest_constant is not None
    assert facts.largest_constant.type == "tensor<8xf32>"


@pytest.mark.parametrize("form", ["artifact", "bytecode", "text"])
def test_forms_of_one_module_have_the_same_facts(form: str, tmp_path: Path) -> None:
    module = mlir_fp8.load(TEXT)
    file = tmp_path / "file"
    if form == "text":
        file.write_text(TEXT)
    elif form == "artifact":
        file.write_bytes(mlir_fp8.serialize(module, "1.7.0"))
    else:
        with file.open("wb") as stream:
            module.operation.write_bytecode(stream)
    facts = inspect_file(file)
    assert facts.header.kind == form
    expected = inspect_bytes(TEXT.encode(), "a.mlir")
    assert differences(facts, expected).keys() <= {"header"}


def test_header_of_an_artifact() -> None:
    artifact = mlir_fp8.serialize(mlir_fp8.load(TEXT), "1.7.0")
    header = read_header(artifact[:64], len(artifact))
    assert header.kind == "artifact"
    assert (header.stablehlo_version, header.producer) == ("1.7.0", "StableHLO_v1.7.0")
    assert (header.bytecode_version, header.size) == (6, len(artifact))


@pytest.mark.parametrize(
    ("version", "bytecode"), [("0.9.0", 0), ("0.12.0", 3), ("0.14.0", 4), ("0.15.0", 6)]
)
def test_bytecode_version(version: str, bytecode: int) -> None:
    artifact = mlir_fp8.serialize(mlir_fp8.load(TEXT.replace("f8E3M4", "f8E5M2")), version)
    assert read_header(artifact, len(artifact)).bytecode_version == bytecode


def test_kinds(tmp_path: Path) -> None:
    mhlo = MODELS / "mlp_delayed_scaling.mhlo.mlir"
    assert inspect_file(mhlo).header.kind == file_header(mhlo).kind == "mhlo text"
    for content, kind in (
        (b"", "empty"),
        (b"\0\1\2", "binary"),
        (b"HloModule m\n", "hlo text"),
        (TEXT.encode(), "text"),
        (b"ML\xefR", "bytecode"),
    ):
        file = tmp_path / "file"
        file.write_bytes(content)
        assert file_header(file).kind == kind
    with pytest.raises(mlir_fp8.Fp8Error, match="cannot read"):
        file_header(tmp_path / "none")
    with pytest.raises(mlir_fp8.Fp8Error, match="cannot read"):
        inspect_file(tmp_path)


def test_varints() -> None:
    assert read_varint(b"\x0d", 0) == (6, 1)
    assert read_varint(b"\x02\x04", 0) == (256, 2)
    assert read_varint(b"\x00" + bytes(range(8)), 0) == (int.from_bytes(range(8), "little"), 9)
    assert read_varint(b"\x02", 0) is None
    assert read_varint(b"", 0) is None


def test_json_goes_there_and_back() -> None:
    facts = inspect_file(MODELS / "transformer_train_step.mlirbc")
    assert Inspection.from_json(facts.to_json()) == facts
    assert json.loads(facts.to_json()).keys() == {
        "name", "header", "error", "functions", "ops", "small_floats", "minimum_version",
        "features", "constants", "constant_bytes", "largest_constant",
    }  # fmt: skip


@pytest.mark.sampled(13)
@pytest.mark.parametrize("version", writable_versions())
def test_large_constants_are_not_read(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = large_artifact(version)
    cut = outline(memoryview(artifact))
    assert cut is not None and len(cut.data) < 1000 and cut.elided == {LARGE}
    facts = inspect_bytes(artifact, "a")
    assert (facts.constants, facts.constant_bytes) == (3, 2 * LARGE + 4)
    monkeypatch.setattr(inspected_file, "outline", lambda _: None)
    assert inspect_bytes(artifact, "a") == facts


def test_a_repeated_number_is_not_taken_for_a_cut_constant() -> None:
    artifact = large_artifact("1.0.0", splat=True)
    assert outline(memoryview(artifact)) is None
    assert inspect_bytes(artifact, "a").constant_bytes == LARGE + 8


def test_small_and_real_artifacts_are_read_whole() -> None:
    for file in MODELS.glob("*.mlirbc"):
        assert outline(memoryview(file.read_bytes())) is None


def test_a_terminal_gets_headings_in_bold() -> None:
    facts = inspect_bytes(TEXT.encode(), "a.mlir")
    plain, coloured = (page(facts, Style(each), header_only=False) for each in (False, True))
    assert "\033" not in plain
    assert coloured.startswith("\033[1ma.mlir\033[0m\n")
    assert re.sub(r"\033\[\d+m", "", coloured) == plain


def test_damage_leaves_the_header() -> None:
    whole = large_artifact("1.0.0")
    rng = np.random.default_rng(0)
    for length in (30, 64, 1000, len(whole) - 200, len(whole) - 1):
        facts = inspect_bytes(whole[:length], "a.mlirbc")
        assert facts.header.stablehlo_version == "1.0.0"
        assert facts.error is not None and facts.error.startswith("a.mlirbc: ")
        assert "\n" not in facts.error and not facts.ops
    for _ in range(40):
        flipped = bytearray(whole)
        for at in (*rng.integers(20, 200, 2), *rng.integers(len(whole) - 200, len(whole), 2)):
            flipped[at] ^= 1 << int(rng.integers(8))
        facts = inspect_bytes(bytes(flipped), "a.mlirbc")
        assert facts.error is None or "\n" not in facts.error


def test_damage_in_a_file_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "a.mlirbc"
    file.write_bytes(large_artifact("1.0.0")[:-100])
    assert inspect_file(file).error is not None


def test_differences() -> None:
    first = inspect_bytes(TEXT.encode(), "a")
    assert differences(first, first) == {}
    changed = TEXT.replace("stablehlo.add %a, %0", "stablehlo.multiply %a, %0")
    second = inspect_bytes(changed.replace("@g", "@h").encode(), "b")
    assert differences(first, second) == {
        "header": {"size": (len(TEXT), len(TEXT) + 5)},
        "functions": {
            "g": ("private (tensor<2xf8E3M4>) -> tensor<2xf8E3M4>", None),
            "h": (None, "private (tensor<2xf8E3M4>) -> tensor<2xf8E3M4>"),
        },
        "ops": {"stablehlo.add": (1, None), "stablehlo.multiply": (None, 1)},
    }


def test_quantized_constants_count_what_is_stored() -> None:
    assert inspect_file(Path("examples/w8a8.mlir")).constant_bytes == 12
