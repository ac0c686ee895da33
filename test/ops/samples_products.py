"""Programs of products."""

from samples import sample

PRODUCTS = [
    sample(
        "stablehlo.dot_general",
        "sufc",
        "%a: tensor<2x3x4x$T>, %b: tensor<2x5x4x$T>",
        "tensor<2x3x5x$T>",
        "  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0],"
        " contracting_dims = [2] x [2] : (tensor<2x3x4x$T>, tensor<2x5x4x$T>)"
        " -> tensor<2x3x5x$T>",
    ),
    sample(
        "stablehlo.dot_general",
        "f",
        "%a: tensor<3x4x$T>, %b: tensor<4x5xf8E5M2>",
        "tensor<3x5xf32>",
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<3x4x$T>, tensor<4x5xf8E5M2>) -> tensor<3x5xf32>",
        "mixed, to f32",
    ),
    sample(
        "stablehlo.dot_general",
        "su",
        "%a: tensor<3x4x$T>, %b: tensor<4x5x$T>",
        "tensor<3x5xi32>",
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<3x4x$T>, tensor<4x5x$T>) -> tensor<3x5xi32>",
        "to i32",
    ),
    sample(
        "stablehlo.dot_general",
        "",
        "%a: tensor<3x4xf32>, %b: tensor<4x5xf32>",
        "tensor<3x5xf32>",
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0],"
        " algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32,"
        " lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,"
        " allow_imprecise_accumulation = false>"
        " : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>",
        "algorithm",
    ),
    sample(
        "stablehlo.dot",
        "sufc",
        "%a: tensor<3x4x$T>, %b: tensor<4x$T>",
        "tensor<3x$T>",
        "  %0 = stablehlo.dot %a, %b : (tensor<3x4x$T>, tensor<4x$T>) -> tensor<3x$T>",
    ),
    sample(
        "stablehlo.einsum",
        "sufc",
        "%a: tensor<2x3x4x$T>, %b: tensor<2x4x5x$T>",
        "tensor<2x3x5x$T>",
        '  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bij,bjk->bik"}'
        " : (tensor<2x3x4x$T>, tensor<2x4x5x$T>) -> tensor<2x3x5x$T>",
    ),
    sample(
        "stablehlo.unary_einsum",
        "sufc",
        "%a: tensor<3x4x$T>",
        "tensor<3x$T>",
        '  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->i"}'
        " : (tensor<3x4x$T>) -> tensor<3x$T>",
    ),
    *(
        sample(
            "stablehlo.convolution",
            "sufc",
            f"%a: tensor<{image}x$T>, %b: tensor<{kernel}x$T>",
            f"tensor<{result}x$T>",
            f"  %0 = stablehlo.convolution(%a, %b) {rest}"
            f" : (tensor<{image}x$T>, tensor<{kernel}x$T>) -> tensor<{result}x$T>",
            form,
        )
        for form, image, kernel, result, rest in (
            (
                "1-D",
                "2x7x3",
                "3x3x4",
                "2x5x4",
                "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}"
                " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
            ),
            (
                "2-D, grouped, strided, padded",
                "1x6x5x4",
                "3x2x2x6",
                "1x3x5x6",
                "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1],"
                " pad = [[1, 0], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2"
                " : i64}",
            ),
            (
                "batch-grouped",
                "4x5x3",
                "2x3x6",
                "2x4x6",
                "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}"
                " {batch_group_count = 2 : i64, feature_group_count = 1 : i64}",
            ),
            (
                "dilated both ways, reversed, cropped",
                "1x5x2",
                "2x2x3",
                "1x6x3",
                "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-1, 1]],"
                " lhs_dilate = [2], rhs_dilate = [3], reverse = [true]}"
                " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
            ),
            (
                "3-D",
                "1x3x4x3x2",
                "2x2x2x2x3",
                "1x2x3x2x3",
                "dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {}"
                " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
            ),
        )
    ),
    sample(
        "stablehlo.convolution",
        "f",
        "%a: tensor<1x6x2x$T>, %b: tensor<3x2x4x$T>",
        "tensor<1x4x4xf32>",
        "  %0 = stablehlo.convolution(%a, %b) dim_numbers ="
        " [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64,"
        " feature_group_count = 1 : i64} : (tensor<1x6x2x$T>, tensor<3x2x4x$T>)"
        " -> tensor<1x4x4xf32>",
        "to f32",
    ),
]
