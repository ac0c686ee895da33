"""JAX's shardings stay with a module, in a form of StableHLO alone, and one device runs it."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.artifacts import mhlo
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.inspection.file import inspect_file

ANNOTATED = """module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<4x4xf8E4M3FN> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.name = "a"}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}
"""  # noqa: E501
PLAIN = """module @jit_f attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=4]>}"}, mhlo.num_partitions = 4 : i32} {
  func.func public @main(%arg0: tensor<4x4xf8E4M3FN> {jax.name = "a", mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22x\\22}, {}]>"}}) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0] {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}, {}]>]>"}} : (tensor<4x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}, {}]>]>"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%1) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
}
"""  # noqa: E501
PER_DEVICE = """sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
    sdy.return %arg1 : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize("with_mhlo", [False, True])
def test_shardings_in_text_stay(with_mhlo: bool) -> None:
    source, plain = ANNOTATED, str(mlir_fp8.load(PLAIN))
    if with_mhlo:
        doubled = "%9 = mhlo.add %arg0, %arg0 : tensor<4x4xf8E4M3FN>\n    %0 ="
        source = source.replace("%0 =", doubled, 1)
        added = str(mlir_fp8.load(PLAIN.replace("%0 =", doubled.replace("mhlo", "stablehlo"), 1)))
        assert str(mlir_fp8.load(source)) == added != plain
        return
    assert str(mlir_fp8.load(source)) == plain == str(mlir_fp8.load(mlir_fp8.serialize(plain_of())))


def plain_of() -> Any:
    return mlir_fp8.load(PLAIN)


def test_shardings_in_an_artifact_stay(tmp_path: Path) -> None:
    text = str(mhlo.parse_mhlo(ANNOTATED, "text"))
    bridge: Any = import_module("jaxlib._jax").mlir
    artifact = bridge.serialize_portable_artifact(text, "1.13.0", True)
    assert b"sdy" in artifact
    plain = str(mlir_fp8.load(PLAIN))
    assert str(mlir_fp8.load(artifact)) == str(mlir_fp8.deserialize(artifact)) == plain
    path = tmp_path / "sharded.mlirbc"
    path.write_bytes(artifact)
    assert inspect_file(path).ops["stablehlo.dot_general"] == 1


def test_an_annotated_module_runs() -> None:
    compiled = mlir_fp8.compile(ANNOTATED)
    ones = np.ones((4, 4), compiled.arguments[0].dtype)
    np.testing.assert_array_equal(compiled(ones)[0], np.full((4, 4), 4, np.float32))
    (interpreted,) = mlir_fp8.interpret(mlir_fp8.load(ANNOTATED), ones)
    np.testing.assert_array_equal(interpreted, np.full((4, 4), 4, np.float32))


def test_locations_stay_those_of_the_text() -> None:
    module = mlir_fp8.load(ANNOTATED)
    assert 'loc("<text>":4:10)' in str(module.operation.get_asm(enable_debug_info=True))


def test_a_computation_per_device_is_refused_for_one() -> None:
    module = mlir_fp8.load(PER_DEVICE)
    assert "call @xla.sdy.manual_computation_body(" in str(module)
    with pytest.raises(Fp8Error, match=r"<text>:3:8: .* is among several processes"):
        mlir_fp8.compile(module)


def test_a_computation_per_device_is_simulated() -> None:
    a = np.arange(8, dtype=np.float32)
    (got,) = mlir_fp8.compile(PER_DEVICE, simulate_devices=(1, 4))(a)
    np.testing.assert_array_equal(got, a)


def test_other_faults_are_told_as_ever() -> None:
    with pytest.raises(Fp8Error, match=r"<text>:2:8: .*stablehlo.nothing"):
        mlir_fp8.load("func.func @main() {  // sdy\n  %0 = stablehlo.nothing\n}")


def test_a_sharding_in_an_attribute_that_is_not_dropped_is_one_line() -> None:
    foreign = ANNOTATED.replace(
        "jax.name = ", 'jax.other = #sdy.sharding<@mesh, [{"x"}, {}]>, jax.name = '
    )
    text = str(mhlo.parse_mhlo(foreign, "text"))
    bridge: Any = import_module("jaxlib._jax").mlir
    for source in (foreign, bridge.serialize_portable_artifact(text, "1.13.0", True)):
        with pytest.raises(Fp8Error, match=r"^[^\n]*(sdy|shardings)[^\n]*$"):
            mlir_fp8.load(source)


