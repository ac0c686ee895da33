"""Quantized types against the specification's formulas, in numpy: f32, each op rounded once."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.passes.pass_pipeline import run_pipeline


@dataclass(frozen=True)
class Quantized:
    """A quantized type over f32, of one scale or of one per index of dimension `axis`."""

    storage: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None

    @property
    def element(self) -> str:
        pairs = [f"{s}:{z}" for s, z in zip(self.scales, self.zero_points, strict=True)]
        storage = self.storage.replace("ui", "u")
        if self.axis is None:
            return f"!quant.uniform<{storage}:f32, {pairs[0]}>"
        return f"!quant.uniform<{storage}:f32:{self.axis}, {{{', '.join(pairs)}}}>"

    @property
    def bounds(self) -> tuple[int, int]:
        info = ml_dtypes.iinfo(element_dtype(self.storage))
        return int(info.min), int(info.max)

    def numbers(self, stored: np.ndarray) -> np.ndarray:
        scales, zeros = self._spread(stored.ndim, np.float32), self._spread(stored.ndim, np.int64)
        return (stored.astype(np.int64) - zeros).astype(np.float32) * scales

    def stored(self, numbers: np.ndarray) -> np.ndarray:
        scales, zeros = self._spread(numbers.ndim, np.float32), self._spread(numbers.ndim, np.int64)
        low, high = (np.float32(bound) for bound in self.bounds)
        moved = np.clip(numbers / scales + zeros.astype(np.float32), low, high)
        whole = np.clip(np.round(moved).astype(np.int64), *self.bounds)  # f32 has no 2**31 - 1
        return whole.astype(element_dtype(self.storage))

    def random(self, shape: tuple[int, ...], seed: int) -> np.ndarray:
        low, high = self.bounds
        drawn = np.random.default_rng(seed).integers(max(low, -999), min(high, 999) + 1, shape)
        return drawn.astype(element_dtype(self.storage))

    def _spread(self, rank: int, dtype: type) -> np.ndarray:
        values = np.array(self.scales if dtype is np.float32 else self.zero_points, dtype)
        if self.axis is None:
            return values.reshape([1] * rank)
        return values.reshape([-1 if i == self.axis else 1 for i in range(rank)])


TENSOR = [
    Quantized("i8", (0.1,), (3,)),
    Quantized("ui8", (0.25,), (128,)),
    Quantized("i4", (0.5,), (-2,)),
    Quantized("ui4", (1.5,), (0,)),
    Quantized("i2", (1.0,), (1,)),
    Quantized("i16", (0.001,), (-5,)),
    Quantized("i32", (0.0078125,), (0,)),
]
AXIS = [
    Quantized("i8", (0.1, 0.5, 2.0), (3, 0, -128), 1),
    Quantized("ui8", (0.3, 1.0, 0.01), (255, 0, 7), 1),
    Quantized("i4", (0.3, 1.0, 0.01), (0, 0, 0), 1),
]
SHAPE = (4, 3)


def _ids(kind: Quantized) -> str:
    return f"{kind.storage}-{'tensor' if kind.axis is None else 'axis'}"


def _run(inputs: list[str], result: str, body: str, *arrays: np.ndarray) -> np.ndarray:
    arguments = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(inputs))
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}"
    (got,) = mlir_fp8.compile(text)(*arrays)
    return got


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", [*TENSOR, *AXIS], ids=_ids)
def test_quantize_and_dequantize(kind: Quantized) -> None:
    floats, t = "tensor<4x3xf32>", f"tensor<4x3x{kind.element}>"
    x = np.random.default_rng(1).standard_normal(SHAPE, np.float32) * np.float32(9)
    x[0] = [1e30, -1e30, 0.25]
    got = _run([floats], t, f"  %r = stablehlo.uniform_quantize %a0 : ({floats}) -> {t}", x)
    np.testing.assert_array_equal(got.astype(np.int64), kind.stored(x).astype(np.int64))
    stored = kind.random(SHAPE, 2)
    body = f"  %r = stablehlo.uniform_dequantize %a0 : ({t}) -> {floats}"
    np.testing.assert_array_equal(_run([t], floats, body, stored), kind.numbers(stored))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", TENSOR, ids=_ids)
def test_elementwise(kind: Quantized) -> None:
    t = f"tensor<4x3x{kind.element}>"
    stored = [kind.random(SHAPE, seed) for seed in (3, 4)]
    a, b = (kind.numbers(each) for each in stored)
    for op, want in {"add": a + b, "multiply": a * b, "maximum": np.maximum(a, b)}.items():
        got = _run([t, t], t, f"  %r = stablehlo.{op} %a0, %a1 : {t}", *stored)
        np.testing.assert_array_equal(
            got.astype(np.int64), kind.stored(want).astype(np.int64), err_msg=op
        )
    compared = f"  %r = stablehlo.compare LT, %a0, %a1 : ({t}, {t}) -> tensor<4x3xi1>"
    np.testing.assert_array_equal(_run([t, t], "tensor<4x3xi1>", compared, *stored), a < b)


@pytest.mark.parametrize("other", [TENSOR[1], TENSOR[2], AXIS[0]], ids=_ids)
@pytest.mark.parametrize("kind", [TENSOR[0], AXIS[1]], ids=_ids)
def test_requantize(kind: Quantized, other: Quantized) -> None:
    before, after = (f"tensor<4x3x{each.element}>" for each in (kind, other))
    stored = kind.random(SHAPE, 5)
    body = f"  %r = stablehlo.uniform_quantize %a0 : ({before}) -> {after}"
    got = _run([before], after, body, stored)
    want = other.stored(kind.numbers(stored))
    np.testing.assert_array_equal(got.astype(np.int64), want.astype(np.int64))


SIGNED = [kind for kind in (*TENSOR, *AXIS) if kind.storage.startswith("i")]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", SIGNED, ids=_ids)
def test_the_interpreter_agrees(kind: Quantized) -> None:
    """All codes of 8 bits and fewer, and numbers at and around each tie, by upstream's passes."""
    low, high = (max(kind.bounds[0], -128), min(kind.bounds[1], 127))
    codes = np.arange(low, high + 1).repeat(3).reshape(-1, 3).astype(element_dtype(kind.storage))
    scale = np.broadcast_to(np.array(kind.scales, np.float32), (3,))
    ties = ((np.arange(low - 2, high + 3) + 0.5)[:, None] * scale).astype(np.float32)
    x = np.concatenate([ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)])
    floats, t = f"tensor<{len(x)}x3xf32>", f"tensor<{len(x)}x3x{kind.element}>"
    stored, numbers = f"tensor<{len(codes)}x3x{kind.element}>", f"tensor<{len(codes)}x3xf32>"
    module = mlir_fp8.load(f"""
      func.func @main(%x: {floats}, %q: {stored}) -> ({t}, {numbers}) {{
        %0 = stablehlo.uniform_quantize %x : ({floats}) -> {t}
        %1 = stablehlo.uniform_dequantize %q : ({stored}) -> {numbers}
        return %0, %1 : {t}, {numbers}
      }}""")
    found = mlir_fp8.compile(module)(x, codes)
    for got, want in zip(found, mlir_fp8.interpret(module, x, codes), strict=True):
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))


