"""What each target refuses of a fused op: a hit of each rule, and what is just not refused."""

import pytest
from fused_ops import ROW_BY_COLUMN, fused

from mlir_fp8.errors import Fp8Error
from mlir_fp8.lowering.scaled_dot.device import Device, parse_device
from mlir_fp8.lowering.scaled_dot.fused_view import Form
from mlir_fp8.lowering.scaled_dot.targets import TARGETS, blocks, refusals

E4M3 = {"a": "64x128xf8E4M3FN", "b": "32x128xf8E4M3FN"}
SCALES = {"a_scale": "f32", "b_scale": "f32"}
SCALED = E4M3 | SCALES
F32, BF16, F16 = "64x32xf32", "64x32xbf16", "64x32xf16"
Q = "64x32xf8E4M3FN"
IN_F32 = "operand_type = f32"
IN_BF16 = "operand_type = bf16, dot_type = bf16"
IN_F16 = "operand_type = f16, dot_type = f16"
ROWS = E4M3 | {"a_scale": "64x1xf32", "b_scale": "32x1xf32"}
MX = E4M3 | {"a_scale": "64x4xf8E8M0FNU", "b_scale": "32x4xf8E8M0FNU"}
K256 = {"a": "256x256xf8E4M3FN", "b": "128x256xf8E4M3FN"}
BLOCKS = K256 | {"a_scale": "256x2xf32", "b_scale": "1x2xf32"}
HOPPER, ADA, AMPERE = Device(), Device((8, 9)), Device((8, 0))
BLACKWELL = Device((10, 0))
GFX942, GFX950 = Device(amd="gfx942"), Device(amd="gfx950")

