"""`fp8.attention` by native code against a numpy reference, over formats, masks, shapes and NaN."""

from typing import Any

import numpy as np
import pytest
from fp8_attention_reference import attention, scores, softmax
from fp8_programs import cast, element, program, spelled
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.dialects import fp8

F8 = ("f8E4M3FN", "f8E5M2", "f8E4M3", "f8E3M4", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ")
PARTNER = {"f8E5M2": "f8E4M3FN"}
OPERANDS = ("q_scale", "k_scale", "v_scale", "bias", "mask", "offset")
TYPES = ("qk_type", "score_type", "p_type", "pv_type")
NAMES = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64",
         np.dtype(bool): "i1"}  # fmt: skip


def data(shape: tuple[int, ...], name: str, seed: int) -> np.ndarray:
    """Normal numbers, rounded."""
    return cast(np.random.default_rng(seed).normal(size=shape).astype(np.float32), name)


def module_of(tensors: dict[str, np.ndarray], names: str, result: str, given: Any) -> ir.Module:
    """The op on arguments: q, k and v of the element types `names`, then its operands."""
    extra = {key: given[key] for key in OPERANDS if key in given}
    rest = {key: each for key, each in given.items() if key not in extra}
    types = [
        spelled(each, name) for each, name in zip(tensors.values(), names.split(), strict=True)
    ]
    types += [spelled(each, NAMES[each.dtype]) for each in map(np.asarray, extra.values())]

    def body(q: ir.Value, k: ir.Value, v: ir.Value, *more: ir.Value) -> list[ir.Value]:
        operands: Any = dict(zip(extra, more, strict=True))
        options: Any = {key: element(each) if key in TYPES else each for key, each in rest.items()}
        return fp8.attention(q, k, v, element(result), **operands, **options)

    return program(types, body)


def check(
    shapes: str, names: str, result: str = "f32", tolerance: float = 2e-6, **given: Any
) -> np.ndarray:
    """What native code gives, which is within `tolerance` of numpy's."""
    sizes = [tuple(map(int, each.split("x"))) for each in shapes.split()]
    kinds = names.split()
    tensors = {
        key: data(size, kind, seed)
        for seed, (key, size, kind) in enumerate(zip("qkv", sizes, kinds, strict=True))
    }
    return check_on(tensors, names, result, tolerance, **given)


def check_on(tensors: Any, names: str, result: str, tolerance: float, **given: Any) -> np.ndarray:
    module = module_of(tensors, names, result, given)
    extra = [np.asarray(given[key]) for key in OPERANDS if key in given]
    got, *more = mlir_fp8.compile(module)(*tensors.values(), *extra)
    with np.errstate(all="ignore"):
        want = attention(**tensors, result=result, **given)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance
    )
    for lse in more:
        x = scores(tensors["q"], tensors["k"], **given)
        with np.errstate(all="ignore"):
            _, wanted = softmax(x, given.get("zero_masked_rows", False))
        np.testing.assert_allclose(lse, wanted, rtol=2e-6, atol=2e-6)
    assert len(more) == given.get("lse", False)
    return got


ONE = np.float32(0.5)
SQUARE = "2x4x5x8 2x4x7x8 2x4x7x6"
GROUPED = "2x6x5x8 2x2x7x8 2x2x7x6"


@pytest.mark.parametrize("name", F8)
def test_formats(name: str) -> None:
    """Every f8 format as q, k and v with scales of the sums, and probabilities in it."""
    other = PARTNER.get(name, name)
    check(SQUARE, f"{other} {name} {name}", q_scale=ONE, k_scale=np.float32(0.75), v_scale=ONE,
          p_type=other, p_scale=1 / 224, p_factor=1 / 224, p_saturate=True, scale=0.35)  # fmt: skip


