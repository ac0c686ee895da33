"""`fp8.uniform_quantize` and `fp8.uniform_dequantize` against numpy, and what they refuse."""

import ml_dtypes
import numpy as np
import pytest
from fp8_programs import run, same_bits
from fp8_refusals import refusal_of
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects import fp8
from mlir_fp8.passes.pass_pipeline import run_pipeline

LAYOUTS = {
    "": np.full((4, 6), 0.3),
    ":1": np.broadcast_to([0.3, 2.0, 0.01, 1.0, 5.0, 0.7], (4, 6)),
    ":{0:2, 1:3}": np.array([[0.3, 2.0], [0.01, 1.0]]).repeat(2, 0).repeat(3, 1),
}
SCALES = {
    "": "0.3{0}",
    ":1": "{{0.3{0}, 2.0{0}, 0.01{0}, 1.0{0}, 5.0{0}, 0.7{0}}}",
    ":{0:2, 1:3}": "{{{{0.3{0}, 2.0{0}}}, {{0.01{0}, 1.0{0}}}}}",
}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, 1e30, -1e30, 0.15, -0.15]


def values(dtype: np.dtype) -> np.ndarray:
    x = np.random.default_rng(0).normal(0, 20, (4, 6))
    x.flat[: len(SPECIAL)] = SPECIAL
    return x.astype(dtype)


@pytest.mark.parametrize("layout", ["", ":1"])
@pytest.mark.parametrize("storage", ["f8E4M3FN", "f8E5M2", "f4E2M1FN"])
@pytest.mark.parametrize("expressed", ["f32", "bf16"])
def test_floats(storage: str, layout: str, expressed: str) -> None:
    wide, dtype = element_dtype(expressed), element_dtype(storage)
    text = f"!quant.uniform<{storage}:{expressed}{layout}, {SCALES[layout].format('')}>"
    x, scale = values(wide), LAYOUTS[layout].astype(wide)
    with np.errstate(all="ignore"):
        largest = np.array(ml_dtypes.finfo(dtype).max).astype(wide)
        q = np.clip((x / scale).astype(wide), -largest, largest).astype(dtype)
    found, back = run(
        [f"4x6x{expressed}"],
        lambda x: [
            made := fp8.uniform_quantize(x, ir.Type.parse(text)),
            fp8.uniform_dequantize(made, ir.Type.parse(text)),
        ],
        x,
    )
    assert same_bits(found, q)
    assert same_bits(back, (q.astype(wide) * scale).astype(wide))


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize(("storage", "zero"), [("i8", 3), ("u8", 128), ("i4", 0), ("i8<-7:9>", 1)])
def test_integers(storage: str, zero: int, layout: str) -> None:
    text = f"!quant.uniform<{storage}:f32{layout}, {SCALES[layout].format(f':{zero}')}>"
    kind = storage.partition("<")[0].replace("u", "ui")
    info = ml_dtypes.iinfo(element_dtype(kind))
    ends = (-7, 9) if "<" in storage else (int(info.min), int(info.max))
    x, scale = values(np.dtype(np.float32)), LAYOUTS[layout].astype(np.float32)
    q = np.round(np.clip(x / scale + np.float32(zero), *ends)).astype(np.int64)
    found, back = run(
        ["4x6xf32"],
        lambda x: [
            made := fp8.uniform_quantize(x, ir.Type.parse(text)),
            fp8.uniform_dequantize(made, ir.Type.parse(text)),
        ],
        x,
    )
    assert found.dtype == element_dtype(kind)
    np.testing.assert_array_equal(found.astype(np.int64), q)
    np.testing.assert_array_equal(back, (q - zero).astype(np.float32) * scale)


def test_nan() -> None:
    x = np.full((1,), np.nan, np.float32)
    texts = [f"!quant.uniform<{each}:f32, 1.0>" for each in ("f8E5M2", "i8")]
    found = run(["1xf32"], lambda x: [fp8.uniform_quantize(x, ir.Type.parse(t)) for t in texts], x)
    assert np.isnan(found[0].astype(np.float32)).all() and found[1] == 0


F8 = "!quant.uniform<f8E4M3FN:f32, 0.5>"


@pytest.mark.parametrize(
    ("operand", "result", "attributes", "message"),
    [
        ("4xf32", "4xf8E4M3FN", "", "needs the attribute type"),
        ("4xf32", "4xf8E4M3FN", "type = f32", "is of f32: only quantization by known scales"),
        ("4xf32", "4xf8E4M3FN", f"type = {F8}, saturate", "has no attribute saturate, only type"),
        ("4xf32", "4xf8E5M2", f"type = {F8}", "is between f32 and f8E5M2, and "),
        ("4xbf16", "4xf8E4M3FN", f"type = {F8}", "is between bf16 and f8E4M3FN, and "),
        ("4xf32", "2x2xf8E4M3FN", f"type = {F8}", "changes the shape from"),
        ("?xf32", "?xf8E4M3FN", f"type = {F8}", "whose shape is open"),
        (
            "4xf32", "4xf8E4M3FN", "type = !quant.uniform<f8E4M3FN:f32, 0.5:1>",
            "floats are stored without a zero point",
        ),
        (
            "4xf32", "4xi8", "type = !quant.uniform<i8:f32:0, {0.5, 0.5}>",
            "with 2 scales along dimension 0",
        ),
        (
            "4xf32", "4xi8", "type = !quant.uniform<i8:f32:{0:3}, {0.5, 0.5}>",
            "whose blocks are not whole",
        ),
        (
            "4xf32", "4xi8", "type = !quant.uniform<i8:f32:{0:2}, {0.5}>",
            "with scales for [1] blocks where [2] are",
        ),
    ],
)  # fmt: skip
def test_refusals(operand: str, result: str, attributes: str, message: str) -> None:
    wide, stored = [f"tensor<{operand}>"], [f"tensor<{result}>"]
    assert message in refusal_of("uniform_quantize", wide, stored, attributes)
    back = refusal_of("uniform_dequantize", stored, wide, attributes)
    assert message.partition(" from")[0] in back


@pytest.mark.parametrize(
    "change",
    [
        ("storage_min = -127 : i64", "storage_min = 3.0 : f32"),
        ("scales = dense<", "scale = dense<"),
        ("tensor<2xf64>, storage_max", "tensor<2xf32>, storage_max"),
        ("version = 1", "version = 2"),
    ],
)
def test_other_composites_stay_and_run(change: tuple[str, str]) -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xi8> {
      %0 = "fp8.uniform_quantize"(%x)
        {type = !quant.uniform<i8<-127:127>:f32:{0:2}, {0.25, 0.5}>}
        : (tensor<4xf32>) -> tensor<4xi8>
      return %0 : tensor<4xi8>
    }"""
    module = mlir_fp8.load(text)
    run_pipeline(module, ["fp8-to-composite"])
    before = str(module)
    assert before.count(change[0]) == 1
    other = mlir_fp8.load(before.replace(*change))
    run_pipeline(other, ["composite-to-fp8"])
    assert "stablehlo.composite" in str(other)
    x = np.array([0.3, -99, 1.3, 2], np.float32)
    (got,) = mlir_fp8.compile(other)(x)
    np.testing.assert_array_equal(got, [1, -127, 3, 4])