ONE_DEVICE = """sdy.mesh @mesh = <["x"=1]>
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>]
      out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"}
      (%a: tensor<8xf32>, %b: tensor<8xf32>) {
    %1 = stablehlo.subtract %a, %b : tensor<8xf32>
    %2 = sdy.named_computation<"inner">(%1) (%c: tensor<8xf32>) {
      %4 = sdy.sharding_constraint %c <@mesh, [{}]> : tensor<8xf32>
      %5 = stablehlo.add %4, %4 : tensor<8xf32>
      sdy.return %5 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.all_reduce"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<0> : tensor<1x1xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %4 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %3, %b : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
"""  # noqa: E501


def test_a_computation_on_a_mesh_of_one_device_is_its_body() -> None:
    a, b = np.arange(8, dtype=np.float32), np.full(8, 3, np.float32)
    artifact = import_module("jaxlib._jax").mlir.serialize_portable_artifact(
        str(mhlo.parse_mhlo(ONE_DEVICE, "text")), "1.13.0", True
    )
    for source in (ONE_DEVICE, artifact):
        first, second = mlir_fp8.compile(source)(a, b)
        np.testing.assert_array_equal(first, 2 * (a - b))
        np.testing.assert_array_equal(second, b)


# As XLA writes the same without the dialect: see its tests of the Shardy round trip.
ROUND_TRIP = """module attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=1]>}"}} {
  func.func public @main(%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22x\\22}]>"}}) -> tensor<8xf32> {
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\\22x\\22}>"}} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.manual_axes = "#sdy<manual_axes{\\22x\\22}>", xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.custom_call @xla.sdy.ShardingGroup(%2) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "1"}} : (tensor<8xf32>) -> ()
    %3 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%2) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1"}} : (tensor<8xf32>) -> tensor<8xf32>
    %4 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%3) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}]>]>"}} : (tensor<8xf32>) -> tensor<8xf32>
    return %4 : tensor<8xf32>
  }
  func.func private @xla.sdy.manual_computation_body(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.add %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""  # noqa: E501


def test_annotations_as_custom_calls_change_nothing() -> None:
    a = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(mlir_fp8.compile(ROUND_TRIP)(a)[0], 2 * a)
    # HLO gives what has no results an empty tuple.
    tuple_ = ROUND_TRIP.replace("tensor<8xf32>) -> ()", "tensor<8xf32>) -> tuple<>")
    assert tuple_ != ROUND_TRIP
    np.testing.assert_array_equal(mlir_fp8.compile(tuple_)(a)[0], 2 * a)
    halves = """func.func @main(%a: tensor<8xf32>) -> tensor<4xf32> {
      %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) : (tensor<8xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(Fp8Error, match="is among several processes: simulate them"):
        mlir_fp8.compile(halves)


EVERY_OP = """sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"inner">(%a) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"y"}]>] (%b: tensor<8xf32>) {
    %9 = stablehlo.add %b, %b : tensor<8xf32>
    sdy.return %9 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.all_gather [{"y"}] %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8xf32>
  sdy.sharding_group %2 group_id=3 : tensor<8xf32>
  %3 = sdy.reshard %2 <@mesh, [{"x"}]> : tensor<8xf32>
  return %3 : tensor<8xf32>
}
"""


def test_every_op_of_shardings_has_a_form() -> None:
    text = str(mlir_fp8.load(EVERY_OP))
    calls = [line.partition("custom_call @")[2].partition("(")[0] for line in text.splitlines()]
    assert [each for each in calls if each] == [
        *("Sharding", "Sharding", "Sharding"),
        *("xla.sdy.PropagationBarrier", "xla.sdy.ShardingGroup", "Sharding"),
    ]
    assert text.index("[<@mesh, [{\\22x\\22}]>]") < text.index("stablehlo.add")
    a = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(mlir_fp8.compile(EVERY_OP)(a)[0], 2 * a)


def test_what_has_no_form_is_refused() -> None:
    whole = ANNOTATED.replace('per_value<[<@mesh, [{"x"}', "per_value<[<@mesh, [{}")
    reduces = whole.replace("sdy.sharding_constraint %0 <@mesh, [{\"x\"}, {}]>",
                            "sdy.all_reduce {\"x\"} %0 out_sharding=<@mesh, [{}, {}]>")  # fmt: skip
    with pytest.raises(Fp8Error, match=r"^<text>:5:10: 'sdy.all_reduce' has no form in StableHLO"):
        mlir_fp8.load(reduces)
