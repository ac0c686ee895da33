"""What each target refuses of a fused op: a hit of each rule, and what is just not refused."""

import pytest
from fused_ops import ROW_BY_COLUMN, fused
from target_cases import (
    ADA,
    AMPERE,
    BF16,
    BLACKWELL,
    CASES,
    E4M3,
    F16,
    F32,
    GFX950,
    HOPPER,
    IN_BF16,
    IN_F32,
    MX,
    NVFP4,
    ROWS,
    SCALED,
    SCALES,
    Q,
)

from mlir_fp8 import explain, load
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaled_dot.device import Device, parse_device
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import Form
from mlir_fp8.lowering.fp8.scaled_dot.targets import TARGETS, blocks, refusals


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_refusals(case: tuple) -> None:
    operands, result, attributes, device, *expected = case
    op = fused(operands, result, attributes)
    for target, kinds in zip(("xla-gpu", "cublaslt", "torch-scaled-mm"), expected, strict=True):
        found = [each.kind for each in refusals(op, target, device)]
        assert sorted(found) == sorted(kinds.split()), target
    assert refusals(op, "fp8", device) == []


def test_blackwell_by_name() -> None:
    """As cublaslt on 10.0, whatever older GPU is asked about."""
    for operands in (SCALED, ROWS, MX, NVFP4):
        op = fused(operands, F32, IN_F32)
        for device in (HOPPER, ADA, BLACKWELL):
            assert refusals(op, "cublaslt-blackwell", device) == refusals(op, "cublaslt", BLACKWELL)
    found = refusals(fused(MX, F32, IN_F32), "cublaslt-blackwell")
    assert [each.part for each in found] == ["lhs", "rhs"]
    assert not any(map(blocks, found)), "a copy of the scales mends it"
    assert "padded to 128x4" in found[0].edit
    (vendor,) = refusals(fused(MX, F32, IN_F32), "cublaslt-blackwell", GFX950)
    assert vendor.kind == "vendor"


def test_what_stays_outside_does_not_block() -> None:
    """Scales of rows before the sum keep the product out of FP8, behind it they do not."""
    for attributes, is_blocked in ((IN_F32, True), ("", False)):
        found = refusals(fused(ROWS, F32, attributes), "xla-gpu")
        assert [blocks(each) for each in found] == [is_blocked, is_blocked]


def test_layout_before_blackwell() -> None:
    op = fused(SCALED | {"b": "128x32xf8E4M3FN"}, F32, IN_F32, dims=ROW_BY_COLUMN)
    for target in ("cublaslt", "torch-scaled-mm"):
        (found,) = refusals(op, target, HOPPER)
        assert (found.kind, found.part) == ("layout", "rhs")
        assert not blocks(found), "a copy of B in another layout mends it"
        assert refusals(op, target, BLACKWELL) == []
    assert refusals(op, "xla-gpu", HOPPER) == []


def test_several_contracting_dimensions() -> None:
    dims = (
        "#stablehlo.dot<lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [1, 2]>"
    )
    operands = {"a": "64x4x32xf8E4M3FN", "b": "32x4x32xf8E4M3FN"}
    op = fused(operands, F32, IN_F32, dims=dims)
    for target in ("xla-gpu", "cublaslt", "torch-scaled-mm"):
        assert "contracting-dims" in [each.kind for each in refusals(op, target)]


def test_no_contracting_dimension() -> None:
    op = fused({"a": "64xf8E4M3FN", "b": "32xf8E4M3FN"}, F32, IN_F32, dims="#stablehlo.dot<>")
    assert "contracting-dims" in [each.kind for each in refusals(op, "cublaslt")]


@pytest.mark.parametrize(("batch", "is_refused"), [(65535, False), (65536, True)])
def test_batch(batch: int, is_refused: bool) -> None:
    dims = (
        "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>"
    )
    operands = {"a": f"{batch}x16x16xf8E4M3FN", "b": f"{batch}x16x16xf8E4M3FN"}
    op = fused(operands, f"{batch}x16x16xf32", IN_F32, dims=dims)
    for target in ("xla-gpu", "cublaslt"):
        assert [each.kind for each in refusals(op, target)] == ["batch-count"] * is_refused
    assert [each.kind for each in refusals(op, "torch-scaled-mm")] == ["rank-2", "rank-2"]


def test_several_free_dimensions() -> None:
    dims = "#stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>"
    op = fused({"a": "2x32x128xf8E4M3FN", "b": "32x128xf8E4M3FN"}, "2x32x32xf32", IN_F32, dims=dims)
    assert refusals(op, "xla-gpu") == refusals(op, "cublaslt") == []
    assert [each.part for each in refusals(op, "torch-scaled-mm")] == ["lhs"]


