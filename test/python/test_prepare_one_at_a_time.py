"""`Quantized.prepare` of a mapping that makes or reads each weight when it is asked for."""

import weakref
from collections.abc import Iterator, Mapping

import numpy as np

import mlir_fp8

COUNT = 6


class Made(Mapping[str, np.ndarray]):
    """Weights `w0`, `w1`, ..., full of 1, 2, ..., and how many of them were alive at once."""

    def __init__(self) -> None:
        self.names = [f"w{number}" for number in range(COUNT)]
        self.given: list[weakref.ref[np.ndarray]] = []
        self.most = 0

    def __getitem__(self, name: str) -> np.ndarray:
        array = np.full((64, 64), 1 + self.names.index(name), np.float32)
        self.given.append(weakref.ref(array))
        self.most = max(self.most, sum(each() is not None for each in self.given))
        return array

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return COUNT


def test_few_weights_are_held_at_once_and_each_has_its_own_codes() -> None:
    """Though the memory of one may be that of the one before."""
    weights = ", ".join(
        f'%w{n}: tensor<64x64xf32> {{mlir_fp8.name = "w{n}"}}' for n in range(COUNT)
    )
    products = "\n".join(
        f"%x{n + 1} = stablehlo.dot_general %x{n}, %w{n}, contracting_dims = [1] x [0]"
        " : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>"
        for n in range(COUNT)
    )
    made = mlir_fp8.quantize(
        f"func.func @main(%x0: tensor<1x64xf32>, {weights}) -> tensor<1x64xf32> {{\n{products}\n"
        f"return %x{COUNT} : tensor<1x64xf32>\n}}",
        "weight_only",
        weights=["w*"],
        scales="tensor",
    )
    given = Made()
    prepared = made.prepare(given)
    assert given.most <= 2
    for number in range(COUNT):
        assert prepared[f"w{number}_scale"] == np.float32(number + 1) / np.float32(448)
        assert (prepared[f"w{number}"].astype(np.float32) == 448).all()
