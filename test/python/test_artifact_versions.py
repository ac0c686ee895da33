"""The table of StableHLO versions against the library, `auto`, requirement names, refusals."""

import re
from pathlib import Path

import pytest
from torch_mlir import ir, passmanager
from torch_mlir._mlir_libs import _stablehlo
from version_cases import CASES, STRICTER_CASES

import mlir_fp8
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.artifacts.targets import current_version, oldest_version, writable_versions
from mlir_fp8.base.context import diagnostics, make_context
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.dialects.stablehlo_versions import OPS, TABLE_VERSION

CONTEXT = make_context()
MODELS = Path(__file__).parent.parent / "models"
TOO_NEW = """\
func.func @main(%a: tensor<2xf8E3M4>, %b: tensor<f4E2M1FN>) -> tensor<2xf8E3M4> {
  %0 = stablehlo.tan %a : tensor<2xf8E3M4>
  %1 = stablehlo.tan %0 : tensor<2xf8E3M4>
  return %1 : tensor<2xf8E3M4>
}
"""


def is_written(text: str, version: str) -> bool:
    """Whether the library itself writes the module for `version`."""
    with diagnostics(CONTEXT):
        try:
            module = ir.Module.parse(text, CONTEXT)
            return bool(_stablehlo.serialize_portable_artifact(module, version))
        except (ValueError, ir.MLIRError):
            return False


def before(version: str) -> str | None:
    versions = writable_versions()
    index = versions.index(version)
    return versions[index - 1] if index else None


def test_table_has_every_op() -> None:
    library = next(Path(ir.__file__).parent.glob("_mlir_libs/libTorchMLIRAggregateCAPI*"))
    names = {name.decode() for name in re.findall(rb"stablehlo\.[a-z0-9_-]+", library.read_bytes())}
    registered = {name for name in names if CONTEXT.is_registered_operation(name)}
    assert len(registered) > 100
    table = {name for name in OPS if name.startswith("stablehlo.")}
    # A newer library may know more; then its answers are asked for as well.
    assert table == registered if current_version() == TABLE_VERSION else table < registered


# Without attributes these two crash the library; `CASES` has them.
@pytest.mark.parametrize("op", sorted(OPS.keys() - {"stablehlo.custom_call", "stablehlo.tan"}))
def test_op_version_is_that_of_vhlo(op: str) -> None:
    dialect, _, name = op.partition(".")
    if dialect == "builtin":
        return
    assert is_legal(f"vhlo.{name}_v1", OPS[op])
    previous = before(OPS[op])
    assert previous is None or not is_legal(f"vhlo.{name}_v1", previous)


def is_legal(vhlo_op: str, version: str) -> bool:
    """Whether the library takes an op, of which only the name is looked at, for `version`."""
    with CONTEXT, ir.Location.unknown(), diagnostics(CONTEXT):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            ir.Operation.create(vhlo_op)
        manager = passmanager.PassManager.parse(
            f"builtin.module(vhlo-to-version{{target={version}}})"
        )
        manager.enable_verifier(False)
        try:
            manager.run(module.operation)
        except ir.MLIRError:
            return False
        return True


@pytest.mark.parametrize(("text", "version"), [each[1:] for each in CASES],
                         ids=[each[0] for each in CASES])  # fmt: skip
def test_feature_version_is_that_of_the_library(text: str, version: str) -> None:
    assert is_written(text, version)
    previous = before(version)
    assert previous is None or not is_written(text, previous)
    assert mlir_fp8.minimum_version(ir.Module.parse(text, CONTEXT)) == version


@pytest.mark.parametrize(("text", "version"), [each[1:] for each in STRICTER_CASES],
                         ids=[each[0] for each in STRICTER_CASES])  # fmt: skip
def test_what_the_library_overlooks(text: str, version: str) -> None:
    module = ir.Module.parse(text, CONTEXT)
    assert mlir_fp8.minimum_version(module) == version
    previous = before(version)
    assert previous and is_written(text, previous)
    with pytest.raises(mlir_fp8.NewerFeaturesError):
        mlir_fp8.serialize(module, previous)


