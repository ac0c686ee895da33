"""`fp8.attention_backward` by native code against numpy; its roads; what it refuses."""

from typing import Any

import numpy as np
import pytest
from fp8_programs import cast, program, spelled
from fp8_refusals import refusal_of
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.dialects import fp8

NAMES = ("q", "k", "v", "out", "out_gradient", "lse")
LAST = {"f32": 2e-5, "bf16": 2e-2, "f16": 3e-3}


def tensors(sizes: str, name: str, causal: bool, scale: float | None) -> dict[str, np.ndarray]:
    """Of B H Hk T S D E; out and lse are those of the attention."""
    b, h, shared, t, s, d, e = map(int, sizes.split())
    random = np.random.default_rng(0)
    shapes = {"q": (b, h, t, d), "k": (b, shared, s, d), "v": (b, shared, s, e)}
    shapes["out_gradient"] = (b, h, t, e)
    found = {each: cast(random.normal(size=size), name) for each, size in shapes.items()}
    p, lse, v = _probabilities(found, causal, scale)
    found["out"] = cast((p @ v).astype(np.float32), name)
    found["lse"] = lse.astype(np.float32)
    return {each: found[each] for each in NAMES}


def _probabilities(found: dict[str, np.ndarray], causal: bool, scale: float | None) -> Any:
    groups = found["q"].shape[1] // found["k"].shape[1]
    q = found["q"].astype(np.float64)
    k, v = (found[each].astype(np.float64).repeat(groups, 1) for each in "kv")
    x = q @ k.swapaxes(2, 3) * (1 if scale is None else scale)
    if causal:
        x = np.where(np.arange(x.shape[3]) <= np.arange(x.shape[2])[:, None], x, -np.inf)
    most = x.max(-1, keepdims=True)
    total = np.exp(x - most).sum(-1, keepdims=True)
    return np.exp(x - most) / total, (most + np.log(total))[..., 0], v


def gradients(given: dict[str, np.ndarray], causal: bool, scale: float | None) -> list[np.ndarray]:
    """The derivatives of the softmax, without any rounding."""
    p, _, v = _probabilities(given, causal, scale)
    q, k, do = (given[each].astype(np.float64) for each in ("q", "k", "out_gradient"))
    groups = q.shape[1] // k.shape[1]
    dp = do @ v.swapaxes(2, 3)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * (1 if scale is None else scale)

    def shared(x: np.ndarray) -> np.ndarray:
        return x.reshape(x.shape[0], -1, groups, *x.shape[2:]).sum(2)

    return [
        ds @ k.repeat(groups, 1),
        shared(ds.swapaxes(2, 3) @ q),
        shared(p.swapaxes(2, 3) @ do),
    ]


def module_of(
    given: dict[str, np.ndarray], name: str, causal: bool, scale: float | None
) -> ir.Module:
    types = [spelled(each, "f32" if key == "lse" else name) for key, each in given.items()]

    def body(*values: ir.Value) -> list[ir.Value]:
        return fp8.attention_backward(values, causal=causal, scale=scale)

    return program(types, body)


@pytest.mark.parametrize("name", ["f32", "bf16", "f16"])
@pytest.mark.parametrize(
    ("sizes", "causal", "scale"),
    [
        ("2 4 4 5 7 8 6", False, 0.35),
        ("2 6 2 5 7 8 6", False, None),
        ("1 4 2 9 6 8 8", True, 0.5),
        ("1 2 1 3 9 8 8", True, -0.5),
        ("1 1 1 1 1 1 1", True, None),
    ],
)
def test_gradients_are_those_of_the_softmax(
    sizes: str, causal: bool, scale: float | None, name: str
) -> None:
    given = tensors(sizes, name, causal, scale)
    found = mlir_fp8.compile(module_of(given, name, causal, scale))(*given.values())
    for got, want in zip(found, gradients(given, causal, scale), strict=True):
        size = np.abs(want).max() + 1e-3
        np.testing.assert_allclose(got.astype(np.float64) / size, want / size, atol=LAST[name])


def test_every_road_gives_the_same() -> None:
    given = tensors("2 4 2 5 7 8 6", "bf16", True, 0.5)
    module = module_of(given, "bf16", True, 0.5)
    wanted = mlir_fp8.compile(module)(*given.values())
    for target in ("1.0.0", "current"):
        read = mlir_fp8.deserialize(mlir_fp8.serialize(module, target))
        for found in (
            mlir_fp8.compile(read)(*given.values()),
            mlir_fp8.interpret(read, *given.values()),
        ):
            for one, other in zip(found, wanted, strict=True):
                assert one.tobytes() == other.tobytes()


Q, K, V, OUT, LSE = "2x4x5x8xbf16", "2x2x7x8xbf16", "2x2x7x6xbf16", "2x4x5x6xbf16", "2x4x5xf32"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"q": "4x5x8xbf16"}, "has q of type tensor<4x5x8xbf16>: it is BxHxTxD"),
        ({"k": "2x2x7x4xbf16"}, "it is BxHkxSxD, and D is 8"),
        ({"v": "2x2x6x6xbf16"}, "it is BxHkxSxE, and S is 7"),
        ({"out": "2x4x4x6xbf16"}, "has out of type tensor<2x4x4x6xbf16>: it is BxHxTxE, and T"),
        ({"lse": "2x4x5x1xf32"}, "has lse of type tensor<2x4x5x1xf32>: it is BxHxT"),
        ({"lse": "2x4x5xbf16"}, "has lse of bf16: it is one of f32"),
        ({"k": "2x2x7x8xf16"}, "has k of f16 with q of bf16: they are of one type"),
        ({"q": "2x4x5x8xf8E4M3FN"}, "has q of f8E4M3FN: it is one of"),
        ({"q": "?x4x5x8xbf16"}, "whose shape is open"),
        ({"dq": "2x4x5x8xf32"}, "has dq of type tensor<2x4x5x8xf32>: it is that of q"),
        ({"attributes": "scale = 2.0 : f64"}, "has scale = 2.0"),
        ({"attributes": "window = 3"}, "has no attribute window, only scale, causal"),
        ({"k": "2x3x7x8xbf16", "v": "2x3x7x6xbf16"}, "has 4 heads of q for 3 of k and v"),
    ],
)
def test_rules(given: dict[str, str], reason: str) -> None:
    types = {"q": Q, "k": K, "v": V, "out": OUT, "out_gradient": OUT, "lse": LSE} | {
        name: each for name, each in given.items() if name in NAMES
    }
    results = [given.get(f"d{name}", types[name]) for name in "qkv"]
    said = refusal_of(
        "attention_backward",
        [f"tensor<{each}>" for each in types.values()],
        [f"tensor<{each}>" for each in results],
        given.get("attributes", ""),
    )
    assert reason in said
