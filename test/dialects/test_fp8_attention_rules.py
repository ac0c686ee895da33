"""Every rule that an `fp8.attention` may break is refused in one line that says why."""

import pytest
from fp8_refusals import refusal_of

Q, K, V = "2x4x5x8xf8E4M3FN", "2x2x7x8xf8E4M3FN", "2x2x7x6xf8E4M3FN"
NAMES = ("q_scale", "k_scale", "v_scale", "bias", "mask", "offset")
SMALL = "p_type = f8E4M3FN"
WIDE = "qk_type = bf16, pv_type = bf16"


def refusal(
    q: str = Q,
    k: str = K,
    v: str = V,
    attributes: str = SMALL,
    out: str = "2x4x5x6xf32",
    **more: str,
) -> str:
    sizes = ", ".join(["1"] * 3 + [str(int(name in more)) for name in NAMES])
    types = [
        f"tensor<{each}>" for each in (q, k, v, *(more[name] for name in NAMES if name in more))
    ]
    text = f"operandSegmentSizes = array<i32: {sizes}>, {attributes}".removesuffix(", ")
    return refusal_of("attention", types, [f"tensor<{out}>"], text)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"q": "4x5x8xf8E4M3FN"}, "has q of type tensor<4x5x8xf8E4M3FN>: it is BxHxTxD"),
        ({"k": "2x2x7x4xf8E4M3FN"}, "it is BxHkxSxD, and D is 8"),
        ({"v": "2x2x6x6xf8E4M3FN"}, "it is BxHkxSxE, and S is 7"),
        ({"v": "2x4x7x6xf8E4M3FN"}, "it is BxHkxSxE, and Hk is 2"),
        ({"out": "2x4x5x5xf32"}, "has a result of type tensor<2x4x5x5xf32>: it is BxHxTxE, and E"),
        ({"q": "2x3x5x8xf8E4M3FN", "out": "2x3x5x6xf32"}, "has 3 heads of q for 2 of k and v"),
        ({"out": "2x4x5x6xf64"}, "has a result of f64: it is one of bf16, f16, f32"),
        ({"q": "?x4x5x8xf8E4M3FN"}, "whose shape is open: refine shapes first"),
        ({"q": "2x4x5x8xf64"}, "has q of f64: it is one of f8E5M2"),
        ({"q": "2x4x5x8xbf16"}, "has q of bf16, and qk_type is absent: give qk_type = bf16"),
        ({"k": "2x2x7x8xf32", "attributes": WIDE}, "has k of f32, and qk_type is bf16: give qk"),
        ({"v": "2x2x7x6xf16"}, "has v of f16, and pv_type is absent: give pv_type = f16"),
        ({"q": "2x4x5x8xf8E4M3FNUZ"}, "multiplies f8E4M3FNUZ by f8E4M3FN, which no hardware does"),
        ({"v": "2x2x7x6xf8E4M3FNUZ"}, "multiplies f8E4M3FN by f8E4M3FNUZ"),
        ({"attributes": ""}, "needs the attribute p_type or pv_type"),
        ({"attributes": "p_type = bf16"}, "has p_type = bf16, and pv_type is absent"),
        ({"attributes": "p_type = f32, pv_type = bf16"}, "has p_type = f32, and pv_type is bf16"),
        ({"attributes": "pv_type = f32, p_scale = 2.0 : f32"}, "has p_scale with probabilities"),
        ({"attributes": "pv_type = f32, p_saturate"}, "has p_saturate with probabilities of f32"),
        ({"attributes": f"{SMALL}, p_inverse"}, "has the flag p_inverse without p_scale: drop it"),
        ({"attributes": f"{SMALL}, scale = 2.0 : f64"}, "has scale = 2.0"),
        ({"attributes": f"{SMALL}, window = 0"}, "has window = 0 : i64: it is a number of keys"),
        ({"attributes": f"{SMALL}, window = 2147483648"}, "an i64 from 1 to 2^31 - 1"),
        ({"attributes": f"{SMALL}, window = 3 : i32"}, "has window = 3 : i32"),
        ({"attributes": f"{SMALL}, sliding"}, "has no attribute sliding, only causal"),
        ({"attributes": "qk_type = f64"}, "has qk_type = f64: it is one of the types bf16"),
        ({"q_scale": "3x1x1x1xf32"}, "size 3 of dimension 0 does not divide 2"),
        ({"q_scale": "4xf32"}, "has q_scale of type tensor<4xf32> for tensor<2x4x5x8xf8E4M3FN>"),
        ({"k_scale": "1x1x1x8xf32"}, "changes along the contracting dimension 3: give qk_type"),
        ({"v_scale": "1x2x7x1xf32"}, "changes along the contracting dimension 2: give pv_type"),
        ({"attributes": f"{SMALL}, scale_scores"}, "has the flag scale_scores without qk_type"),
        ({"attributes": f"{SMALL}, scale_out"}, "has the flag scale_out without pv_type"),
        ({"attributes": f"{SMALL}, scale_p"}, "has the flag scale_p without v_scale: drop it"),
        (
            {"attributes": f"{WIDE}, scale_p, scale_out", "v_scale": "f32"},
            "has the flags scale_p and scale_out: v_scale is applied once",
        ),
        (
            {"attributes": f"{SMALL}, scale_p", "v_scale": "1x1x1x6xf32"},
            "has v_scale of type tensor<1x1x1x6xf32> with scale_p",
        ),
        (
            {"attributes": f"{WIDE}, scale_scores", "k_scale": "1x1x1x8xf32"},
            "changes along the contracting dimension 3",
        ),
        ({"attributes": f"{SMALL}, lse"}, "has an lse result none: it is tensor<2x4x5xf32>"),
        ({"v_scale": "f64"}, "has v_scale of f64: it is one of f32"),
        (
            {"q": "2x4x5x8xbf16", "attributes": f"{WIDE}, {SMALL}", "q_scale": "f32"},
            "has q_scale for q of bf16: scale it before",
        ),
        ({"bias": "2x4x5x7xi1"}, "has bias of i1: it is one of bf16, f16, f32, f64"),
        ({"bias": "5x7xf32"}, "each of its 4 sizes is that of 2x4x5x7, or 1"),
        ({"mask": "2x4x5x7xf32"}, "has mask of f32: it is one of i1"),
        ({"mask": "1x2x5x7xi1"}, "each of its 4 sizes is that of 2x4x5x7, or 1"),
        ({"offset": "i32"}, "has an offset without causal or window: drop it"),
        ({"offset": "3xi32", "attributes": f"{SMALL}, causal"}, "of rank 0, or of 2 elements"),
        ({"offset": "ui32", "attributes": f"{SMALL}, causal"}, "has offset of ui32: it is one of"),
    ],
)  # fmt: skip
def test_refusals(given: dict[str, str], reason: str) -> None:
    assert reason in refusal(**given)


def test_counts() -> None:
    types = [f"tensor<{each}>" for each in (Q, K, V)]
    out = "tensor<2x4x5x6xf32>"
    assert "needs the attribute operandSegmentSizes" in refusal_of("attention", types, [out], SMALL)
    sizes = "operandSegmentSizes = array<i32: 1, 1, 1, {}, 0, 0, 0, 0, 0>, " + SMALL
    assert "has 3 operands, 4 by" in refusal_of("attention", types, [out], sizes.format(1))
    assert "has 3 results" in refusal_of("attention", types, [out] * 3, sizes.format(0))
    wrong = refusal_of("attention", types, [out, out], sizes.format(0))
    assert "has an lse result tensor<2x4x5x6xf32>: it is none" in wrong
    wrong = sizes.format(0).replace("1, 1, 1", "1, 1, 0")
    assert "else 0; q, k and v are" in refusal_of("attention", types, [out], wrong)