@pytest.mark.parametrize("type_", SMALL_FLOATS)
def test_small_float_version_is_that_of_the_library(type_: str) -> None:
    text = f"func.func private @f(tensor<2x{type_}>)\n"
    version = SMALL_FLOATS[type_].stablehlo_version
    previous = before(version)
    assert is_written(text, version)
    assert previous is None or not is_written(text, previous)
    assert mlir_fp8.minimum_version(mlir_fp8.load(text)) == version


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("text", "version"), [each[1:] for each in (*CASES, *STRICTER_CASES)],
                         ids=[each[0] for each in (*CASES, *STRICTER_CASES)])  # fmt: skip
def test_what_is_written_reads_back(text: str, version: str) -> None:
    module = mlir_fp8.load(text)
    artifact = mlir_fp8.serialize(module, "auto")
    assert artifact_version(artifact) == version
    assert str(mlir_fp8.deserialize(artifact)) == str(module)


def test_auto_writes_for_the_oldest_version() -> None:
    module = mlir_fp8.load(TOO_NEW)
    text = str(module)
    artifact = mlir_fp8.serialize(module, target="auto")
    assert artifact_version(artifact) == mlir_fp8.minimum_version(module) == "1.8.0"
    assert str(module) == str(mlir_fp8.deserialize(artifact)) == text
    assert artifact_version(mlir_fp8.serialize(module, "AUTO")) == "1.8.0"


def test_auto_is_as_is_and_older_targets_take_older_forms() -> None:
    module = mlir_fp8.load(MODELS / "transformer_train_step.mlirbc")
    assert mlir_fp8.minimum_version(module) == "1.1.0"
    assert artifact_version(mlir_fp8.serialize(module, "auto")) == "1.1.0"
    assert artifact_version(mlir_fp8.serialize(module, "0.9.0")) == "0.9.0"


def test_an_op_that_the_table_lacks_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(OPS, "stablehlo.tan")
    module = mlir_fp8.load("func.func @f(%a: tensor<f32>) {\n%0 = stablehlo.tan %a : tensor<f32>\n"
                           "return }\n")  # fmt: skip
    assert mlir_fp8.minimum_version(module) == "1.4.0"
    collective = next(text for name, text, _ in CASES if name == "collective_broadcast")
    monkeypatch.delitem(OPS, "stablehlo.collective_broadcast")
    with pytest.raises(mlir_fp8.NewerFeaturesError) as caught:
        mlir_fp8.serialize(mlir_fp8.load(collective), "0.15.0")
    assert caught.value.minimum == "0.16.0"
    assert [each.name for each in caught.value.features] == ["stablehlo.collective_broadcast"]


@pytest.mark.parametrize("name", ["WEEK_4", "WEEK_12", "MAX", "current", "minimum"])
def test_names_of_targets(name: str) -> None:
    module = mlir_fp8.load("func.func @f(%a: tensor<f32>) {\nreturn }\n")
    if "_" in name or name == "MAX":
        requirement = getattr(_stablehlo.StablehloCompatibilityRequirement, name)
        version = _stablehlo.get_version_from_compatibility_requirement(requirement)
    else:
        version = current_version() if name == "current" else oldest_version()
    for spelling in (name, name.lower(), name.upper()):
        assert artifact_version(mlir_fp8.serialize(module, spelling)) == version


