"""Examples of the elementwise ops in the StableHLO specification."""

from math import inf, nan, pi

from spec_examples import elementwise

_TURNS = [[0.0, pi / 2], [pi, 3 * pi / 2]]
_LHS, _RHS = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
_BOOLEANS = [[False, False], [True, True]], [[False, True], [False, True]]

ELEMENTWISE = (
    elementwise("stablehlo.abs", "3xi32", [-2, 0, 2], gives=[2, 0, 2]),
    elementwise("stablehlo.add", "2x2xi32", _LHS, _RHS, gives=[[6, 8], [10, 12]]),
    elementwise("stablehlo.and", "2x2xi32", _LHS, _RHS, gives=[[1, 2], [3, 0]]),
    elementwise(
        "stablehlo.atan2", "3xf64", [0.0, 1.0, -1.0], [0.0] * 3, gives=[0.0, pi / 2, -pi / 2]
    ),
    elementwise("stablehlo.cbrt", "4xf64", [0.0, 1.0, 8.0, 27.0], gives=[0.0, 1.0, 2.0, 3.0]),
    elementwise(
        "stablehlo.ceil",
        "5xf32",
        [-0.8166, -0.2530, 0.2530, 0.8166, 2.0],
        gives=[-0.0, -0.0, 1.0, 1.0, 2.0],
    ),
    elementwise(
        "stablehlo.clamp", "3xi32", [5, 10, 15], [3, 13, 23], [10, 15, 20], gives=[5, 13, 20]
    ),
    elementwise(
        "stablehlo.compare",
        "2xf32",
        [1.0, 3.0],
        [1.1, 2.9],
        gives=[True, False],
        to="2xi1",
        attributes="{comparison_direction = #stablehlo<comparison_direction LT>,"
        " compare_type = #stablehlo<comparison_type FLOAT>}",
    ),
    elementwise(
        "stablehlo.complex",
        "2xf32",
        [1.0, 3.0],
        [2.0, 4.0],
        gives=[1 + 2j, 3 + 4j],
        to="2xcomplex<f32>",
    ),
    elementwise("stablehlo.convert", "3xi32", [-1, 0, 1], gives=[-1, 0, 1], to="3xcomplex<f64>"),
    elementwise("stablehlo.cosine", "2x2xf32", _TURNS, gives=[[1.0, 0.0], [-1.0, 0.0]]),
    elementwise(
        "stablehlo.count_leading_zeros",
        "2x2xi64",
        [[0, 1], [128, -1]],
        gives=[[64, 63], [56, 0]],
    ),
    elementwise(
        "stablehlo.divide",
        "4xf32",
        [17.1, -17.1, 17.1, -17.1],
        [3.0, 3.0, -3.0, -3.0],
        gives=[5.7, -5.7, -5.7, 5.7],  # it prints those of 17.0
    ),
    elementwise(
        "stablehlo.divide", "4xi32", [17, -17, 17, -17], [3, 3, -3, -3], gives=[5, -5, -5, 5]
    ),
    elementwise(
        "stablehlo.exponential",
        "2x2xf64",
        [[0.0, 1.0], [2.0, 3.0]],
        gives=[[1.0, 2.7182818284590451], [7.3890560989306504, 20.085536923187668]],
    ),
    elementwise("stablehlo.exponential_minus_one", "2xf64", [0.0, 1.0], gives=[0.0, 1.71828187]),
    elementwise(
        "stablehlo.floor",
        "5xf32",
        [-0.8166, -0.2530, 0.2530, 0.8166, 2.0],
        gives=[-1.0, -1.0, 0.0, 0.0, 2.0],
    ),
    elementwise("stablehlo.imag", "2xcomplex<f32>", [1 + 2j, 3 + 4j], gives=[2.0, 4.0], to="2xf32"),
    elementwise(
        "stablehlo.is_finite",
        "7xf64",
        [-inf, inf, nan, -10.0, -0.0, 0.0, 10.0],
        gives=[False, False, False, True, True, True, True],
        to="7xi1",
    ),
    elementwise(
        "stablehlo.log",
        "2x2xf64",
        [[1.0, 2.0], [3.0, 4.0]],
        gives=[[0.0, 0.69314718055994529], [1.0986122886681098, 1.3862943611198906]],
    ),
    elementwise(
        "stablehlo.log_plus_one",
        "5xf64",
        [0.0, -0.999, 7.0, 6.38905621, 15.0],
        gives=[0.0, -6.90775528, 2.07944155, 2.0, 2.77258873],  # it prints -6.90776825
    ),
    elementwise(
        "stablehlo.logistic",
        "2x2xf64",
        [[0.0, 1.0], [2.0, 3.0]],
        gives=[[0.5, 0.73105858], [0.88079708, 0.95257413]],
    ),
    elementwise(
        "stablehlo.maximum", "2x2xi32", [[1, 2], [7, 8]], [[5, 6], [3, 4]], gives=[[5, 6], [7, 8]]
    ),
    elementwise(
        "stablehlo.minimum", "2x2xi32", [[1, 2], [7, 8]], [[5, 6], [3, 4]], gives=[[1, 2], [3, 4]]
    ),
    elementwise("stablehlo.multiply", "2x2xi32", _LHS, _RHS, gives=[[5, 12], [21, 32]]),
    elementwise("stablehlo.negate", "2xi32", [0, -2], gives=[0, 2]),
    elementwise("stablehlo.negate", "1xcomplex<f32>", [2.5 + 0j], gives=[-2.5 - 0j]),
    elementwise("stablehlo.not", "2x2xi32", _LHS, gives=[[-2, -3], [-4, -5]]),
    elementwise("stablehlo.not", "2xi1", [True, False], gives=[False, True]),
    elementwise("stablehlo.or", "2x2xi32", _LHS, _RHS, gives=[[5, 6], [7, 12]]),
    elementwise("stablehlo.or", "2x2xi1", *_BOOLEANS, gives=[[False, True], [True, True]]),
    elementwise("stablehlo.popcnt", "4xi64", [0, 1, 2, 127], gives=[0, 1, 1, 7]),
    elementwise(
        "stablehlo.power",
        "6xf64",
        [-2.0, -0.0, -36.0, 5.0, 3.0, 10000.0],
        [2.0, 2.0, 1.1, 2.0, -1.0, 10.0],
        gives=[4.0, 0.0, nan, 25.0, 0.333333343, 1e40],
    ),
    elementwise("stablehlo.real", "2xcomplex<f32>", [1 + 2j, 3 + 4j], gives=[1.0, 3.0], to="2xf32"),
    elementwise(
        "stablehlo.reduce_precision",
        "6xf32",
        [-inf, inf, nan, 0.0, 1000.0, 1000000.0],
        gives=[-inf, inf, nan, 0.0, 1024.0, inf],
        attributes="{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}",
    ),
    elementwise(
        "stablehlo.remainder", "4xi64", [17, -17, 17, -17], [3, 3, -3, -3], gives=[2, -2, 2, -2]
    ),
    elementwise(
        "stablehlo.round_nearest_afz",
        "5xf64",
        [-2.5, 0.4, 0.5, 0.6, 2.5],
        gives=[-3.0, 0.0, 1.0, 1.0, 3.0],
    ),
    elementwise(
        "stablehlo.round_nearest_even",
        "5xf64",
        [-2.5, 0.4, 0.5, 0.6, 2.5],
        gives=[-2.0, 0.0, 0.0, 1.0, 2.0],
    ),
    elementwise(
        "stablehlo.rsqrt",
        "2x2xf32",
        [[1.0, 4.0], [9.0, 25.0]],
        gives=[[1.0, 0.5], [0.33333343, 0.2]],
    ),
    elementwise("stablehlo.shift_left", "3xi64", [-1, 0, 1], [1, 2, 3], gives=[-2, 0, 8]),
    elementwise(
        "stablehlo.shift_right_arithmetic", "3xi64", [-1, 0, 8], [1, 2, 3], gives=[-1, 0, 1]
    ),
    elementwise(
        "stablehlo.shift_right_logical",
        "3xi64",
        [-1, 0, 8],
        [1, 2, 3],
        gives=[9223372036854775807, 0, 1],
    ),
    elementwise(
        "stablehlo.sign",
        "5xf64",
        [nan, -1.0, -0.0, 0.0, 1.0],
        gives=[nan, -1.0, -0.0, 0.0, 1.0],
    ),
    elementwise("stablehlo.sine", "2x2xf32", _TURNS, gives=[[0.0, 1.0], [0.0, -1.0]]),
    elementwise(
        "stablehlo.sqrt", "2x2xf32", [[0.0, 1.0], [4.0, 9.0]], gives=[[0.0, 1.0], [2.0, 3.0]]
    ),
    elementwise(
        "stablehlo.subtract",
        "2x2xf32",
        [[6, 8], [10, 12]],
        [[5, 6], [7, 8]],
        gives=[[1, 2], [3, 4]],
    ),
    elementwise("stablehlo.tan", "2xf64", [0.0, pi], gives=[0.0, 0.0]),
    elementwise("stablehlo.tanh", "3xf32", [-1.0, 0.0, 1.0], gives=[-0.76159416, 0.0, 0.76159416]),
    elementwise("stablehlo.xor", "2x2xi32", _LHS, _RHS, gives=[[4, 4], [4, 12]]),
    elementwise("stablehlo.xor", "2x2xi1", *_BOOLEANS, gives=[[False, True], [True, False]]),
)
