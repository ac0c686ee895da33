"""Programs that look like a fused dot and are none: each with the reason that is to be given.

All of one case's values are named %X..., where X stands for the case; `%Xd` is the dot, 4x6 in f32.
"""

from dataclasses import dataclass

ARGUMENTS = {
    "a": "tensor<4x8xf8E4M3FN>",
    "b": "tensor<8x6xf8E4M3FN>",
    "e": "tensor<4x8xf8E5M2>",
    "f": "tensor<8x6xf8E5M2>",
    "u": "tensor<4x8xf8E4M3FNUZ>",
    "i": "tensor<4x8xi8>",
    "w": "tensor<4x8xf32>",
    "h": "tensor<4x8xbf16>",
    "s": "tensor<f32>",
    "t": "tensor<f32>",
    "c": "tensor<4x6xf32>",
    "n": "tensor<6xf32>",
    "m": "tensor<4xf32>",
    "k": "tensor<8xf32>",
}

_TYPES = {
    "A": "tensor<4x8xf32>",
    "B": "tensor<8x6xf32>",
    "D": "tensor<4x6xf32>",
    "H": "tensor<4x6xbf16>",
    "Q": "tensor<4x6xf8E4M3FN>",
    "F": "tensor<f32>",
}

LHS = """
%Xaw = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> $A
%Xas = stablehlo.broadcast_in_dim %s, dims = [] : ($F) -> $A
%Xl = stablehlo.multiply %Xaw, %Xas : $A
"""
RHS = """
%Xbw = stablehlo.convert %b : (tensor<8x6xf8E4M3FN>) -> $B
%Xbs = stablehlo.broadcast_in_dim %t, dims = [] : ($F) -> $B
%Xr = stablehlo.multiply %Xbw, %Xbs : $B
"""
DOT = "%Xd = stablehlo.dot_general %Xl, %Xr, contracting_dims = [1] x [0] : ($A, $B) -> $D\n"
QUANTIZE = """
%Xlo = stablehlo.constant dense<-448.0> : $F
%Xhi = stablehlo.constant dense<448.0> : $F
%Xcl = stablehlo.clamp %Xlo, %Xy, %Xhi : ($F, $D, $F) -> $D
%Xq = stablehlo.convert %Xcl : ($D) -> $Q
"""
SCALE = """
%Xds = stablehlo.broadcast_in_dim %t, dims = [] : ($F) -> $D
%Xy = stablehlo.divide %Xx, %Xds : $D
"""
AMAX = """
%Xab = stablehlo.abs %Xz : $D
%Xini = stablehlo.constant dense<0.0> : $F
%Xam = stablehlo.reduce(%Xab init: %Xini) applies stablehlo.maximum across dimensions = [0, 1]
  : ($D, $F) -> $F
"""


@dataclass(frozen=True)
class NearMiss:
    """`results` are names and types; `without` are attributes that the fused op must not have."""

    body: str
    results: tuple[tuple[str, str], ...]
    kinds: tuple[str, ...]
    without: tuple[str, ...] = ()
    fused: bool = True

    def text(self, prefix: str) -> str:
        return _filled(self.body, prefix)

    def values(self, prefix: str) -> list[tuple[str, str]]:
        return [(_filled(name, prefix), _filled(type_, prefix)) for name, type_ in self.results]


def _filled(text: str, prefix: str) -> str:
    for key, type_ in _TYPES.items():
        text = text.replace(f"${key}", type_)
    return text.replace("%X", f"%{prefix}_")


def after(body: str, results: dict[str, str], *kinds: str, without: str = "") -> NearMiss:
    """A near miss in what follows the dot."""
    names = tuple((f"%X{name}", type_) for name, type_ in results.items())
    return NearMiss(LHS + RHS + DOT + body, names, kinds, tuple(without.split()))


def before(body: str, *kinds: str, fused: bool = False) -> NearMiss:
    """A near miss in what gives %Xl, the left operand."""
    return NearMiss(body + RHS + DOT, (("%Xd", "$D"),), kinds, fused=fused)


def clamp(low: str, high: str) -> str:
    return f"""
%Xlo = stablehlo.constant dense<{low}> : $F
%Xhi = stablehlo.constant dense<{high}> : $F
%Xcl = stablehlo.clamp %Xlo, %Xd, %Xhi : ($F, $D, $F) -> $D
%Xq = stablehlo.convert %Xcl : ($D) -> $Q
"""


def gelu(cubic: str, tanh: str = "tanh") -> str:
    return f"""
%Xx2 = stablehlo.multiply %Xd, %Xd : $D
%Xx3 = stablehlo.multiply %Xd, %Xx2 : $D
%Xk0 = stablehlo.constant dense<{cubic}> : $D
%Xt0 = stablehlo.multiply %Xx3, %Xk0 : $D
%Xt1 = stablehlo.add %Xd, %Xt0 : $D
%Xk1 = stablehlo.constant dense<0.797884583> : $D
%Xt2 = stablehlo.multiply %Xt1, %Xk1 : $D
%Xt3 = stablehlo.{tanh} %Xt2 : $D
%Xone = stablehlo.constant dense<1.0> : $D
%Xt4 = stablehlo.add %Xt3, %Xone : $D
%Xhalf = stablehlo.constant dense<0.5> : $D
%Xcdf = stablehlo.multiply %Xt4, %Xhalf : $D
%Xg = stablehlo.multiply %Xd, %Xcdf : $D
"""


MAX = "%X{0} = stablehlo.maximum %X{1}, %X{2} : $D\n"
ADD = "%X{0} = stablehlo.add %X{1}, %X{2} : $D\n"
VECTOR = "%Xv = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<6xf32>) -> $D\n"
ZERO = "%Xzero = stablehlo.constant dense<{}> : $D\n"
COPY = "%X{0} = stablehlo.{2} %X{1} : $D\n"