@pytest.mark.parametrize(("element", "is_refused"), [("f8E4M3FN", False), ("f32", True)])
def test_cast_behind_the_dot(element: str, is_refused: bool) -> None:
    op = fused(E4M3, Q, "")
    found = [each.kind for each in refusals(op, "xla-gpu", form=Form(element))]
    assert found == ["unclamped-output"] * is_refused


FORMS = {
    "one type": (SCALED, F32, IN_F32, Form("f32", ("f32", "f32")), ""),
    "FP8 operands": (E4M3, BF16, "dot_type = bf16", Form("bf16", ("f8E4M3FN", "f8E5M2")), ""),
    "FP8 and f32": (E4M3, F32, IN_F32, Form("f32", ("f8E4M3FN", "f32")), "dot-types"),
    "bf16 and f32": (E4M3, F32, IN_F32, Form("f32", ("bf16", "f32")), "dot-types"),
    "f32 to bf16": (E4M3, BF16, IN_F32, Form("bf16", ("f32", "f32")), "dot-types"),
    "bf16 to f32": (E4M3, F32, "operand_type = bf16", Form("f32", ("bf16", "bf16")), ""),
    "bf16 to f16": (E4M3, F16, IN_BF16, Form("f16", ("bf16", "bf16")), "dot-types"),
    "transposed": (SCALED, F32, IN_F32, Form(between={"lhs": ("stablehlo.transpose",)}), ""),
    "reversed": (
        SCALED, F32, IN_F32, Form(between={"rhs": ("stablehlo.transpose", "stablehlo.reverse")}),
        "movement-between",
    ),
    "converted": (SCALED, F32, IN_F32, Form(between={"lhs": ("stablehlo.convert",)}),
                  "movement-between"),
    "amax": (SCALED, Q, f"{IN_F32}, saturate, amax", Form(converts_amax=False), ""),
    "amax of a converted value": (SCALED, Q, f"{IN_F32}, saturate, amax",
                                  Form(converts_amax=True), "amax-convert"),
    "no amax": (SCALED, Q, f"{IN_F32}, saturate", Form(converts_amax=True), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", FORMS.values(), ids=list(FORMS))
def test_how_xla_wants_it_written(case: tuple) -> None:
    operands, result, attributes, form, kinds = case
    op = fused(operands, result, attributes)
    assert [each.kind for each in refusals(op, "xla-gpu", form=form)] == kinds.split()


CONVOLUTION = """window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>,
  lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>,
  window_reversal = array<i1: false, false>, feature_group_count = 1 : i64,
  batch_group_count = 1 : i64,
  dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"""


@pytest.mark.parametrize(
    ("attributes", "device", "kinds"),
    [
        ("", HOPPER, []),
        (', activation = "relu"', HOPPER, []),
        (', activation = "gelu_tanh"', HOPPER, ["activation"]),
        ("", AMPERE, ["compute-capability"]),
        ("", GFX950, ["rocm-convolution"]),
    ],
)
def test_convolution(attributes: str, device: Device, kinds: list[str]) -> None:
    operands = {"a": "1x8x8x16xf8E4M3FN", "b": "3x3x16x32xf8E4M3FN"} | SCALES
    options = f"{CONVOLUTION}, {IN_F32}{attributes}"
    op = fused(operands, "1x6x6x32xf32", options, name="scaled_convolution")
    assert [each.kind for each in refusals(op, "xla-gpu", device)] == kinds
    for target in ("cublaslt", "torch-scaled-mm"):
        (found,) = refusals(op, target, device)
        is_elsewhere = target == "cublaslt" and device.amd is not None
        assert found.kind == ("vendor" if is_elsewhere else "convolution")
        assert blocks(found)


def test_every_obstacle_says_what_and_how() -> None:
    for operands, result, attributes, device, *_ in CASES.values():
        op = fused(operands, result, attributes)
        for target in TARGETS:
            for each in refusals(op, target, device):
                assert each.part in {"lhs", "rhs", "dot", "bias", "activation", "amax", "output"}
                assert each.message and each.edit
                assert "\n" not in each.message + each.edit
                assert "fused.mlir" not in each.message


def test_unknown_target() -> None:
    with pytest.raises(Fp8Error, match="'tpu' is no target: it is one of fp8, xla-gpu, cublaslt"):
        refusals(fused(SCALED, F32, IN_F32), "tpu")


@pytest.mark.parametrize(
    ("capability", "device"),
    [
        ("8.9", Device((8, 9))),
        ("10.0", Device((10, 0))),
        ("12.1", Device((12, 1))),
        ("gfx942", Device(amd="gfx942")),
    ],
)
def test_devices(capability: str, device: Device) -> None:
    assert parse_device(capability) == device


@pytest.mark.parametrize("text", ["hopper", "9", "9.0a", "-1.0", "gfx", "", "9.0\n"])
def test_no_device(text: str) -> None:
    with pytest.raises(Fp8Error, match="is no compute capability: write it as"):
        parse_device(text)
    with pytest.raises(Fp8Error, match=r"is no CUDA version: write it as 12\.4"):
        parse_device(cuda=text)


MX_CALL = """func.func @main(%a: tensor<1x128x128xf8E4M3FN>, %b: tensor<1x64x128xf8E4M3FN>,
    %s: tensor<1x128x4xf8E8M0FNU>, %t: tensor<1x64x4xf8E8M0FNU>) -> tensor<1x128x64xbf16> {
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %s, %t) {backend_config =
    "{\\22scaled_dot_backend_config\\22: {\\22lhs_batch_dimensions\\22: [0],
    \\22rhs_batch_dimensions\\22: [0], \\22dequantize_type\\22: \\22BF16\\22}}"}
    : (tensor<1x128x128xf8E4M3FN>, tensor<1x64x128xf8E4M3FN>, tensor<1x128x4xf8E8M0FNU>,
       tensor<1x64x4xf8E8M0FNU>) -> tensor<1x128x64xbf16>
  return %0 : tensor<1x128x64xbf16>
}"""


def test_block_scaled_dots_of_xla_have_rows() -> None:
    text = MX_CALL.replace("\n    ", " ")
    kinds = ["xla-gpu", "cublaslt"]
    for capability, wanted in (("10.0", "fused"), ("9.0", "not fused")):
        (row,) = explain(load(text), kinds, compute_capability=capability).rows
        assert row.answers[0].verdict == wanted
    assert [each.kind for each in row.answers[0].obstacles] == ["scale-capability"]


def tiled(rows: int, blocks: int, *, order: str = "[0, 3, 2, 1, 4]") -> str:
    """A product whose left scales are read out of tiles."""
    up, across = -(-rows // 128), -(-blocks // 4)
    whole = f"tensor<{up * 128}x{across * 4}xf8E8M0FNU>"
    apart = f"tensor<{up}x{across}x32x4x4xf8E8M0FNU>"
    sizes = (up, across, 32, 4, 4)
    moved = "x".join(str(sizes[int(each)]) for each in order.strip("[]").split(","))
    k = blocks * 32
    return f"""
func.func @main(%a: tensor<{rows}x{k}xf8E4M3FN>, %b: tensor<64x{k}xf8E4M3FN>,
    %flat: tensor<{up * across * 512}xf8E8M0FNU>, %t: tensor<64x{blocks}xf8E8M0FNU>)
    -> tensor<{rows}x64xf32> {{
  %0 = stablehlo.reshape %flat : (tensor<{up * across * 512}xf8E8M0FNU>) -> {apart}
  %1 = stablehlo.transpose %0, dims = {order} : ({apart}) -> tensor<{moved}xf8E8M0FNU>
  %2 = stablehlo.reshape %1 : (tensor<{moved}xf8E8M0FNU>) -> {whole}
  %s = stablehlo.slice %2 [0:{rows}, 0:{blocks}] : ({whole}) -> tensor<{rows}x{blocks}xf8E8M0FNU>
  %3 = "fp8.scaled_dot"(%a, %b, %s, %t) {{{IN_F32}, dot_dimension_numbers = #stablehlo.dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}} : (tensor<{rows}x{k}xf8E4M3FN>,
    tensor<64x{k}xf8E4M3FN>, tensor<{rows}x{blocks}xf8E8M0FNU>, tensor<64x{blocks}xf8E8M0FNU>)
    -> tensor<{rows}x64xf32>
  return %3 : tensor<{rows}x64xf32>
}}"""


@pytest.mark.parametrize("shape", [(128, 4), (208, 10), (16, 1), (512, 12)], ids=str)
@pytest.mark.parametrize("target", ["cublaslt-blackwell", "torch-scaled-mm"])
def test_scales_that_come_in_tiles_are_not_copied(target: str, shape: tuple[int, int]) -> None:
    for order, parts in (("[0, 3, 2, 1, 4]", ["rhs"]), ("[0, 2, 3, 1, 4]", ["lhs", "rhs"])):
        (row,) = explain(load(tiled(*shape, order=order)), target, compute_capability="10.0").rows
        assert [each.part for each in row.answers[0].obstacles] == parts
        assert {each.kind for each in row.answers[0].obstacles} == {"scale-layout"}