# Operands, result, attributes; the device; and what xla-gpu, cublaslt and torch-scaled-mm refuse.
CASES = {
    "plain": (SCALED, F32, IN_F32, HOPPER, "", "", ""),
    "plain bf16": (E4M3 | {"a_scale": "bf16", "b_scale": "bf16"}, BF16, IN_BF16, HOPPER,
                   "", "", ""),
    "ada": (SCALED, F32, IN_F32, ADA, "", "", ""),
    "ampere": (SCALED, F32, IN_F32, AMPERE, *["compute-capability"] * 3),
    "one E5M2": (SCALED | {"a": "64x128xf8E5M2"}, F32, IN_F32, HOPPER, "", "", ""),
    "FNUZ on CUDA": (
        {"a": "64x128xf8E4M3FNUZ", "b": "32x128xf8E5M2FNUZ"}, F32, IN_F32, HOPPER,
        *["format format"] * 3,
    ),
    "FNUZ on gfx942": (
        {"a": "64x128xf8E4M3FNUZ", "b": "32x128xf8E5M2FNUZ"}, F32, IN_F32, GFX942, "", "vendor", "",
    ),
    "both E5M2 FNUZ": (
        {"a": "64x128xf8E5M2FNUZ", "b": "32x128xf8E5M2FNUZ"}, F32, IN_F32, GFX942,
        "both-e5m2", "vendor", "both-e5m2",
    ),
    "OCP on gfx942": (SCALED, F32, IN_F32, GFX942, "format format", "vendor",
                      "format format"),
    "OCP on gfx950": (SCALED, F32, IN_F32, GFX950, "", "vendor", ""),
    "unknown AMD": (SCALED, F32, IN_F32, Device(amd="gfx90a"), "compute-capability",
                    "vendor", "compute-capability"),
    "f8E3M4": ({"a": "64x128xf8E3M4", "b": "32x128xf8E3M4"}, F32, IN_F32, HOPPER,
               *["format format"] * 3),
    "convert in the scale's path": (SCALED, BF16, IN_BF16, HOPPER,
                                    "scale-convert scale-convert", "", ""),
    "scales after the sum": (SCALED, F32, "", HOPPER, "scale-after-sum", "", ""),
    "one scale after the sum": (E4M3 | {"b_scale": "f32"}, F32, "", HOPPER, "", "", ""),
    "bf16 scale after the sum": (E4M3 | {"b_scale": "bf16"}, F32, "", HOPPER, "scale-convert", "",
                                 ""),
    "padded scale after the sum": (
        E4M3 | {"a": "17x128xf8E4M3FN", "b_scale": "f32"}, "17x32xf32", "", HOPPER,
        "dims-multiple-of-16", "dims-multiple-of-16", "",
    ),
    "rows after the sum": (ROWS, F32, "", HOPPER, "scale-rank scale-rank", "", ""),
    "row-wise": (ROWS, BF16, "operand_type = f32, dot_type = f32, epilogue_type = bf16", HOPPER,
                 "scale-rank scale-rank", "", ""),
    "row-wise on Ada": (ROWS, F32, IN_F32, ADA, "scale-rank scale-rank", "scale-capability", ""),
    "row-wise on Blackwell": (ROWS, F32, IN_F32, BLACKWELL, "scale-rank scale-rank",
                              "scale-capability", ""),
    "row-wise on AMD": (ROWS, F32, IN_F32, GFX950, "scale-rank scale-rank",
                        "vendor", "fine-scale-output"),
    "row-wise to FP8": (ROWS, Q, f"{IN_F32}, saturate", HOPPER, "scale-rank scale-rank",
                        "fine-scale-output", "fine-scale-output"),
    "rows with a tensor": (ROWS | {"b_scale": "f32"}, F32, IN_F32, HOPPER, "scale-rank",
                           "scale-pair", "scale-pair"),
    "one number with a rank": (SCALED | {"a_scale": "1x1xf32"}, F32, IN_F32, HOPPER, "scale-rank",
                               "", ""),
    "per contracted index": (SCALED | {"a_scale": "1x128xf32"}, F32, IN_F32, HOPPER, "scale-rank",
                             "scale-shape", "scale-shape"),
    "MX": (MX, F32, IN_F32, BLACKWELL, "scale-rank scale-rank", "", ""),
    "MX on Hopper": (MX, F32, IN_F32, HOPPER,
                     "scale-rank scale-rank",
                     "scale-capability", "scale-capability"),
    "MX on gfx950": (MX, F32, IN_F32, GFX950, "scale-rank scale-rank",
                     "vendor", ""),
    "E8M0 in other blocks": (E4M3 | {"a_scale": "64x2xf8E8M0FNU", "b_scale": "32x4xf8E8M0FNU"},
                             F32, IN_F32, BLACKWELL,
                             "scale-rank scale-rank", "scale-shape",
                             "scale-shape"),
    "1x128 and 128x128": (BLOCKS, "256x128xf32", IN_F32, HOPPER, "scale-rank scale-rank", "", ""),
    "1x128 on Blackwell": (BLOCKS, "256x128xf32", IN_F32, BLACKWELL, "scale-rank scale-rank",
                           "scale-capability", "scale-capability"),
    "128x128 twice": (K256 | {"a_scale": "2x2xf32", "b_scale": "1x2xf32"}, "256x128xf32", IN_F32,
                      HOPPER, "scale-rank scale-rank", "scale-pair", "scale-pair"),
    "N = 24": (SCALED | {"b": "24x128xf8E4M3FN"}, "64x24xf32", IN_F32, HOPPER, "",
               "dims-multiple-of-16", "dims-multiple-of-16"),
    "M = 17": (SCALED | {"a": "17x128xf8E4M3FN"}, "17x32xf32", IN_F32, HOPPER, "",
               "dims-multiple-of-16", ""),
    "K = 120": ({"a": "64x120xf8E4M3FN", "b": "32x120xf8E4M3FN"}, F32, IN_F32, HOPPER, "",
                "dims-multiple-of-16", "dims-multiple-of-16"),
    "M = 1": (SCALED | {"a": "1x128xf8E4M3FN"}, "1x32xf32", IN_F32, HOPPER, "vector",
              "dims-multiple-of-16", ""),
    "tiny": ({"a": "2x4xf8E4M3FN", "b": "2x4xf8E4M3FN"}, "2x2xf32", IN_F32, HOPPER, "too-small",
             "dims-multiple-of-16", "dims-multiple-of-16"),
    "padded quantization": (SCALED | {"a": "17x128xf8E4M3FN"}, "17x32xf8E4M3FN",
                            f"{IN_F32}, saturate", HOPPER, "dims-multiple-of-16",
                            "dims-multiple-of-16", ""),
    "f32 bias": (SCALED | {"bias": "32xf32"}, F32, IN_F32, HOPPER, *["bias-type"] * 3),
    "bf16 bias of f32": (SCALED | {"bias": "32xbf16"}, F32, IN_F32, HOPPER, "", "", "bias-type"),
    "f16 bias of f32": (SCALED | {"bias": "32xf16"}, F32, IN_F32, HOPPER, *["bias-type"] * 3),
    "bf16 bias": (E4M3 | {"bias": "32xbf16"}, BF16, IN_BF16, HOPPER, "", "", ""),
    "f16 bias": (E4M3 | {"bias": "32xf16"}, F16, IN_F16, HOPPER, "", "", ""),
    "f32 bias rounded to bf16": (E4M3 | {"bias": "32xf32"}, BF16, IN_BF16, HOPPER, "", "", ""),
    "f16 bias, bf16 result": (
        E4M3 | {"bias": "32xf16"}, BF16, f"{IN_F32}, epilogue_type = f32", HOPPER,
        *["bias-type"] * 3,
    ),
    "matrix": (SCALED | {"c": F32}, F32, IN_F32, HOPPER, "", "", "matrix-bias"),
    "matrix times beta": (SCALED | {"c": F32}, F32, f"{IN_F32}, beta = 0.5 : f32", HOPPER, "beta",
                          "", "matrix-bias"),
    "matrix and bias": (E4M3 | {"c": BF16, "bias": "32xbf16"}, BF16, IN_BF16, HOPPER,
                        "bias-and-matrix", "", "matrix-bias"),
    "f32 matrix, FP8 result": (SCALED | {"c": F32}, Q, f"{IN_F32}, saturate", HOPPER,
                               "matrix-bias-type", "matrix-bias-type", "matrix-bias"),
    "bf16 matrix, FP8 result": (E4M3 | {"c": BF16}, Q, f"{IN_BF16}, saturate", HOPPER, "", "",
                                "matrix-bias"),
    "relu": (SCALED, F32, f'{IN_F32}, activation = "relu"', HOPPER, "", "", "activation"),
    "tanh-GELU": (SCALED, F32, f'{IN_F32}, activation = "gelu_tanh"', HOPPER, "", "", "activation"),
    "tanh-GELU, CUDA 12.3": (SCALED, F32, f'{IN_F32}, activation = "gelu_tanh"',
                             Device(cuda=(12, 3)), "cuda-version", "cuda-version", "activation"),
    "erf-GELU": (SCALED, F32, f'{IN_F32}, activation = "gelu_erf"', HOPPER, *["activation"] * 3),
    "alpha": (SCALED, F32, f"{IN_F32}, alpha = 0.5 : f32", HOPPER, "", "", "alpha"),
    "FP8 result": (SCALED | {"d_scale": "f32"}, Q, f"{IN_F32}, saturate", HOPPER, "", "", ""),
    "FP8 result with amax": (SCALED | {"d_scale": "f32"}, Q, f"{IN_F32}, saturate, amax", HOPPER,
                             "", "", "amax"),
    "amax of f32": (SCALED, F32, f"{IN_F32}, amax", HOPPER, "amax", "amax", "amax"),
    "unclamped": (SCALED | {"d_scale": "f32"}, Q, IN_F32, HOPPER, *["unclamped-output"] * 3),
    "FP8 by the dot itself": (E4M3, Q, "", HOPPER, "", "unclamped-output", "unclamped-output"),
    "E5M2 of E4M3": (SCALED, "64x32xf8E5M2", f"{IN_F32}, saturate", HOPPER, *["result-type"] * 3),
    "E5M2 of E5M2": (SCALED | {"b": "32x128xf8E5M2"}, "64x32xf8E5M2", f"{IN_F32}, saturate", HOPPER,
                     "", "", ""),
    "scaled f32 result": (E4M3 | {"d_scale": "f32"}, F32, IN_F32, HOPPER, "", "output-scale",
                          "output-scale"),
    "scaled twice f32 result": (SCALED | {"d_scale": "f32"}, F32, IN_F32, HOPPER,
                                *["output-scale"] * 3),
    "converted output scale": (E4M3 | {"d_scale": "f32"}, Q, f"{IN_BF16}, saturate", HOPPER,
                               "scale-convert", "", ""),
    "epilogue in another type": (E4M3, F32, 'operand_type = bf16, dot_type = bf16, '
                                 'epilogue_type = f32, activation = "relu"', HOPPER,
                                 "epilogue-convert", "", "activation"),
    "quantized on ROCm": (SCALED, Q, f"{IN_F32}, saturate", GFX950, "rocm-output", "vendor", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_refusals(case: tuple) -> None:
    operands, result, attributes, device, *expected = case
    op = fused(operands, result, attributes)
    for target, kinds in zip(("xla-gpu", "cublaslt", "torch-scaled-mm"), expected, strict=True):
        found = [each.kind for each in refusals(op, target, device)]
        assert sorted(found) == sorted(kinds.split()), target
    assert refusals(op, "fp8", device) == []


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
