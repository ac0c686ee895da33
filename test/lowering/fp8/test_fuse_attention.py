"""What `fp8-fuse-attention` finds in JAX's and PyTorch's programs, and what it leaves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.attention.fuse import fuse_attention
from mlir_fp8.passes.pass_pipeline import run_pipeline

jax = pytest.importorskip("jax")
from attention_programs import BF16, F8, F32, FULL, PROGRAMS, Case, Q, of, rounded_sum  # noqa: E402

jnp = jax.numpy
MODELS = Path(__file__).parents[2] / "models"
EXAMPLES = Path(__file__).parents[3] / "examples"
SDPA = {
    "plain": ({}, "0, 0, 0, 0>"),
    "causal": ({"is_causal": True}, "{causal,"),
    "shared": ({"enable_gqa": True}, "tensor<2x2x9x8xf32>"),
    "mask": ({}, "0, 0, 0, 0, 1, 0>"),
    "bias": ({}, "0, 0, 0, 1, 0, 0>"),
}


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """To the bit; a NaN is a NaN."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    equal = (a == b) & (np.signbit(a) == np.signbit(b))
    return one.dtype == other.dtype and bool(np.all(equal | (np.isnan(a) & np.isnan(b))))


def fused(text: str) -> tuple[Any, list[str]]:
    module = mlir_fp8.load(text)
    fuse_attention(module.operation)
    assert module.operation.verify()
    return module, [str(op) for op in operations(module.operation, "fp8.attention")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    case: Case = PROGRAMS[name]
    text = case.text()
    module, ops = fused(text)
    assert len(ops) == 1
    assert not operations(module.operation, "stablehlo.dot_general", "stablehlo.exponential")
    for piece in case.expected:
        assert piece in ops[0], piece
    key = ops[0].rpartition(" : (")[2].split(", ")[1]
    assert key.split("x")[1] == str(case.heads)
    before, after = mlir_fp8.compile(text), mlir_fp8.compile(module)
    for seed in range(2):
        arrays = case.arrays(seed)
        for old, new in zip(before(*arrays), after(*arrays), strict=True):
            assert same(old, new)


def test_its_own_decomposition_is_found_again() -> None:
    """What the op is decomposed to fuses to the same op."""
    module, (op,) = fused(PROGRAMS["all-f8"].text())
    run_pipeline(module, ["fp8-legalize-to-stablehlo"])
    assert not operations(module.operation, "fp8.attention")
    fuse_attention(module.operation)
    (again,) = operations(module.operation, "fp8.attention")
    assert str(again).partition(" {")[2] == op.partition(" {")[2]


def test_the_transformer_of_the_models() -> None:
    """The attention of a whole model is fused, and its model's results are the same."""
    path = MODELS / "transformer_forward.mlir"
    module, ops = fused(path.read_text())
    assert len(ops) == 1 and "qk_type = f32, scale = 2.5" in ops[0]
    arrays = list(np.load(path.with_suffix(".in.npz"), allow_pickle=False).values())
    before = mlir_fp8.compile(str(path))
    arrays = [each.view(spec.dtype) for each, spec in zip(arrays, before.arguments, strict=True)]
    for old, new in zip(before(*arrays), mlir_fp8.compile(module)(*arrays), strict=True):
        assert same(old, new)


@pytest.mark.parametrize("count", [1, 5])
def test_the_language_model_of_the_examples(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each layer's attention, with its cache and the place of the first token."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    models = pytest.importorskip("language_models")
    sizes = models.Sizes("llama", 2, 32, 4, 2, 48, 64, 64, head=8)
    text = models.text_of(sizes, count, 16)
    _, ops = fused(text)
    assert len(ops) == 2
    for op in ops:
        assert "causal" in op and "0, 0, 0, 1>" in op and "tensor<1x2x16x8xf32>" in op


@pytest.mark.parametrize("scales", ["token", "head"])
@pytest.mark.parametrize("count", [1, 5])
def test_f8_caches_of_the_language_model(
    count: int, scales: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `fp8-quantize-cache` makes them: k and v of f8, scores and p scaled in their place."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    models = pytest.importorskip("language_models")
    sizes = models.Sizes("llama", 1, 32, 4, 2, 48, 64, 64, head=8)
    made = models.module_of(sizes, count, 16)
    run_pipeline(made, [f"fp8-quantize-cache{{cache=k.?;v.? scales={scales}}}"])
    text = str(made)
    module, (op,) = fused(text)
    flags = "scale_p, scale_scores" if scales == "token" else "scale_out, scale_scores"
    assert flags in op and "causal" in op and "tensor<1x2x16x8xf8E4M3FN>" in op
    numbers = "tensor<1x2x16x1xf32>" if scales == "token" else "tensor<1x2x1x1xf32>"
    assert op.count(numbers) == 2
    before, after = mlir_fp8.compile(text), mlir_fp8.compile(module)
    random = np.random.default_rng(count)
    arrays = [
        np.asarray(random.integers(0, 7, spec.shape), np.int32)
        if spec.element == "i32"
        else (random.normal(size=spec.shape) * 0.3).astype(spec.dtype)
        for spec in before.arguments
    ]
    for old, new in zip(before(*arrays), after(*arrays), strict=True):
        assert same(old, new)


def test_behind_scaled_dots() -> None:
    """Where these are fused first: their scales, and a mask that one took as its addend."""
    for name in ("dequantized", "all-f8", "cache"):
        case = PROGRAMS[name]
        module = mlir_fp8.load(case.text())
        run_pipeline(module, ["fp8-fuse-scaled-dot"])
        assert operations(module.operation, "fp8.scaled_dot") or name == "cache"
        fuse_attention(module.operation)
        assert len(operations(module.operation, "fp8.attention")) == 1
        arrays = case.arrays(0)
        for old, new in zip(
            mlir_fp8.compile(case.text())(*arrays), mlir_fp8.compile(module)(*arrays), strict=True
        ):
            assert same(old, new)


def _with(softmax: Any, q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    return jnp.einsum("bhqk,bkhd->bqhd", softmax(x), v)


def _unnormalized(q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    total = jnp.sum(e, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", e, v) / jnp.swapaxes(total, 1, 2)[..., None]


def _shared(q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    p = jax.nn.softmax(x, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v), p


def _plain(x: Any) -> Any:
    return jnp.exp(x) / jnp.sum(jnp.exp(x), axis=-1, keepdims=True)


NEAR = {
    "soft-cap": (lambda *a: _with(lambda x: jax.nn.softmax(jnp.tanh(x) * 4, -1), *a), "score-op"),
    "no-largest": (lambda *a: _with(_plain, *a), "softmax-form"),
    "divided-after": (_unnormalized, "softmax-form"),
    "wanted-outside": (_shared, "other-users"),
    "scaled-twice": (lambda *a: _with(lambda x: jax.nn.softmax(x * 0.5 * 0.3), *a), "score-scale"),
    "in-bf16": (lambda *a: _with(lambda x: jax.nn.softmax(x.astype(BF16)).astype(F32), *a),
                "softmax-type"),
    "over-queries": (lambda *a: _with(lambda x: jax.nn.softmax(x, -2), *a), "softmax-form"),
    "dropped": (lambda *a: _with(lambda x: jax.nn.softmax(x, -1) * 0.5, *a), "probability-op"),
    "third": (lambda *a: _with(lambda x: jax.nn.softmax(x / 3, -1), *a), "score-scale"),
    "p-scale": (lambda q, k, v: _with(lambda x: (jax.nn.softmax(x, -1) / x[0, 0, 0, 0]).astype(
        jnp.float8_e4m3fn).astype(F32), q, k, v), "other-users"),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_are_left_and_say_why(name: str) -> None:
    program, kind = NEAR[name]
    text = Case(program, of((Q, F32), (FULL, F32), (FULL, F32)), (), 6).text()
    module = mlir_fp8.load(text)
    findings = fuse_attention(module.operation)
    assert not operations(module.operation, "fp8.attention")
    kinds = [each.kind for finding in findings for each in finding.obstacles]
    assert set(kinds) == {kind}


def test_a_sum_that_is_rounded_before_it_is_scaled_is_left() -> None:
    text = Case(rounded_sum, of((Q, F8), (FULL, F8), (FULL, F32), ((), F32)), (), 6).text()
    module = mlir_fp8.load(text)
    (finding,) = fuse_attention(module.operation)
    assert [each.kind for each in finding.obstacles] == ["score-scale"]


@pytest.mark.parametrize("name", SDPA)
def test_sdpa_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch")
    exporter = pytest.importorskip("mlir_fp8.torch")
    options, piece = SDPA[name]

    class Sdpa(torch.nn.Module):
        def forward(self, *tensors: Any) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(*tensors, **options)

    torch.manual_seed(0)
    heads = 2 if name == "shared" else 6
    more = {"mask": [torch.rand(2, 1, 5, 9) > 0.5], "bias": [torch.randn(5, 9)]}.get(name, [])
    if more and name == "mask":
        more[0][1, 0, 2] = False  # a row that is hidden wholly is 0
    tensors = [
        torch.randn(2, 6, 5, 8),
        torch.randn(2, heads, 9, 8),
        torch.randn(2, heads, 9, 8),
        *more,
    ]
    text = str(exporter.export(Sdpa(), tuple(tensors)).mlir)
    module, (op,) = fused(text)
    assert piece in op and "zero_masked_rows" in op
    arrays = [each.numpy() for each in tensors]
    (old,), (new,) = mlir_fp8.compile(text)(*arrays), mlir_fp8.compile(module)(*arrays)
    assert same(old, new) and not np.isnan(new).any()


@pytest.mark.parametrize("number", [0.0, 1e-39, 3e38, float("inf"), float("nan")])
def test_scores_stay_in_bf16_where_f32_has_no_reciprocal(number: float) -> None:
    def attend(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.dtype.type(number)
        shares = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", shares, v)

    text = jax.jit(attend).lower(*[jax.ShapeDtypeStruct((2, 4, 3, 8), jnp.bfloat16)] * 3).as_text()
    module, _ = fused(text)
    fuse_attention(module.operation, allow_excess_precision=True)
    assert not operations(module.operation, "fp8.attention")


@pytest.mark.parametrize("divides", [False, True])
def test_scores_that_are_scaled_in_bf16(*, divides: bool) -> None:
    """They stay as they are, or are scaled in f32, which is nearer to what is exact."""

    def attend(q: Any, k: Any, v: Any) -> Any:
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        scores = scores / q.dtype.type(3) if divides else scores * q.dtype.type(0.3)
        shares = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", shares, v)

    arrays = [jax.random.normal(jax.random.key(seed), (2, 24, 3, 16)) for seed in range(3)]
    narrow = [each.astype(jnp.bfloat16) for each in arrays]
    text = jax.jit(attend).lower(*narrow).as_text()
    module, ops = fused(text)
    assert not ops
    fuse_attention(module.operation, allow_excess_precision=True)
    (op,) = operations(module.operation, "fp8.attention")
    assert "scale = " in str(op) and not operations(module.operation, "stablehlo.dot_general")
    exact = np.asarray(attend(*(each.astype(jnp.float32) for each in narrow)))
    given = [np.asarray(each) for each in narrow]
    far = [
        np.abs(np.asarray(mlir_fp8.compile(each)(*given)[0]).astype(np.float32) - exact).max()
        for each in (text, module)
    ]
    assert far[1] <= far[0] < 0.02
