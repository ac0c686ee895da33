"""Programs of linear algebra, Fourier transforms, random numbers and normalization."""

from samples import sample

ALGEBRA = [
    sample(
        "stablehlo.cholesky",
        "fc",
        "%a: tensor<2x3x3x$T>",
        "tensor<2x3x3x$T>",
        "  %0 = stablehlo.cholesky %a, lower = true : tensor<2x3x3x$T>",
    ),
    sample(
        "stablehlo.triangular_solve",
        "fc",
        "%a: tensor<2x3x3x$T>, %b: tensor<2x3x4x$T>",
        "tensor<2x3x4x$T>",
        '  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true,'
        " lower = true, unit_diagonal = false,"
        " transpose_a = #stablehlo<transpose NO_TRANSPOSE>}"
        " : (tensor<2x3x3x$T>, tensor<2x3x4x$T>) -> tensor<2x3x4x$T>",
    ),
    *(
        sample(
            "stablehlo.fft",
            kinds,
            f"%a: tensor<{shape}x{of}>",
            f"tensor<{to_shape}x{to}>",
            f"  %0 = stablehlo.fft %a, type = {kind}, length = [{length}]"
            f" : (tensor<{shape}x{of}>) -> tensor<{to_shape}x{to}>",
            kind,
        )
        for kinds, kind, shape, of, to_shape, to, length in (
            ("c", "FFT", "2x6", "$T", "2x6", "$T", "6"),
            ("c", "IFFT", "2x3x4", "$T", "2x3x4", "$T", "3, 4"),
            ("w", "RFFT", "2x7", "$T", "2x4", "complex<$T>", "7"),
            ("c", "IRFFT", "2x4", "$T", "2x7", "$R", "7"),
        )
    ),
    *(
        sample(
            "stablehlo.rng_bit_generator",
            "suf",
            f"%s: tensor<{state}xui64>",
            f"tensor<{state}xui64>, tensor<3x5x$T>",
            f"  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm}"
            f" : (tensor<{state}xui64>) -> (tensor<{state}xui64>, tensor<3x5x$T>)",
            f"{algorithm} of {state}",
        )
        for algorithm, state in (("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2))
    ),
    *(
        sample(
            "stablehlo.rng",
            kinds,
            "%l: tensor<$T>, %h: tensor<$T>",
            "tensor<3x5x$T>",
            "  %s = stablehlo.constant dense<[3, 5]> : tensor<2xi64>\n"
            f"  %0 = stablehlo.rng %l, %h, %s, distribution = {distribution}"
            " : (tensor<$T>, tensor<$T>, tensor<2xi64>) -> tensor<3x5x$T>",
            distribution,
        )
        for distribution, kinds in (("UNIFORM", "bsuf"), ("NORMAL", "f"))
    ),
    sample(
        "stablehlo.batch_norm_inference",
        "f",
        "%a: tensor<2x3x4x$T>, %s: tensor<4x$T>,"
        " %o: tensor<4x$T>, %m: tensor<4x$T>, %v: tensor<4x$T>",
        "tensor<2x3x4x$T>",
        '  %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v) {epsilon = 0.5 : f32,'
        " feature_index = 2 : i64} : (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>,"
        " tensor<4x$T>, tensor<4x$T>) -> tensor<2x3x4x$T>",
    ),
    sample(
        "stablehlo.batch_norm_training",
        "f",
        "%a: tensor<2x3x4x$T>, %s: tensor<4x$T>, %o: tensor<4x$T>",
        "tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>",
        '  %0, %1, %2 = "stablehlo.batch_norm_training"(%a, %s, %o) {epsilon = 0.5 : f32,'
        " feature_index = 2 : i64} : (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>)"
        " -> (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>)",
    ),
    sample(
        "stablehlo.batch_norm_grad",
        "f",
        "%a: tensor<2x3x4x$T>, %s: tensor<4x$T>,"
        " %m: tensor<4x$T>, %v: tensor<4x$T>, %g: tensor<2x3x4x$T>",
        "tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>",
        '  %0, %1, %2 = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) {epsilon = 0.5 : f32,'
        " feature_index = 2 : i64} : (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>, tensor<4x$T>,"
        " tensor<2x3x4x$T>) -> (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>)",
    ),
]
