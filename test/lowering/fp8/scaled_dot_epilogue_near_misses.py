"""Near misses in what follows a dot."""

from scaled_dot_near_miss import (
    ADD,
    AMAX,
    COPY,
    MAX,
    QUANTIZE,
    SCALE,
    VECTOR,
    ZERO,
    NearMiss,
    after,
    clamp,
    gelu,
)

EPILOGUE_NEAR_MISSES: dict[str, NearMiss] = {
    "clamp_asymmetric": after(clamp("-440.0", "448.0"), {"q": "$Q"}, "clamp-bounds"),
    "clamp_of_another_type": after(clamp("-57344.0", "57344.0"), {"q": "$Q"}, "clamp-bounds"),
    "clamp_by_half": after(
        "%Xhi = stablehlo.constant dense<448.0> : $D\n"
        "%Xcl = stablehlo.minimum %Xd, %Xhi : $D\n"
        "%Xq = stablehlo.convert %Xcl : ($D) -> $Q\n",
        {"q": "$Q"},
        "clamp-bounds",
    ),
    "clamp_by_argument": after(
        "%Xlo = stablehlo.negate %s : $F\n"
        "%Xcl = stablehlo.clamp %Xlo, %Xd, %s : ($F, $D, $F) -> $D\n"
        "%Xq = stablehlo.convert %Xcl : ($D) -> $Q\n",
        {"q": "$Q"},
        "clamp-bounds",
    ),
    "clamped_value_used": after(
        clamp("-448.0", "448.0"), {"q": "$Q", "cl": "$D"}, "other-users", without="saturate"
    ),
    "clamp_before_scale": after(
        "%Xlo = stablehlo.constant dense<-448.0> : $F\n"
        "%Xhi = stablehlo.constant dense<448.0> : $F\n"
        "%Xx = stablehlo.clamp %Xlo, %Xd, %Xhi : ($F, $D, $F) -> $D\n"
        + SCALE
        + "%Xq = stablehlo.convert %Xy : ($D) -> $Q\n",
        {"q": "$Q"},
        "non-linear-op",
        without="saturate",
    ),
    "amax_of_rows": after(
        "%Xab = stablehlo.abs %Xd : $D\n%Xini = stablehlo.constant dense<0.0> : $F\n"
        "%Xam = stablehlo.reduce(%Xab init: %Xini) applies stablehlo.maximum across"
        " dimensions = [1] : ($D, $F) -> tensor<4xf32>\n",
        {"d": "$D", "am": "tensor<4xf32>"},
        "amax-partial",
        without="amax",
    ),
    "amax_without_abs": after(
        "%Xini = stablehlo.constant dense<0.0> : $F\n"
        "%Xam = stablehlo.reduce(%Xd init: %Xini) applies stablehlo.maximum across"
        " dimensions = [0, 1] : ($D, $F) -> $F\n",
        {"d": "$D", "am": "$F"},
        "amax-abs",
        without="amax",
    ),
    "amax_from_one": after(
        (COPY.format("z", "d", "negate") + AMAX)
        .replace("dense<0.0>", "dense<1.0>")
        .replace("%Xab = stablehlo.abs %Xz", "%Xab = stablehlo.abs %Xd"),
        {"z": "$D", "am": "$F"},
        "amax-init",
        without="amax",
    ),
    "amax_is_a_sum": after(
        "%Xab = stablehlo.abs %Xd : $D\n%Xini = stablehlo.constant dense<0.0> : $F\n"
        "%Xam = stablehlo.reduce(%Xab init: %Xini) applies stablehlo.add across"
        " dimensions = [0, 1] : ($D, $F) -> $F\n",
        {"d": "$D", "am": "$F"},
        without="amax",
    ),
    "amax_after_scale": after(
        SCALE.replace("%Xx,", "%Xd,") + AMAX.replace("%Xz", "%Xy") + QUANTIZE,
        {"q": "$Q", "am": "$F"},
        "amax-after-scale",
        without="amax saturate",
    ),
    "scale_from_amax": after(
        AMAX.replace("%Xz", "%Xd")
        + SCALE.replace("%Xx,", "%Xd,").replace("%t,", "%Xam,")
        + QUANTIZE,
        {"q": "$Q", "am": "$F"},
        "scale-from-amax",
        without="saturate",
    ),
    "relu_at_one": after(
        ZERO.format("1.0") + MAX.format("g", "d", "zero"),
        {"g": "$D"},
        "relu-constant",
        without="activation",
    ),
    "relu_at_minus_zero": after(
        ZERO.format("-0.0") + MAX.format("g", "d", "zero"),
        {"g": "$D"},
        "relu-constant",
        without="activation",
    ),
    "relu_by_select": after(
        ZERO.format("0.0")
        + "%Xp = stablehlo.compare GT, %Xd, %Xzero : ($D, $D) -> tensor<4x6xi1>\n"
        "%Xg = stablehlo.select %Xp, %Xd, %Xzero : tensor<4x6xi1>, $D\n",
        {"g": "$D"},
        "relu-select",
        without="activation",
    ),
    "relu_value_used": after(
        ZERO.format("0.0") + MAX.format("g", "d", "zero"),
        {"g": "$D", "d": "$D"},
        "other-users",
        without="activation",
    ),
    "bias_of_rows": after(
        "%Xv = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> $D\n"
        + ADD.format("y", "d", "v"),
        {"y": "$D"},
        "bias-dimension",
    ),
    "bias_before_matrix": after(
        VECTOR + ADD.format("w", "d", "v") + "%Xy = stablehlo.add %Xw, %c : $D\n",
        {"y": "$D"},
        "step-order",
    ),
    "bias_after_relu": after(
        ZERO.format("0.0") + MAX.format("g", "d", "zero") + VECTOR + ADD.format("y", "g", "v"),
        {"y": "$D"},
        "step-order",
    ),
    "alpha_after_bias": after(
        VECTOR + ADD.format("w", "d", "v") + "%Xk = stablehlo.constant dense<0.3> : $D\n"
        "%Xy = stablehlo.multiply %Xw, %Xk : $D\n",
        {"y": "$D"},
        "alpha-position",
        without="alpha",
    ),
    "divided_by_three": after(
        "%Xk = stablehlo.constant dense<3.0> : $D\n%Xy = stablehlo.divide %Xd, %Xk : $D\n",
        {"y": "$D"},
        "alpha-divide",
        without="alpha",
    ),
    "scale_over_value": after(
        "%Xk = stablehlo.broadcast_in_dim %t, dims = [] : ($F) -> $D\n"
        "%Xy = stablehlo.divide %Xk, %Xd : $D\n" + QUANTIZE,
        {"q": "$Q"},
        "non-linear-op",
        without="saturate",
    ),
    "scale_by_matrix": after(
        "%Xy = stablehlo.multiply %Xd, %c : $D\n" + QUANTIZE,
        {"q": "$Q"},
        "scale-per-element",
        without="saturate",
    ),
    "gelu_constant": after(gelu("0.044"), {"g": "$D"}, "gelu-form", without="activation"),
    "gelu_function": after(
        gelu("0.044715", "logistic"), {"g": "$D"}, "other-users", without="activation"
    ),
    "gelu_value_used": after(
        gelu("0.044715"), {"g": "$D", "cdf": "$D"}, "other-users", without="activation"
    ),
    "converted_twice": after(
        "%Xh = stablehlo.convert %Xd : ($D) -> $H\n"
        "%Xlo = stablehlo.constant dense<-448.0> : $H\n"
        "%Xx = stablehlo.maximum %Xh, %Xlo : $H\n"
        "%Xq = stablehlo.convert %Xx : ($H) -> $Q\n",
        {"q": "$Q"},
        "clamp-bounds",
    ),
    "bias_in_a_wider_type": after(
        "%Xh = stablehlo.convert %Xd : ($D) -> $H\n%Xk = stablehlo.constant dense<0.5> : $H\n"
        "%Xx = stablehlo.multiply %Xh, %Xk : $H\n%Xw = stablehlo.convert %Xx : ($H) -> $D\n"
        + VECTOR
        + ADD.format("y", "w", "v"),
        {"y": "$D"},
        "epilogue-types",
    ),
    "sine_before_quantization": after(
        COPY.format("y", "d", "sine") + QUANTIZE,
        {"q": "$Q"},
        "non-linear-op",
        without="saturate",
    ),
    "transposed_before_quantization": after(
        "%Xtr = stablehlo.transpose %Xd, dims = [1, 0] : ($D) -> tensor<6x4xf32>\n"
        "%Xq = stablehlo.convert %Xtr : (tensor<6x4xf32>) -> tensor<6x4xf8E4M3FN>\n",
        {"q": "tensor<6x4xf8E4M3FN>"},
        "movement-between",
    ),
    "to_integers": after(
        "%Xq = stablehlo.convert %Xd : ($D) -> tensor<4x6xi8>\n", {"q": "tensor<4x6xi8>"}
    ),
}
