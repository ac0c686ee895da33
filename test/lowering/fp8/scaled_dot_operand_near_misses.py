"""Near misses in the operands of a dot, in their types, and in the dot itself."""

from scaled_dot_near_miss import (
    DOT,
    LHS,
    MAX,
    RHS,
    VECTOR,
    ZERO,
    NearMiss,
    after,
    before,
    gelu,
)

OPERAND_NEAR_MISSES: dict[str, NearMiss] = {
    "operand_tanh": before(
        LHS.replace("%Xl =", "%Xl1 =") + "%Xl = stablehlo.tanh %Xl1 : $A\n", "non-linear-op"
    ),
    "operand_rounded_twice": before(
        LHS.replace("%Xl =", "%Xl1 =")
        + "%Xl2 = stablehlo.convert %Xl1 : ($A) -> tensor<4x8xbf16>\n"
        "%Xl = stablehlo.convert %Xl2 : (tensor<4x8xbf16>) -> $A\n",
        "rounds-twice",
    ),
    "operand_scaled_twice": before(
        LHS.replace("%Xl =", "%Xl1 =") + "%Xl = stablehlo.multiply %Xl1, %Xas : $A\n",
        "scale-twice",
    ),
    "operand_scaled_by_data": before(LHS.replace("%Xaw, %Xas", "%Xaw, %w"), "scale-per-element"),
    "operand_under_scale": before(
        LHS.replace("multiply %Xaw, %Xas", "divide %Xas, %Xaw"), "non-linear-op"
    ),
    "operand_scale_tiled": before(
        "%Xaw = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> $A\n"
        "%Xtile = stablehlo.broadcast_in_dim %m, dims = [1]"
        " : (tensor<4xf32>) -> tensor<8x4xf32>\n"
        "%Xas = stablehlo.reshape %Xtile : (tensor<8x4xf32>) -> $A\n"
        "%Xl = stablehlo.multiply %Xaw, %Xas : $A\n",
        "scale-layout",
    ),
    "operand_padded": before(
        "%Xcut = stablehlo.slice %a [0:3, 0:8] : (tensor<4x8xf8E4M3FN>) -> tensor<3x8xf8E4M3FN>\n"
        "%Xaw = stablehlo.convert %Xcut : (tensor<3x8xf8E4M3FN>) -> tensor<3x8xf32>\n"
        "%Xas = stablehlo.broadcast_in_dim %s, dims = [] : ($F) -> tensor<3x8xf32>\n"
        "%Xl1 = stablehlo.multiply %Xaw, %Xas : tensor<3x8xf32>\n"
        "%Xzero = stablehlo.constant dense<0.0> : $F\n"
        "%Xl = stablehlo.pad %Xl1, %Xzero, low = [1, 0], high = [0, 0], interior = [0, 0]"
        " : (tensor<3x8xf32>, $F) -> $A\n",
        "zeros-after-scale",
    ),
    "operand_concatenated": before(
        LHS.replace("%Xl =", "%Xl1 =")
        + "%Xl2 = stablehlo.slice %Xl1 [0:2, 0:8] : ($A) -> tensor<2x8xf32>\n"
        "%Xl = stablehlo.concatenate %Xl2, %Xl2, dim = 0"
        " : (tensor<2x8xf32>, tensor<2x8xf32>) -> $A\n",
        "movement-between",
    ),
    "operand_of_integers": before(
        "%Xl = stablehlo.convert %i : (tensor<4x8xi8>) -> $A\n", "not-fp8"
    ),
    "operand_argument": before(
        LHS.replace("%Xl =", "%Xl1 =") + "%Xl = stablehlo.abs %w : $A\n", "not-fp8"
    ),
    "operand_types": before(
        "%Xaw = stablehlo.convert %a : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xbf16>\n"
        "%Xsb = stablehlo.convert %s : ($F) -> tensor<bf16>\n"
        "%Xas = stablehlo.broadcast_in_dim %Xsb, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>\n"
        "%Xl0 = stablehlo.multiply %Xaw, %Xas : tensor<4x8xbf16>\n"
        "%Xl = stablehlo.convert %Xl0 : (tensor<4x8xbf16>) -> $A\n",
        "operand-types",
    ),
    "families": before(
        "%Xl = stablehlo.convert %u : (tensor<4x8xf8E4M3FNUZ>) -> $A\n", "mixed-formats"
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
    "sum_scaled_by_a_product": after(
        VECTOR + "%Xrow = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> $D\n"
        "%Xs = stablehlo.multiply %Xv, %Xrow : $D\n"
        "%Xy = stablehlo.multiply %Xd, %Xs : $D\n",
        {"y": "$D"},
        "scale-product",
    ),
    "gelu_after_relu": after(
        ZERO.format("0.0") + MAX.format("z", "d", "zero") + gelu("0.044715").replace("%Xd", "%Xz"),
        {"g": "$D"},
        "step-order",
    ),
    "sum_scaled_by_columns_first": NearMiss(
        "%Xd = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<4x8xf8E4M3FN>, tensor<8x6xf8E4M3FN>) -> $D\n"
        + VECTOR
        + "%Xw = stablehlo.multiply %Xd, %Xv : $D\n"
        "%Xrow = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> $D\n"
        "%Xy = stablehlo.multiply %Xw, %Xrow : $D\n",
        (("%Xy", "$D"),),
        ("scale-position",),
    ),
}
