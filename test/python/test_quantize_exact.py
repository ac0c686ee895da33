"""Dots of any dimension numbers whose numbers and scales f8 holds exactly: the result is exact."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import mlir_fp8

# 448 / 32: with it as the largest, the scale of f8E4M3FN is 2^-5; smaller integers are exact, too.
LARGEST = 14


@dataclass(frozen=True)
class Dims:
    """A dot: sizes by letter, and the letters of its operands in order."""

    sizes: dict[str, int]
    lhs: str
    rhs: str
    element: str

    @property
    def result(self) -> str:
        batch = [letter for letter in self.lhs if letter in "bc"]
        # In the order of the batching dimensions that the op is given.
        free = [letter for letter in self.lhs + self.rhs if letter in "mnpq"]
        return "".join(sorted(batch) + free)

    def tensor(self, letters: str) -> str:
        shape = "".join(f"{self.sizes[letter]}x" for letter in letters)
        return f"tensor<{shape}{self.element}>"

    def text(self) -> str:
        batch, summed = sorted(set(self.lhs) & set("bc")), sorted(set(self.lhs) & set("kl"))

        def dims(letters: list[str]) -> str:
            return (
                f"{[self.lhs.index(x) for x in letters]} x {[self.rhs.index(x) for x in letters]}"
            )

        lhs, rhs, result = map(self.tensor, (self.lhs, self.rhs, self.result))
        batching = f"batching_dims = {dims(batch)}, " if batch else ""
        return f"""func.func @main(%a: {lhs}, %b: {rhs}) -> {result} {{
          %0 = stablehlo.dot_general %a, %b, {batching}contracting_dims = {dims(summed)}
            : ({lhs}, {rhs}) -> {result}
          return %0 : {result}
        }}"""


@st.composite
def dots(draw: st.DrawFn) -> Dims:
    shared = draw(st.sampled_from(["k", "kl", "bk", "bkl", "bck"]))
    lhs = draw(st.permutations(list(shared + draw(st.sampled_from(["", "m", "mn"])))))
    rhs = draw(st.permutations(list(shared + draw(st.sampled_from(["", "p", "pq"])))))
    sizes = {letter: draw(st.integers(1, 5)) for letter in "bcklmnpq"}
    return Dims(sizes, "".join(lhs), "".join(rhs), draw(st.sampled_from(["f32", "f16"])))


@given(dots(), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_exact(dims: Dims, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = np.float32 if dims.element == "f32" else np.float16
    made = mlir_fp8.quantize(dims.text(), "current")
    operands: list[np.ndarray] = []
    for letters in (dims.lhs, dims.rhs):
        array = rng.integers(-8, 9, [dims.sizes[letter] for letter in letters]).astype(dtype)
        array.flat[0] = LARGEST
        operands.append(array)
    (result,) = mlir_fp8.compile(made.module)(*operands)
    wide = [array.astype(np.float64) for array in operands]
    expected = np.einsum(f"{dims.lhs},{dims.rhs}->{dims.result}", *wide)
    np.testing.assert_array_equal(result, expected.astype(dtype))