def test_a_module_too_new_lists_every_feature() -> None:
    module = mlir_fp8.load(TOO_NEW)
    with pytest.raises(mlir_fp8.NewerFeaturesError) as caught:
        mlir_fp8.serialize(module, "1.0.0", name="model.mlir")
    error = caught.value
    assert (error.target, error.minimum) == ("1.0.0", "1.8.0")
    found = [(each.kind, each.name, each.version, each.count) for each in error.features]
    assert found == [
        ("type", "f4E2M1FN", "1.8.0", 1),
        ("type", "f8E3M4", "1.7.0", 4),
        ("op", "stablehlo.tan", "1.4.0", 2),
    ]
    assert error.features[2].location == "model.mlir:2:8"
    assert str(error).splitlines()[0] == (
        "model.mlir: StableHLO 1.0.0 cannot hold it: use target 1.8.0 or later"
    )
    # Only what the target lacks.
    with pytest.raises(mlir_fp8.NewerFeaturesError) as caught:
        mlir_fp8.serialize(module, "1.7.0")
    assert [each.name for each in caught.value.features] == ["f4E2M1FN"]
    assert artifact_version(mlir_fp8.serialize(module, "1.8.0")) == "1.8.0"


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tensor<2xcomplex<f80>>", "has the type complex<f80>, which no StableHLO version holds"),
        ("tensor<2xcomplex<i3>>", "has the type complex<i3>, which no StableHLO version holds"),
        ("tensor<2xi3>", "has the type i3, which no StableHLO version holds"),
        ("tensor<2x!quant.uniform<f8E5M2:f32, 0.5>>", "a storage type that is no integer"),
        ("memref<2xf32, 1>", "has the type memref<2xf32, 1>, of which the library drops all but"),
        ("memref<2xf32, strided<[2]>>", "use a plain memref"),
        ('tensor<2xf32, "sparse">', 'has the type tensor<2xf32, "sparse">'),
    ],
)
@pytest.mark.parametrize("target", ["current", "auto", "0.9.0"])
def test_what_no_version_holds(text: str, reason: str, target: str) -> None:
    module = mlir_fp8.load(f"func.func private @f({text})\n")
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        mlir_fp8.serialize(module, target, name="a.mlir")
    message = str(caught.value)
    assert message.startswith("a.mlir:1:1: 'func.func' has ") and reason in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "attribute",
    ["affine_map<(d0) -> (d0)>", "unit", "1 : i7", "1 : i2", "[{a = 1 : ui2}]", "@f::@g"],
)
@pytest.mark.parametrize("target", ["current", "auto"])
def test_attributes_that_no_version_holds(attribute: str, target: str) -> None:
    module = mlir_fp8.load(f"func.func private @f() attributes {{m = {attribute}}}\n")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^a\.mlir:1:1: 'func\.func' has the .*, which"):
        mlir_fp8.serialize(module, target, name="a.mlir")


def test_deep_types_and_attributes() -> None:
    nested = "tuple<" * 2000 + "f8E3M4" + ">" * 2000
    assert mlir_fp8.minimum_version(mlir_fp8.load(f"func.func private @f({nested})\n")) == "1.7.0"
    nested = "[" * 900 + "f8E3M4" + "]" * 900
    text = f"func.func private @f() attributes {{m = {nested}}}\n"
    assert mlir_fp8.minimum_version(mlir_fp8.load(text)) == "1.7.0"


def test_resources_are_written_as_dense_constants() -> None:
    text = """
func.func @f() -> (tensor<2xf8E4M3FN>, tensor<4xi1>, tensor<2xi32>) {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf8E4M3FN>
  %1 = stablehlo.constant dense_resource<b> : tensor<4xi1>
  %2 = stablehlo.constant {x = dense_resource<v> : tensor<2xi32>} dense<7> : tensor<2xi32>
  return %0, %1, %2 : tensor<2xf8E4M3FN>, tensor<4xi1>, tensor<2xi32>
}
{-# dialect_resources: { builtin: {
  w: "0x010000003840", b: "0x0100000001000101", v: "0x040000000100000002000000" } } #-}
"""
    module = mlir_fp8.load(text)
    before_ = str(module)
    written = str(mlir_fp8.deserialize(mlir_fp8.serialize(module, "auto")))
    assert str(module) == before_
    assert "dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf8E4M3FN>" in written
    assert "dense<[true, false, true, true]> : tensor<4xi1>" in written
    assert "x = dense<[1, 2]> : tensor<2xi32>" in written
    for damaged, reason in (
        (text.replace("0x010000003840", "0x0100000038"), "1 bytes of data, its type needs 2"),
        (text.replace('w: "0x010000003840",', ""), "has no data"),
    ):
        with pytest.raises(mlir_fp8.Fp8Error, match=reason):
            mlir_fp8.serialize(mlir_fp8.load(damaged))


def test_an_artifact_from_the_future() -> None:
    artifact = mlir_fp8.serialize(mlir_fp8.load(TOO_NEW), "1.8.0")
    later = artifact.replace(b"_v1.8.0", b"_v9.9.0")
    # What it holds is known here, whatever its version says.
    assert str(mlir_fp8.deserialize(later)) == str(mlir_fp8.load(TOO_NEW))
    unknown = later.replace(b"tan_v", b"nat_v")
    with pytest.raises(mlir_fp8.FutureArtifactError) as caught:
        mlir_fp8.deserialize(unknown, name="a.mlirbc")
    assert (caught.value.version, caught.value.current) == ("9.9.0", current_version())
    assert str(caught.value).startswith(
        f"a.mlirbc: written for StableHLO 9.9.0, and {current_version()} is what is known here: "
        f"ask its producer for --target={current_version()} (unregistered operation 'vhlo.nat_v1'"
    )
