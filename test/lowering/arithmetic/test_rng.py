"""rng and rng_bit_generator: the bits that XLA gives, the range and the moments of the rest."""

import numpy as np
import pytest

import mlir_fp8

_MASK = (1 << 32) - 1


def _philox(counter: int, key: int) -> list[int]:
    """Philox4x32-10 in Python's own integers."""
    words = [counter >> 32 * index & _MASK for index in range(4)]
    keys = [key & _MASK, key >> 32]
    for _ in range(10):
        first, second = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [
            second >> 32 ^ words[1] ^ keys[0],
            second & _MASK,
            first >> 32 ^ words[3] ^ keys[1],
            first & _MASK,
        ]
        keys = [keys[0] + 0x9E3779B9 & _MASK, keys[1] + 0xBB67AE85 & _MASK]
    return words


def _bits(algorithm: str, words: int, element: str, shape: str) -> mlir_fp8.CompiledModule:
    types = f"tensor<{words}xui64>, tensor<{shape}x{element}>"
    return mlir_fp8.compile(f"""func.func @main(%s: tensor<{words}xui64>) -> ({types}) {{
      %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm}
        : (tensor<{words}xui64>) -> ({types})
      return %0, %1 : {types}
    }}""")


@pytest.mark.parametrize("element", ["ui8", "i16", "ui32", "ui64"])
def test_philox_with_a_counter_of_128_bits(element: str) -> None:
    compiled = _bits("PHILOX", 3, element, "3x5")
    for key, low, high in ((0x123456789ABCDEF0, 2**64 - 2, 7), (5, 2**64 - 1, 2**64 - 1)):
        counter = (high << 64) + low
        state, got = compiled(np.array([key, low, high], np.uint64))
        width = got.dtype.itemsize * 8
        count = 2 * got.size if width == 64 else got.size
        blocks = -(-count // 4)
        words = [
            word for block in range(blocks) for word in _philox((counter + block) % (1 << 128), key)
        ][:count]
        if width == 64:
            words = [low + (high << 32) for low, high in zip(words[::2], words[1::2], strict=True)]
        want = np.array([word & (1 << width) - 1 for word in words], np.uint64)
        np.testing.assert_array_equal(got.ravel().view(f"u{width // 8}"), want)
        after = (counter + blocks) % (1 << 128)
        assert [int(word) for word in state] == [key, after % (1 << 64), after >> 64]


# What XLA:CPU of jaxlib 0.10.2 gave, under the state (1, 2).
RECORDED = {
    "THREE_FRY": [0x0296E954, 0x802FD53B, 0xED3492D3, 0xDF435003],
    "PHILOX": [0x7D34A749, 0xA9B8BBE8, 0x7BA423D7, 0x2FB324D9],
}


@pytest.mark.parametrize("algorithm", RECORDED)
def test_two_words_of_state(algorithm: str) -> None:
    _, got = _bits(algorithm, 2, "ui32", "4")(np.array([1, 2], np.uint64))
    assert [hex(word) for word in got] == [hex(word) for word in RECORDED[algorithm]]


@pytest.mark.parametrize(("algorithm", "words"), [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3),
                                                  ("DEFAULT", 2)])  # fmt: skip
def test_no_bits_leave_the_state_as_it_is(algorithm: str, words: int) -> None:
    given = np.arange(words, dtype=np.uint64)
    state, got = _bits(algorithm, words, "ui32", "0x3")(given)
    np.testing.assert_array_equal(state, given)
    assert got.shape == (0, 3)


def test_bits_of_a_float_are_refused() -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="of f32 is not lowered: bitcast_convert ui32 bits"):
        _bits("PHILOX", 3, "f32", "4")


def _rng(element: str, distribution: str) -> mlir_fp8.CompiledModule:
    kind = f"tensor<50x41x{element}>"
    return mlir_fp8.compile(f"""
      func.func @main(%a: tensor<{element}>, %b: tensor<{element}>) -> ({kind}, {kind}) {{
        %s = stablehlo.constant dense<[50, 41]> : tensor<2xi64>
        %0 = stablehlo.rng %a, %b, %s, distribution = {distribution}
          : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> {kind}
        %1 = stablehlo.rng %a, %b, %s, distribution = {distribution}
          : (tensor<{element}>, tensor<{element}>, tensor<2xi64>) -> {kind}
        return %0, %1 : {kind}, {kind}
      }}""")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("element", ["f32", "f64", "bf16", "f8E4M3FN", "i32", "ui8", "i64"])
def test_uniform(element: str) -> None:
    compiled = _rng(element, "UNIFORM")
    dtype = compiled.arguments[0].dtype
    low, high = (3, 9) if element == "ui8" else (-2, 5)
    drawn = compiled(dtype.type(low), dtype.type(high))
    first, second = (each.astype(np.float64) for each in drawn)
    again = compiled(dtype.type(low), dtype.type(high))[0].astype(np.float64)
    np.testing.assert_array_equal(first, again)
    assert (first != second).mean() > 0.5
    is_integer = element.startswith(("i", "u"))
    # Rounding to a narrow type may reach the upper end.
    assert first.min() >= low and first.max() <= high - is_integer
    mean, deviation = (low + high - is_integer) / 2, (high - low) / np.sqrt(12)
    assert abs(first.mean() - mean) < 4 * deviation / np.sqrt(first.size)
    assert abs(first.std() - deviation) < 0.05 * deviation


@pytest.mark.parametrize("element", ["f32", "f64", "bf16"])
def test_normal(element: str) -> None:
    compiled = _rng(element, "NORMAL")
    dtype = compiled.arguments[0].dtype
    first, _ = (each.astype(np.float64) for each in compiled(dtype.type(-2), dtype.type(5)))
    assert abs(first.mean() + 2) < 4 * 5 / np.sqrt(first.size)
    assert abs(first.std() - 5) < 0.25
    # Within one deviation 68.3 %, within two 95.4 %.
    inside = [(abs(first + 2) < 5 * width).mean() for width in (1, 2)]
    np.testing.assert_allclose(inside, [0.683, 0.954], atol=0.04)


def test_an_empty_range_gives_its_lower_end() -> None:
    for result in _rng("i32", "UNIFORM")(np.int32(4), np.int32(4)):
        assert (result == 4).all()
