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


def _after(body: str, results: dict[str, str], *kinds: str, without: str = "") -> NearMiss:
    """A near miss in what follows the dot."""
    names = tuple((f"%X{name}", type_) for name, type_ in results.items())
    return NearMiss(LHS + RHS + DOT + body, names, kinds, tuple(without.split()))


def _before(body: str, *kinds: str, fused: bool = False) -> NearMiss:
    """A near miss in what gives %Xl, the left operand."""
    return NearMiss(body + RHS + DOT, (("%Xd", "$D"),), kinds, fused=fused)


def _unary(name: str) -> str:
    return f"%Xl0 = stablehlo.{name} %Xl1 : $A\n"


def _clamp(low: str, high: str) -> str:
    return f"""
%Xlo = stablehlo.constant dense<{low}> : $F
%Xhi = stablehlo.constant dense<{high}> : $F
%Xcl = stablehlo.clamp %Xlo, %Xd, %Xhi : ($F, $D, $F) -> $D
%Xq = stablehlo.convert %Xcl : ($D) -> $Q
"""


def _gelu(cubic: str, tanh: str = "tanh") -> str:
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


_MAX = "%X{0} = stablehlo.maximum %X{1}, %X{2} : $D\n"
_ADD = "%X{0} = stablehlo.add %X{1}, %X{2} : $D\n"
_VECTOR = "%Xv = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<6xf32>) -> $D\n"
_ZERO = "%Xzero = stablehlo.constant dense<{}> : $D\n"
_COPY = "%X{0} = stablehlo.{2} %X{1} : $D\n"

