"""Manual computations on simulated devices: Shardy's in XLA's round trip, and GSPMD's."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error

SUM = """({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  })"""


def shardy(
    in_: str,
    out: str,
    body: str,
    types: tuple[str, str, str, str],
    mesh: str = "[\\22x\\22=2, \\22y\\22=2]",
    axes: str = "x, y",
) -> str:
    """`types`: the argument, its part, the result's part, the result; `in_`, `out`: their dims."""
    axes = ", ".join(f"\\22{each}\\22" for each in axes.split(", "))
    manual = f'xla.sdy.manual_axes = "#sdy<manual_axes{{{axes}}}>"'
    whole, part, given, result = (f"tensor<{each}>" for each in types)
    sharding = "#sdy.sharding_per_value<[<@mesh, [{}]>]>"
    in_, out = (sharding.format(each.replace('"', "\\22")) for each in (in_, out))
    return f"""module attributes {{mhlo.num_partitions = 4 : i32,
    mhlo.frontend_attributes = {{xla.sdy.meshes = "{{mesh = #sdy.mesh<{mesh}>}}"}}}} {{
  func.func @main(%a: {whole}) -> {result} {{
    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {{mhlo.frontend_attributes =
      {{xla.sdy.in_shardings = "{in_}", {manual}}}}} : ({whole}) -> {part}
    %1 = call @body(%0) : ({part}) -> {given}
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {{mhlo.frontend_attributes =
      {{{manual}, xla.sdy.out_shardings = "{out}"}}}} : ({given}) -> {result}
    return %2 : {result}
  }}
  func.func private @body(%p: {part}) -> {given} {{
    {body}
    return %r : {given}
  }}
}}"""


ID = """%i = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %r = stablehlo.add %p, %b : tensor<2x2xf32>"""
A = 10 * np.arange(16, dtype=np.float32).reshape(4, 4)


def added(ids: list[list[int]]) -> np.ndarray:
    return A + np.kron(np.array(ids), np.ones((2, 2))).astype(np.float32)


@pytest.mark.parametrize(
    ("dims", "mesh", "ids"),
    [
        ('{"x"}, {"y"}', "[\\22x\\22=2, \\22y\\22=2]", [[0, 1], [2, 3]]),
        ('{"y"}, {"x"}', "[\\22x\\22=2, \\22y\\22=2]", [[0, 2], [1, 3]]),
        ('{"x"}, {"y"}', "[\\22x\\22=2, \\22y\\22=2], device_ids=[3, 2, 1, 0]", [[3, 2], [1, 0]]),
        ('{"x":(1)2}, {"x":(2)2}', "[\\22x\\22=4]", [[0, 1], [2, 3]]),
        ('{"x":(2)2}, {"x":(1)2}', "[\\22x\\22=4]", [[0, 2], [1, 3]]),
    ],
)
def test_parts_lie_where_the_sharding_says(dims: str, mesh: str, ids: list[list[int]]) -> None:
    types = ("4x4xf32", "2x2xf32", "2x2xf32", "4x4xf32")
    text = shardy(dims, dims, ID, types, mesh)
    (got,) = mlir_fp8.compile(text, simulate_devices=4)(A)
    np.testing.assert_array_equal(got, added(ids))


def test_an_axis_that_is_not_manual_stays_whole() -> None:
    types = ("4x4xf32", "2x4xf32", "2x4xf32", "4x4xf32")
    body = "%r = stablehlo.add %p, %p : tensor<2x4xf32>"
    text = shardy('{"x"}, {"y"}', '{"x"}, {"y"}', body, types, axes="x")
    np.testing.assert_array_equal(mlir_fp8.compile(text, simulate_devices=4)(A)[0], A + A)


def test_a_sum_over_an_axis_and_what_is_not_replicated() -> None:
    types = ("4x4xf32", "4x2xf32", "4x2xf32", "4x2xf32")
    body = f"""%r = "stablehlo.all_reduce"(%p) <{{replica_groups = dense<[[0, 1], [2, 3]]>
      : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      use_global_device_ids}}> {SUM} : (tensor<4x2xf32>) -> tensor<4x2xf32>"""
    text = shardy('{}, {"y"}', "{}, {}", body, types)
    (got,) = mlir_fp8.compile(text, simulate_devices=4)(A)
    np.testing.assert_array_equal(got, A[:, :2] + A[:, 2:])
    wrong = shardy('{}, {"y"}', "{}, {}", "%r = stablehlo.add %p, %p : tensor<4x2xf32>", types)
    with pytest.raises(Fp8Error, match="result 0 of 'main' is one tensor, and device 1"):
        mlir_fp8.compile(wrong, simulate_devices=4)(A)


def gspmd(sharding: str) -> str:
    return f"""module attributes {{mhlo.num_partitions = 4 : i32}} {{
  func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {{
    %0 = stablehlo.custom_call @Sharding(%a) {{mhlo.sharding = "{sharding}"}}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = stablehlo.custom_call @SPMDFullToShardShape(%0) {{mhlo.sharding = "{{manual}}"}}
      : (tensor<4x4xf32>) -> tensor<2x2xf32>
    {ID}
    %1 = stablehlo.custom_call @Sharding(%r) {{mhlo.sharding = "{{manual}}"}}
      : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.custom_call @SPMDShardToFullShape(%1) {{mhlo.sharding = "{sharding}"}}
      : (tensor<2x2xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }}
}}"""


@pytest.mark.parametrize(
    ("sharding", "ids"),
    [("{devices=[2,2]<=[4]}", [[0, 1], [2, 3]]),
     ("{devices=[2,2]<=[2,2]T(1,0)}", [[0, 2], [1, 3]]),
     ("{devices=[2,2]3,1,0,2}", [[3, 1], [0, 2]])],
)  # fmt: skip
def test_gspmd(sharding: str, ids: list[list[int]]) -> None:
    (got,) = mlir_fp8.compile(gspmd(sharding), simulate_devices=4)(A)
    np.testing.assert_array_equal(got, added(ids))


def test_what_is_refused() -> None:
    types = ("4x4xf32", "2x2xf32", "2x2xf32", "4x4xf32")
    dims = '{"x"}, {"y"}'
    fine = shardy(dims, dims, ID, types)
    with pytest.raises(Fp8Error, match="is among several processes: simulate them"):
        mlir_fp8.compile(fine)
    with pytest.raises(Fp8Error, match="is among 8 devices, not 4: simulate 8"):
        mlir_fp8.compile(fine.replace("x\\22=2, ", "x\\22=4, "), simulate_devices=4)
    uneven = shardy(dims, dims, "%r = stablehlo.add %p, %p : tensor<3x2xf32>",
                    ("4x4xf32", "3x2xf32", "3x2xf32", "4x4xf32"))  # fmt: skip
    with pytest.raises(Fp8Error, match="makes tensor<3x2xf32> of tensor<4x4xf32>, not equal parts"):
        mlir_fp8.compile(uneven, simulate_devices=4)
    with pytest.raises(Fp8Error, match="the module is for 1 replicas of 4 partitions"):
        mlir_fp8.compile(fine, simulate_devices=(4, 1))
    partial = gspmd("{devices=[2,1,2]<=[4] last_tile_dim_replicate}")
    with pytest.raises(Fp8Error, match="not equal parts"):
        mlir_fp8.compile(partial, simulate_devices=4)
    with pytest.raises(Fp8Error, match="cannot be simulated: export with Shardy"):
        mlir_fp8.compile(gspmd("{maximal device=1}"), simulate_devices=4)