UNARY = [
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "power",
    "remainder",
    "atan2",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_ops_as_upstream_legalizes_them(op: str) -> None:
    t = "tensor<16x16x!quant.uniform<i8:f32, 0.05:3>>"
    operands = "%x" if op in UNARY else "%x, %y"
    module = mlir_fp8.load(f"""
      func.func @main(%x: {t}, %y: {t}) -> {t} {{
        %0 = stablehlo.{op} {operands} : {t}
        return %0 : {t}
      }}""")
    x = np.arange(-128, 128).astype(np.int8).reshape(16, 16)
    y = np.random.default_rng(13).permutation(x.reshape(-1)).reshape(16, 16)
    got, want = mlir_fp8.compile(module)(x, y)[0], mlir_fp8.interpret(module, x, y)[0]
    # At a tie of the result's integers, functions may be a rounding apart.
    assert (np.abs(got.astype(np.int64) - want) <= (op in UNARY or op in ("power", "atan2"))).all()
    assert (got == want).mean() > 0.99


def test_unsigned_storage_has_no_judge() -> None:
    t = "tensor<2x!quant.uniform<u8:f32, 0.5>>"
    module = mlir_fp8.load(f"func.func @main(%q: {t}) -> {t} {{ return %q : {t} }}")
    with pytest.raises(Fp8Error, match="StableHLO's pass takes unsigned storage for signed"):
        mlir_fp8.interpret(module, np.array([255, 1], np.uint8))


@pytest.mark.parametrize("right", [TENSOR[0], AXIS[0]], ids=_ids)
def test_products(right: Quantized) -> None:
    """Powers of two as scales: the sums are exact, in whatever order."""
    left = Quantized("i8", (0.5,), (3,))
    count = 1 if right.axis is None else 3
    right = Quantized(right.storage, (0.25, 1.0, 2.0)[:count], (0,) * count, right.axis)
    out = Quantized("i32", tuple(0.5 * s for s in right.scales), (0,) * count, right.axis)
    a, b = left.random((5, 4), 6), right.random(SHAPE, 7)
    types = [f"tensor<5x4x{left.element}>", f"tensor<4x3x{right.element}>"]
    result = f"tensor<5x3x{out.element}>"
    dot = "stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0]"
    got = _run(types, result, f"  %r = {dot} : ({types[0]}, {types[1]}) -> {result}", a, b)
    np.testing.assert_array_equal(got, out.stored(left.numbers(a) @ right.numbers(b)))
    floats = np.random.default_rng(8).integers(-9, 9, (5, 4)).astype(np.float32)
    types[0], result = "tensor<5x4xf32>", "tensor<5x3xf32>"
    hybrid = _run(types, result, f"  %r = {dot} : ({types[0]}, {types[1]}) -> {result}", floats, b)
    np.testing.assert_array_equal(hybrid, floats @ right.numbers(b))


def test_convolution() -> None:
    left, right = Quantized("i8", (0.5,), (3,)), Quantized("i8", (0.25, 2.0), (0, 0), 2)
    out = Quantized("i32", (0.125, 1.0), (0, 0), 2)
    a, b = left.random((1, 6, 1), 9), right.random((2, 1, 2), 10)
    types = [f"tensor<1x6x1x{left.element}>", f"tensor<2x1x2x{right.element}>"]
    result = f"tensor<1x5x2x{out.element}>"
    body = f"""  %r = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : ({types[0]}, {types[1]}) -> {result}"""
    x, w = left.numbers(a).reshape(6), right.numbers(b).reshape(2, 2)
    want = np.stack([np.correlate(x, w[:, i]) for i in (0, 1)], axis=1).reshape(1, 5, 2)
    np.testing.assert_array_equal(_run(types, result, body, a, b), out.stored(want))


def test_moved_across_calls_and_regions() -> None:
    kind = Quantized("ui8", (0.5,), (128,))
    q, t = f"tensor<{kind.element}>", f"tensor<4x3x{kind.element}>"
    compiled = mlir_fp8.compile(f"""
      func.func @main(%a: {t}) -> (tensor<3x4x{kind.element}>, tensor<3x{kind.element}>,
          tensor<4x3xui8>) {{
        %0 = call @turned(%a) : ({t}) -> tensor<3x4x{kind.element}>
        %least = "stablehlo.constant"() {{value = dense<0> : tensor<i8>}} : () -> {q}
        %1 = "stablehlo.reduce"(%a, %least) ({{
        ^bb0(%x: {q}, %y: {q}):
          %s = stablehlo.maximum %x, %y : {q}
          stablehlo.return %s : {q}
        }}) {{dimensions = array<i64: 0>}} : ({t}, {q}) -> tensor<3x{kind.element}>
        %2 = stablehlo.bitcast_convert %a : ({t}) -> tensor<4x3xui8>
        return %0, %1, %2 : tensor<3x4x{kind.element}>, tensor<3x{kind.element}>, tensor<4x3xui8>
      }}
      func.func private @turned(%a: {t}) -> tensor<3x4x{kind.element}> {{
        %0 = stablehlo.transpose %a, dims = [1, 0] : ({t}) -> tensor<3x4x{kind.element}>
        return %0 : tensor<3x4x{kind.element}>
      }}""")
    assert [spec.element for spec in compiled.arguments] == ["ui8"]
    stored = kind.random(SHAPE, 11)
    turned, largest, bits = compiled(stored)
    np.testing.assert_array_equal(turned, stored.T)
    np.testing.assert_array_equal(largest, stored.max(axis=0))
    np.testing.assert_array_equal(bits, stored)


def test_f8_is_expressed_too() -> None:
    compiled = mlir_fp8.compile("""
      func.func @main(%a: tensor<3x!quant.uniform<i4:f8E4M3FN, 0.5:1>>) -> tensor<3xf8E4M3FN> {
        %0 = stablehlo.uniform_dequantize %a
          : (tensor<3x!quant.uniform<i4:f8E4M3FN, 0.5:1>>) -> tensor<3xf8E4M3FN>
        return %0 : tensor<3xf8E4M3FN>
      }""")
    (got,) = compiled(np.array([-8, 1, 7], ml_dtypes.int4))
    assert got.astype(np.float32).tolist() == [-4.5, 0, 3]


@pytest.mark.parametrize("ends", [(-127, 127), (-7, 7), (0, 100)])
def test_narrower_storage(ends: tuple[int, int]) -> None:
    t = f"tensor<6x!quant.uniform<i8<{ends[0]}:{ends[1]}>:f32, 0.5:1>>"
    x = np.array([-1e9, -64, -0.26, 0.75, 3, np.inf], np.float32)
    body = f"  %r = stablehlo.uniform_quantize %a0 : (tensor<6xf32>) -> {t}"
    want = np.round(np.clip(x / np.float32(0.5) + 1, *ends)).astype(np.int8)
    np.testing.assert_array_equal(_run(["tensor<6xf32>"], t, body, x), want)


BLOCKS = """!quant.uniform<i8:f32:{0:2, 2:3}, {{{0.5:1, 0.1}}, {{2.0, 0.3:-7}}}>"""


def _of_blocks() -> tuple[np.ndarray, np.ndarray]:
    scales = np.array([[[0.5, 0.1]], [[2.0, 0.3]]], np.float32)
    zeros = np.array([[[1, 0]], [[0, -7]]])
    return tuple(each.repeat(2, 0).repeat(3, 2) for each in (scales, zeros))  # pyright: ignore


def test_blocks() -> None:
    """Sub-channel types, which StableHLO's ops refuse, in signatures, calls and `quant`'s casts."""
    floats, t = "tensor<4x5x6xf32>", f"tensor<4x5x6x{BLOCKS}>"
    compiled = mlir_fp8.compile(f"""
      func.func @main(%x: {floats}, %q: {t}) -> ({t}, {floats}, tensor<4x5x6xi8>) {{
        %0 = quant.qcast %x : {floats} to {t}
        %1 = call @same(%q) : ({t}) -> {t}
        %2 = quant.dcast %1 : {t} to {floats}
        %3 = quant.scast %1 : {t} to tensor<4x5x6xi8>
        return %0, %2, %3 : {t}, {floats}, tensor<4x5x6xi8>
      }}
      func.func private @same(%q: {t}) -> {t} {{
        return %q : {t}
      }}""")
    random = np.random.default_rng(12)
    x = random.normal(0, 30, (4, 5, 6)).astype(np.float32)
    stored = random.integers(-128, 128, (4, 5, 6)).astype(np.int8)
    scales, zeros = _of_blocks()
    codes, numbers, same = compiled(x, stored)
    moved = np.clip(x / scales + zeros.astype(np.float32), -128, 127)
    np.testing.assert_array_equal(codes, np.round(moved).astype(np.int8))
    np.testing.assert_array_equal(numbers, (stored - zeros).astype(np.float32) * scales)
    np.testing.assert_array_equal(same, stored)


@pytest.mark.parametrize("storage", ["f8E4M3FN", "f8E5M2", "f4E2M1FN"])
@pytest.mark.parametrize("kind", ["f32, 0.3", "f32:1, {0.3, 2.0}"])
def test_floats_are_stored_too(storage: str, kind: str) -> None:
    floats, t = "tensor<4x2xf32>", f"tensor<4x2x!quant.uniform<{storage}:{kind}>>"
    compiled = mlir_fp8.compile(f"""
      func.func @main(%x: {floats}, %q: {t}) -> ({t}, {floats}) {{
        %0 = quant.qcast %x : {floats} to {t}
        %1 = quant.dcast %q : {t} to {floats}
        return %0, %1 : {t}, {floats}
      }}""")
    dtype = element_dtype(storage)
    scale = np.array([0.3, 2.0 if "2.0" in kind else 0.3], np.float32)
    x = np.array([[1e9, -1e9], [0.1, -0.04], [np.inf, 0], [np.nan, -0.0]], np.float32)
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    stored = np.array([[1, -6], [0.5, 4], [-0.0, 2], [3, 1]]).astype(dtype)
    codes, numbers = compiled(x, stored)
    want = np.clip(x / scale, -largest, largest).astype(dtype)
    assert codes.dtype == dtype and codes.tobytes() == want.tobytes()
    np.testing.assert_array_equal(numbers, stored.astype(np.float32) * scale)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", [TENSOR[0], AXIS[2]], ids=_ids)
def test_open_sizes_are_those_of_arguments(kind: Quantized, count: int) -> None:
    t, floats = f"tensor<?x3x{kind.element}>", "tensor<?x3xf32>"
    others = "".join(f", %a{i}: {t}" for i in range(1, count))
    compiled = mlir_fp8.compile(
        f"""func.func @main(%a0: {t}{others}) -> ({t}, {floats}) {{
          %0 = stablehlo.uniform_dequantize %a0 : ({t}) -> {floats}
          return %a{count - 1}, %0 : {t}, {floats}
        }}""",
        shapes=[(4, 3)] * count,
    )
    arrays = [kind.random((4, 3), seed) for seed in range(count)]
    same, numbers = compiled(*arrays)
    np.testing.assert_array_equal(same, arrays[-1])
    np.testing.assert_array_equal(numbers, kind.numbers(arrays[0]))


def test_casts_of_quant_round() -> None:
    """MLIR would fold the pair to its operand."""
    q = "tensor<4x!quant.uniform<i8:f32, 0.5>>"
    compiled = mlir_fp8.compile(f"""
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
        %0 = quant.qcast %x : tensor<4xf32> to {q}
        %1 = quant.dcast %0 : {q} to tensor<4xf32>
        return %1 : tensor<4xf32>
      }}""")
    (got,) = compiled(np.array([0.3, 0.75, -1.2, 1e9], np.float32))
    assert got.tolist() == [0.5, 1.0, -1.0, 63.5]


def test_refused_arguments() -> None:
    with pytest.raises(Fp8Error, match=r"argument 0: element type !quant.* has no numpy dtype"):
        mlir_fp8.compile("func.func @main(%a: tensor<3x!quant.any<i8:f32>>) {\n  return\n}")


@pytest.mark.parametrize(
    ("type_", "reason"),
    [
        ("tensor<3x!quant.uniform<f8E4M3FN:f32, 0.5:1>>", "floats are stored without a zero point"),
        (
            "tensor<?x!quant.uniform<i8:f32:{0:2}, {0.5, 0.5}>>",
            "whose shape is open: refine shapes first",
        ),
    ],
)
def test_refused_casts(type_: str, reason: str) -> None:
    floats = f"tensor<{type_[7]}xf32>"
    with pytest.raises(Fp8Error, match=reason):
        run_pipeline(
            mlir_fp8.load(f"""
              func.func @main(%a: {type_}) -> {floats} {{
                %0 = quant.dcast %a : {type_} to {floats}
                return %0 : {floats}
              }}"""),
            ["quant-legalize-to-fp8"],
        )