NEAR_MISSES: dict[str, NearMiss] = {
    "clamp_asymmetric": _after(_clamp("-440.0", "448.0"), {"q": "$Q"}, "clamp-bounds"),
    "clamp_of_another_type": _after(_clamp("-57344.0", "57344.0"), {"q": "$Q"}, "clamp-bounds"),
    "clamp_by_half": _after(
        "%Xhi = stablehlo.constant dense<448.0> : $D\n"
        "%Xcl = stablehlo.minimum %Xd, %Xhi : $D\n"
        "%Xq = stablehlo.convert %Xcl : ($D) -> $Q\n",
        {"q": "$Q"},
        "clamp-bounds",
    ),
    "clamp_by_argument": _after(
        "%Xlo = stablehlo.negate %s : $F\n"
        "%Xcl = stablehlo.clamp %Xlo, %Xd, %s : ($F, $D, $F) -> $D\n"
        "%Xq = stablehlo.convert %Xcl : ($D) -> $Q\n",
        {"q": "$Q"},
        "clamp-bounds",
    ),
    "clamped_value_used": _after(
        _clamp("-448.0", "448.0"), {"q": "$Q", "cl": "$D"}, "other-users", without="saturate"
    ),
    "clamp_before_scale": _after(
        "%Xlo = stablehlo.constant dense<-448.0> : $F\n"
        "%Xhi = stablehlo.constant dense<448.0> : $F\n"
        "%Xx = stablehlo.clamp %Xlo, %Xd, %Xhi : ($F, $D, $F) -> $D\n"
        + SCALE
        + "%Xq = stablehlo.convert %Xy : ($D) -> $Q\n",
        {"q": "$Q"},
        "non-linear-op",
        without="saturate",
    ),
    "amax_of_rows": _after(
        "%Xab = stablehlo.abs %Xd : $D\n%Xini = stablehlo.constant dense<0.0> : $F\n"
        "%Xam = stablehlo.reduce(%Xab init: %Xini) applies stablehlo.maximum across"
        " dimensions = [1] : ($D, $F) -> tensor<4xf32>\n",
        {"d": "$D", "am": "tensor<4xf32>"},
        "amax-partial",
        without="amax",
    ),
    "amax_without_abs": _after(
        "%Xini = stablehlo.constant dense<0.0> : $F\n"
        "%Xam = stablehlo.reduce(%Xd init: %Xini) applies stablehlo.maximum across"
        " dimensions = [0, 1] : ($D, $F) -> $F\n",
        {"d": "$D", "am": "$F"},
        "amax-abs",
        without="amax",
    ),
    "amax_from_one": _after(
        (_COPY.format("z", "d", "negate") + AMAX)
        .replace("dense<0.0>", "dense<1.0>")
        .replace("%Xab = stablehlo.abs %Xz", "%Xab = stablehlo.abs %Xd"),
        {"z": "$D", "am": "$F"},
        "amax-init",
        without="amax",
    ),
    "amax_is_a_sum": _after(
        "%Xab = stablehlo.abs %Xd : $D\n%Xini = stablehlo.constant dense<0.0> : $F\n"
        "%Xam = stablehlo.reduce(%Xab init: %Xini) applies stablehlo.add across"
        " dimensions = [0, 1] : ($D, $F) -> $F\n",
        {"d": "$D", "am": "$F"},
        without="amax",
    ),
    "amax_after_scale": _after(
        SCALE.replace("%Xx,", "%Xd,") + AMAX.replace("%Xz", "%Xy") + QUANTIZE,
        {"q": "$Q", "am": "$F"},
        "amax-after-scale",
        without="amax saturate",
    ),
    "scale_from_amax": _after(
        AMAX.replace("%Xz", "%Xd")
        + SCALE.replace("%Xx,", "%Xd,").replace("%t,", "%Xam,")
        + QUANTIZE,
        {"q": "$Q", "am": "$F"},
        "scale-from-amax",
        without="saturate",
    ),
    "relu_at_one": _after(
        _ZERO.format("1.0") + _MAX.format("g", "d", "zero"),
        {"g": "$D"},
        "relu-constant",
        without="activation",
    ),
    "relu_at_minus_zero": _after(
        _ZERO.format("-0.0") + _MAX.format("g", "d", "zero"),
        {"g": "$D"},
        "relu-constant",
        without="activation",
    ),
    "relu_by_select": _after(
        _ZERO.format("0.0")
        + "%Xp = stablehlo.compare GT, %Xd, %Xzero : ($D, $D) -> tensor<4x6xi1>\n"
        "%Xg = stablehlo.select %Xp, %Xd, %Xzero : tensor<4x6xi1>, $D\n",
        {"g": "$D"},
        "relu-select",
        without="activation",
    ),
    "relu_value_used": _after(
        _ZERO.format("0.0") + _MAX.format("g", "d", "zero"),
        {"g": "$D", "d": "$D"},
        "other-users",
        without="activation",
    ),
    "bias_of_rows": _after(
        "%Xv = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> $D\n"
        + _ADD.format("y", "d", "v"),
        {"y": "$D"},
        "bias-dimension",
    ),
    "bias_before_matrix": _after(
        _VECTOR + _ADD.format("w", "d", "v") + "%Xy = stablehlo.add %Xw, %c : $D\n",
        {"y": "$D"},
        "step-order",
    ),
    "bias_after_relu": _after(
        _ZERO.format("0.0") + _MAX.format("g", "d", "zero") + _VECTOR + _ADD.format("y", "g", "v"),
        {"y": "$D"},
        "step-order",
    ),
    "alpha_after_bias": _after(
        _VECTOR + _ADD.format("w", "d", "v") + "%Xk = stablehlo.constant dense<0.3> : $D\n"
        "%Xy = stablehlo.multiply %Xw, %Xk : $D\n",
        {"y": "$D"},
        "alpha-position",
        without="alpha",
    ),
    "divided_by_three": _after(
        "%Xk = stablehlo.constant dense<3.0> : $D\n%Xy = stablehlo.divide %Xd, %Xk : $D\n",
        {"y": "$D"},
        "alpha-divide",
        without="alpha",
    ),
    "scale_over_value": _after(
        "%Xk = stablehlo.broadcast_in_dim %t, dims = [] : ($F) -> $D\n"
        "%Xy = stablehlo.divide %Xk, %Xd : $D\n" + QUANTIZE,
        {"q": "$Q"},
        "non-linear-op",
        without="saturate",
    ),
    "scale_by_matrix": _after(
        "%Xy = stablehlo.multiply %Xd, %c : $D\n" + QUANTIZE,
        {"q": "$Q"},
        "scale-per-element",
        without="saturate",
    ),
    "gelu_constant": _after(_gelu("0.044"), {"g": "$D"}, "gelu-form", without="activation"),
    "gelu_function": _after(
        _gelu("0.044715", "logistic"), {"g": "$D"}, "other-users", without="activation"
    ),
    "gelu_value_used": _after(
        _gelu("0.044715"), {"g": "$D", "cdf": "$D"}, "other-users", without="activation"
    ),
    "converted_twice": _after(
        "%Xh = stablehlo.convert %Xd : ($D) -> $H\n"
        "%Xlo = stablehlo.constant dense<-448.0> : $H\n"
        "%Xx = stablehlo.maximum %Xh, %Xlo : $H\n"
        "%Xq = stablehlo.convert %Xx : ($H) -> $Q\n",
        {"q": "$Q"},
        "clamp-bounds",
    ),
    "bias_in_a_wider_type": _after(
        "%Xh = stablehlo.convert %Xd : ($D) -> $H\n%Xk = stablehlo.constant dense<0.5> : $H\n"
        "%Xx = stablehlo.multiply %Xh, %Xk : $H\n%Xw = stablehlo.convert %Xx : ($H) -> $D\n"
        + _VECTOR
        + _ADD.format("y", "w", "v"),
        {"y": "$D"},
        "epilogue-types",
    ),
    "sine_before_quantization": _after(
        _COPY.format("y", "d", "sine") + QUANTIZE,
        {"q": "$Q"},
        "non-linear-op",
        without="saturate",
    ),
    "to_integers": _after(
        "%Xq = stablehlo.convert %Xd : ($D) -> tensor<4x6xi8>\n", {"q": "tensor<4x6xi8>"}
    ),
    "operand_tanh": _before(
        LHS.replace("%Xl =", "%Xl1 =") + "%Xl = stablehlo.tanh %Xl1 : $A\n", "non-linear-op"
    ),
    "operand_rounded_twice": _before(
        LHS.replace("%Xl =", "%Xl1 =")
        + "%Xl2 = stablehlo.convert %Xl1 : ($A) -> tensor<4x8xbf16>\n"
        "%Xl = stablehlo.convert %Xl2 : (tensor<4x8xbf16>) -> $A\n",
        "rounds-twice",
    ),
    "operand_scaled_twice": _before(
        LHS.replace("%Xl =", "%Xl1 =") + "%Xl = stablehlo.multiply %Xl1, %Xas : $A\n",
        "scale-twice",
    ),
    "operand_scaled_by_data": _before(LHS.replace("%Xaw, %Xas", "%Xaw, %w"), "scale-per-element"),
    "operand_under_scale": _before(
        LHS.replace("multiply %Xaw, %Xas", "divide %Xas, %Xaw"), "non-linear-op"
    ),
    "operand_scale_tiled": _before(
        "%Xaw = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> $A\n"
        "%Xtile = stablehlo.broadcast_in_dim %m, dims = [1]"
        " : (tensor<4xf32>) -> tensor<8x4xf32>\n"
        "%Xas = stablehlo.reshape %Xtile : (tensor<8x4xf32>) -> $A\n"
        "%Xl = stablehlo.multiply %Xaw, %Xas : $A\n",
        "scale-layout",
    ),
    "operand_padded": _before(
        "%Xcut = stablehlo.slice %a [0:3, 0:8] : (tensor<4x8xf8E4M3FN>) -> tensor<3x8xf8E4M3FN>\n"
        "%Xaw = stablehlo.convert %Xcut : (tensor<3x8xf8E4M3FN>) -> tensor<3x8xf32>\n"
        "%Xas = stablehlo.broadcast_in_dim %s, dims = [] : ($F) -> tensor<3x8xf32>\n"
        "%Xl1 = stablehlo.multiply %Xaw, %Xas : tensor<3x8xf32>\n"
        "%Xzero = stablehlo.constant dense<0.0> : $F\n"
        "%Xl = stablehlo.pad %Xl1, %Xzero, low = [1, 0], high = [0, 0], interior = [0, 0]"
        " : (tensor<3x8xf32>, $F) -> $A\n",
        "zeros-after-scale",
    ),
    "operand_concatenated": _before(
        LHS.replace("%Xl =", "%Xl1 =")
        + "%Xl2 = stablehlo.slice %Xl1 [0:2, 0:8] : ($A) -> tensor<2x8xf32>\n"
        "%Xl = stablehlo.concatenate %Xl2, %Xl2, dim = 0"
        " : (tensor<2x8xf32>, tensor<2x8xf32>) -> $A\n",
        "movement-between",
    ),
    "operand_of_integers": _before(
        "%Xl = stablehlo.convert %i : (tensor<4x8xi8>) -> $A\n", "not-fp8"
    ),
    "operand_argument": _before(
        LHS.replace("%Xl =", "%Xl1 =") + "%Xl = stablehlo.abs %w : $A\n", "not-fp8"
    ),
    "operand_types": _before(
        "%Xaw = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>\n"
        "%Xsb = stablehlo.convert %s : ($F) -> tensor<bf16>\n"
        "%Xas = stablehlo.broadcast_in_dim %Xsb, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>\n"
        "%Xl0 = stablehlo.multiply %Xaw, %Xas : tensor<4x8xbf16>\n"
        "%Xl = stablehlo.convert %Xl0 : (tensor<4x8xbf16>) -> $A\n",
        "operand-types",
    ),
    "families": _before(
        "%Xl = stablehlo.convert %u : (tensor<4x8xf8E4M3FNUZ>) -> $A\n", "mixed-formats"
    ),
    "both_e5m2": NearMiss(
        "%Xd = stablehlo.dot_general %e, %f, contracting_dims = [1] x [0]"
        " : (tensor<4x8xf8E5M2>, tensor<8x6xf8E5M2>) -> $D\n",
        (("%Xd", "$D"),),
        ("both-e5m2",),
        fused=False,
    ),
    "algorithm": NearMiss(
        LHS
        + RHS
        + DOT.replace(
            " : (",
            ", algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16,"
            " accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,"
            " num_primitive_operations = 1, allow_imprecise_accumulation = false> : (",
        ),
        (("%Xd", "$D"),),
        ("dot-algorithm",),
        fused=False,
    ),
    "sum_in_f64": NearMiss(
        "%Xd = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E4M3FN>) -> tensor<4x6xf64>\n",
        (("%Xd", "tensor<4x6xf64>"),),
        ("accumulation-type",),
        fused=False,
    ),
    "sum_scaled_by_a_product": _after(
        _VECTOR + "%Xrow = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> $D\n"
        "%Xs = stablehlo.multiply %Xv, %Xrow : $D\n"
        "%Xy = stablehlo.multiply %Xd, %Xs : $D\n",
        {"y": "$D"},
        "scale-product",
    ),
    "gelu_after_relu": _after(
        _ZERO.format("0.0")
        + _MAX.format("z", "d", "zero")
        + _gelu("0.044715").replace("%Xd", "%Xz"),
        {"g": "$D"},
        "step-order",
    ),
    "sum_scaled_by_columns_first": NearMiss(
        "%Xd = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E4M3FN>) -> $D\n"
        + _VECTOR
        + "%Xw = stablehlo.multiply %Xd, %Xv : $D\n"
        "%Xrow = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> $D\n"
        "%Xy = stablehlo.multiply %Xw, %Xrow : $D\n",
        (("%Xy", "$D"),),
        ("scale-position",),
    ),
}
