"""Programs of dynamic shapes, made static by constants, and of quantized numbers."""

from samples import ALL, sample

_SHAPE = "  %s = stablehlo.constant dense<[5, 3]> : tensor<2xi32>\n"

DYNAMIC = [
    sample(
        "stablehlo.dynamic_reshape",
        ALL,
        "%a: tensor<3x5x$T>",
        "tensor<5x3x$T>",
        _SHAPE + "  %0 = stablehlo.dynamic_reshape %a, %s"
        " : (tensor<3x5x$T>, tensor<2xi32>) -> tensor<5x3x$T>",
    ),
    sample(
        "stablehlo.dynamic_broadcast_in_dim",
        ALL,
        "%a: tensor<3x$T>",
        "tensor<5x3x$T>",
        _SHAPE + "  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1]"
        " : (tensor<3x$T>, tensor<2xi32>) -> tensor<5x3x$T>",
    ),
    sample(
        "stablehlo.dynamic_iota",
        "sufc",
        "",
        "tensor<5x3x$T>",
        _SHAPE + "  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<5x3x$T>",
    ),
    sample(
        "stablehlo.dynamic_pad",
        ALL,
        "%a: tensor<3x$T>, %v: tensor<$T>",
        "tensor<6x$T>",
        "  %l = stablehlo.constant dense<1> : tensor<1xi32>\n"
        "  %h = stablehlo.constant dense<2> : tensor<1xi32>\n"
        "  %i = stablehlo.constant dense<0> : tensor<1xi32>\n"
        "  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i : (tensor<3x$T>, tensor<$T>,"
        " tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6x$T>",
    ),
    sample(
        "stablehlo.dynamic_gather",
        ALL,
        "%a: tensor<4x5x$T>, %i: tensor<3x1xi32>",
        "tensor<3x2x$T>",
        "  %s = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
        '  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {dimension_numbers = #stablehlo.gather<'
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],"
        " index_vector_dim = 1>}"
        " : (tensor<4x5x$T>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x2x$T>",
    ),
    sample(
        "stablehlo.dynamic_conv",
        "sufc",
        "%a: tensor<2x7x3x$T>, %b: tensor<3x3x4x$T>",
        "tensor<2x6x4x$T>",
        "  %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>\n"
        '  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {dimension_numbers ='
        " #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64,"
        " feature_group_count = 1 : i64}"
        " : (tensor<2x7x3x$T>, tensor<3x3x4x$T>, tensor<1x2xi32>) -> tensor<2x6x4x$T>",
    ),
    sample(
        "stablehlo.real_dynamic_slice",
        ALL,
        "%a: tensor<7x$T>",
        "tensor<3x$T>",
        "  %l = stablehlo.constant dense<1> : tensor<1xi32>\n"
        "  %h = stablehlo.constant dense<6> : tensor<1xi32>\n"
        "  %s = stablehlo.constant dense<2> : tensor<1xi32>\n"
        "  %0 = stablehlo.real_dynamic_slice %a, %l, %h, %s : (tensor<7x$T>, tensor<1xi32>,"
        " tensor<1xi32>, tensor<1xi32>) -> tensor<3x$T>",
    ),
    sample(
        "stablehlo.set_dimension_size",
        "",
        "%a: tensor<3x5xf32>, %n: tensor<i32>",
        "tensor<3x?xf32, #stablehlo.bounds<?, 5>>",
        "  %0 = stablehlo.set_dimension_size %a, %n, dim = 1"
        " : (tensor<3x5xf32>, tensor<i32>) -> tensor<3x?xf32, #stablehlo.bounds<?, 5>>",
    ),
    sample(
        "stablehlo.uniform_quantize",
        "",
        "%a: tensor<3x5xf32>",
        "tensor<3x5xi8>",
        "  %q = stablehlo.uniform_quantize %a"
        " : (tensor<3x5xf32>) -> tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>\n"
        "  %0 = stablehlo.bitcast_convert %q"
        " : (tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x5xi8>",
    ),
    sample(
        "stablehlo.uniform_dequantize",
        "",
        "%a: tensor<3x5xf32>",
        "tensor<3x5xf32>",
        "  %q = stablehlo.uniform_quantize %a"
        " : (tensor<3x5xf32>) -> tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>\n"
        "  %r = stablehlo.add %q, %q : tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>\n"
        "  %0 = stablehlo.uniform_dequantize %r"
        " : (tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x5xf32>",
    ),
]
