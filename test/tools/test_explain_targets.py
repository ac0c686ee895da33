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