@pytest.mark.parametrize("step", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("result", ["f32", "bf16", "f16"])
def test_a_cache_of_f8_by_wide_queries(step: str, result: str) -> None:
    """Scales per token and per head; P in the wide type."""
    random = np.random.default_rng(3)
    tolerance = 1e-5 if step == result == "f32" else 1e-2
    check(GROUPED, f"{step} f8E5M2 f8E4M3FN", result, tolerance,
          k_scale=random.uniform(0.5, 2, (2, 2, 7, 1)).astype(np.float32),
          v_scale=random.uniform(0.5, 2, (1, 2, 1, 1)).astype(np.float32),
          qk_type=step, pv_type=step, score_type=step, scale=0.35)  # fmt: skip


def test_scales_of_sums_follow_their_dimensions() -> None:
    """Per row of q, per token of k, per column of v; blocks of tokens; heads shared by groups."""
    random = np.random.default_rng(3)
    uniform = random.uniform
    for keys in ((2, 2, 8, 1), (1, 2, 4, 1), (2, 1, 1, 1)):
        check("2x6x5x8 2x2x8x8 2x2x8x6", "f8E4M3FN " * 3,
              q_scale=uniform(0.5, 2, (1, 6, 5, 1)).astype(np.float32),
              k_scale=uniform(0.5, 2, keys).astype(np.float32),
              v_scale=uniform(0.5, 2, (2, 2, 1, 6)).astype(np.float32),
              p_type="f8E4M3FN", p_scale=448.0, p_inverse=True, p_factor=1 / 448)  # fmt: skip


@pytest.mark.parametrize("flags", [("scale_scores", "scale_p"), ("scale_scores", "scale_out")])
def test_scales_in_the_place_of_operands(flags: tuple[str, ...]) -> None:
    """Of k on scores, of v on probabilities, or on the result; a cache by wide queries."""
    random, by_token = np.random.default_rng(3), "scale_p" in flags
    shape = (2, 2, 7, 1) if by_token else (2, 2, 1, 1)
    p = {"p_type": "f8E4M3FN", "p_scale": 1 / 224, "p_saturate": True, "p_factor": 1 / 224}
    for given in ({}, p):
        check(GROUPED, "f32 f8E5M2 f8E4M3FN",
              k_scale=random.uniform(0.5, 2, shape).astype(np.float32),
              v_scale=random.uniform(0.5, 1, shape).astype(np.float32),
              qk_type="f32", pv_type="f32", **dict.fromkeys(flags, True), **given)  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"causal": True},
        {"causal": True, "window": 3},
        {"window": 2, "offset": np.int64(1)},
        {"causal": True, "offset": np.int32(2)},
        {"causal": True, "window": 1, "offset": np.array([2, 0], np.int32)},
        {"causal": True, "offset": np.int32(-2), "mask_value": -1e30},
        {"causal": True, "offset": np.int32(-2), "zero_masked_rows": True},
        {"causal": True, "offset": np.int32(-2)},
        {"mask": np.arange(7).reshape(1, 1, 1, 7) % 2 == 0},
        {"mask": np.arange(40).reshape(2, 4, 5, 1) % 3 > 0, "causal": True, "mask_value": -5.0},
        {"bias": np.linspace(-2, 2, 28, dtype=np.float32).reshape(1, 4, 1, 7), "window": 4},
    ],
    ids=lambda given: "-".join(given),
)
def test_what_is_hidden(given: dict[str, Any]) -> None:
    check(SQUARE, "f8E4M3FN f8E4M3FN f8E4M3FN", qk_type="f32", pv_type="f32", scale=0.5, **given)


def test_equal_scores_by_hand() -> None:
    """Scores of 0: the mean of what is seen, exactly; P = 1/2 and 1/3 of 448, rounded to e4m3."""
    zero = np.zeros((1, 1, 3, 2), np.float32)
    v = np.array([[3.0], [1.0], [8.0]], np.float32).reshape(1, 1, 3, 1)
    tensors = {
        name: cast(each, "f8E4M3FN") for name, each in zip("qkv", (zero, zero, v), strict=True)
    }
    got = check_on(tensors, "f8E4M3FN " * 3, "f32", 0, causal=True, p_type="f8E4M3FN",
                   p_scale=448.0, p_inverse=True)  # fmt: skip
    third = 144.0  # 149.33, between 144 and 160
    assert got.ravel().tolist() == [3 * 448, 4 * 224, 12 * third]


