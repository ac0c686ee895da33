"""What becomes of the sums of a product: its epilogue in words."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS

ACTIVATIONS = ("none", "relu", "gelu_tanh", "silu", "gelu_erf")
RESULTS = {"f32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "f8E5M2": 1}
"""Element types of D, with their bytes."""


@dataclass(frozen=True)
class Epilogue:
    """What becomes of a sum, in the order of `fp8.scaled_dot`'s steps; each rounds as that says.

    The f32 sum times `a_scale` ("tensor", or "row": M numbers), then times `b_scale` ("tensor", or
    "column": N numbers), all f32, or over them (`a_inverse`, `b_inverse`); rounded to `dot_type`,
    from there in `type` (f32, bf16 or f16): times `alpha`; plus a matrix like D, of the type `c`,
    which is times `beta` if that is given; plus a bias of N numbers, of the type `bias`;
    `activation`; `amax` of these; by `d_scale`, f32 ("divide" or "multiply"); converted to
    `result`, saturated where that is an f8.
    Empty texts are steps that are left out. With `stored` and `d_type` the numbers are rounded to
    the former after the activation, and scaled by `d_scale` in the latter, not in `type`.

    With `gate`, bf16, f16 or f32, there are two sums, of which `b_scale` has one scale each. Both
    are finished without the activation, up to `stored`, and rounded to `gate`. In that type the
    activation of the first is multiplied by the second; what comes then is as above.

    "gelu_tanh" in f32 is x * sigmoid(2 u), which x * (0.5 * (1 + tanh(u))) is: nearer to the real
    function below 0, where the sum cancels; both within 4e-7 |x|. "silu" is x * sigmoid(x). Both
    take the sigmoid from approximations in f32, which in bf16 and f16 may round the other way, as
    "gelu_erf" does erfc, within 4e-7.
    """

    a_scale: str = ""
    b_scale: str = ""
    dot_type: str = "f32"
    type: str = "f32"
    alpha: float | None = None
    bias: str = ""
    activation: str = "none"
    amax: bool = False
    d_scale: str = ""
    result: str = "f32"
    transposed: bool = False
    """Whether the transpose of D, an f8, is stored too."""
    gate: str = ""
    stored: str = ""
    d_type: str = ""
    a_inverse: bool = False
    b_inverse: bool = False
    c: str = ""
    beta: float | None = None

    @property
    def scaling_type(self) -> str:
        """What numbers are scaled in by `d_scale`."""
        return self.d_type or self.type

    def check(self) -> None:
        """Refuse words that are none of these."""
        words = {
            "a_scale": ("", "tensor", "row"),
            "b_scale": ("", "tensor", "column"),
            "dot_type": tuple(ELEMENTS),
            "type": tuple(ELEMENTS),
            "bias": ("", *ELEMENTS),
            "activation": ACTIVATIONS,
            "d_scale": ("", "divide", "multiply"),
            "result": tuple(RESULTS),
            **dict.fromkeys(("gate", "stored", "d_type", "c"), ("", *ELEMENTS)),
        }
        for name, known in words.items():
            if getattr(self, name) not in known:
                listed = ", ".join(each for each in known if each)
                raise Fp8Error(f"no product with {name} '{getattr(self, name)}': one of {listed}")
        if self.transposed and RESULTS[self.result] != 1:
            raise Fp8Error(f"no product with a transposed result of {self.result}: an f8 has one")
        if self.gate and (self.bias or self.c or self.alpha is not None):
            raise Fp8Error("no product with a gate and a bias, c or alpha")
        if self.beta is not None and not self.c:
            raise Fp8Error("no product with beta and no c")