@pytest.mark.parametrize(
    "shapes",
    ["0x2x3x4 0x2x5x4 0x2x5x6", "2x0x3x4 2x0x5x4 2x0x5x6", "2x4x0x4 2x2x5x4 2x2x5x6",
     "2x4x3x0 2x2x5x0 2x2x5x6", "2x4x3x4 2x2x0x4 2x2x0x6", "2x4x3x4 2x2x5x4 2x2x5x0",
     "1x1x1x1 1x1x1x1 1x1x1x1", "3x7x13x17 3x7x11x17 3x7x11x19"],
)  # fmt: skip
def test_empty_and_odd_sizes(shapes: str) -> None:
    check(shapes, "f8E4M3FN f8E4M3FN f8E4M3FN", causal=True, q_scale=ONE, v_scale=ONE,
          p_type="f8E4M3FN", p_scale=1 / 448, p_factor=1 / 448)  # fmt: skip


@pytest.mark.parametrize("side", "qkv")
def test_nan_and_infinity(side: str) -> None:
    """A NaN in q is a row of NaN; one in k or v is in all that see it; -inf scores hide."""
    tensors = {key: data((1, 1, 4, 4), "f8E5M2" if key == "k" else "f8E4M3FN", 0) for key in "qkv"}
    tensors[side][0, 0, 2, 1] = np.nan
    kinds = "f8E4M3FN f8E5M2 f8E4M3FN"
    got = check_on(tensors, kinds, "f32", 2e-6, causal=True, qk_type="f32", pv_type="f32")
    rows = {"q": [2], "k": [2, 3], "v": [0, 1, 2, 3]}[side]  # 0 times NaN is NaN
    assert sorted(set(np.argwhere(np.isnan(got))[:, 2])) == rows
    tensors["k"][0, 0, 2, 1] = np.inf
    check_on(tensors, kinds, "f32", 2e-6, qk_type="f32", pv_type="f32")


@pytest.mark.parametrize("zero_masked_rows", [False, True])
def test_lse_of_all_rows(zero_masked_rows: bool) -> None:
    """NaN of a row without keys, or 0 where its result is."""
    check(GROUPED, "f8E4M3FN " * 3, q_scale=ONE, scale=3.0, p_type="f8E4M3FN", lse=True)
    got = check(SQUARE, "f8E4M3FN " * 3, p_type="f8E4M3FN", lse=True, causal=True,
                offset=np.int32(-2), zero_masked_rows=zero_masked_rows)  # fmt: skip
    assert np.isnan(got[:, :, :2]).all() != zero_masked_rows


def test_an_offset_may_be_a_number() -> None:
    """Which becomes a constant: keys 0..2 and 0..3 of the second of them are seen."""

    def body(q: ir.Value, k: ir.Value, v: ir.Value) -> list[ir.Value]:
        return fp8.attention(q, k, v, element("f32"), pv_type=element("f32"), causal=True, offset=2)

    zero = cast(np.zeros((1, 1, 2, 4)), "f8E4M3FN")
    k, v = (
        cast(np.zeros((1, 1, 5, 4)), "f8E4M3FN"),
        cast(np.arange(5).reshape(1, 1, 5, 1), "f8E4M3FN"),
    )
    types = [spelled(each, "f8E4M3FN") for each in (zero, k, v)]
    (got,) = mlir_fp8.compile(program(types, body))(zero, k, v)
    assert got.ravel().tolist() == [1.0, 1.5]


def test_every_road_gives_the_same() -> None:
    """Native code of the op, of its artifact and of the decomposition alone; the interpreter."""
    given: dict[str, Any] = {"causal": True, "window": 3, "offset": np.int32(2), "scale": 0.5,
        "q_scale": ONE, "k_scale": ONE, "p_type": "f8E4M3FN", "p_scale": 1 / 448,
        "p_factor": 1 / 448, "p_saturate": True}  # fmt: skip
    tensors = {
        key: data((1, 4, 5, 8) if key == "q" else (1, 2, 7, 8), "f8E4M3FN", 1) for key in "qkv"
    }
    module = module_of(tensors, "f8E4M3FN " * 3, "bf16", given)
    arrays = [*tensors.values(), ONE, ONE, np.int32(2)]
    (want,) = mlir_fp8.compile(module)(*arrays)
    for target in ("0.9.0", "1.0.0", "current"):
        read = mlir_fp8.deserialize(mlir_fp8.serialize(module, target))
        for run in (mlir_fp8.compile(read), lambda *xs, read=read: mlir_fp8.interpret(read, *xs)):
            assert run(*arrays)[0].tobytes() == want.tobytes()
