"""Examples of the ops with bodies, products, algebra and control flow in the specification."""

from spec_examples import Example, example

_IMAGE = [
    [
        [[1], [2], [5], [6]],
        [[3], [4], [7], [8]],
        [[10], [11], [14], [15]],
        [[12], [13], [16], [17]],
    ]
]
_KERNEL = [[[[1]], [[1]], [[1]]]] * 3
_ACTIVATIONS = [[[1.0, 2.0], [3.0, 4.0]], [[3.0, 4.0], [1.0, 2.0]]]
_NORMALIZED = [[[0.0, 0.0], [2.0, 2.0]], [[2.0, 2.0], [0.0, 0.0]]]
_ONES, _MEANS = [1.0, 1.0], [2.0, 3.0]


def _body(op: str, element: str) -> str:
    return f"""{{
    ^bb0(%x: tensor<{element}>, %y: tensor<{element}>):
      %r = stablehlo.{op} %x, %y : tensor<{element}>
      stablehlo.return %r : tensor<{element}>
  }}"""


def _case(index: int, gives: list[int]) -> Example:
    return example(
        "stablehlo.case",
        {"i: i32": index, "a: 2xi64": [0, 0], "b: 2xi64": [1, 1]},
        [("2xi64", gives), ("2xi64", gives)],
        """  %0, %1 = "stablehlo.case"(%i) ({
    stablehlo.return %a, %a : tensor<2xi64>, tensor<2xi64>
  }, {
    stablehlo.return %b, %b : tensor<2xi64>, tensor<2xi64>
  }) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)""",
    )


STRUCTURED = (
    example(
        "stablehlo.batch_norm_grad",
        {
            "a: 2x2x2xf64": _ACTIVATIONS,
            "s: 2xf64": _ONES,
            "m: 2xf64": _MEANS,
            "v: 2xf64": _ONES,
            "g: 2x2x2xf64": [[[0.1] * 2] * 2] * 2,
        },
        [("2x2x2xf64", [[[0.0] * 2] * 2] * 2), ("2xf64", [0.0, 0.0]), ("2xf64", [0.4, 0.4])],
        """  %0, %1, %2 = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g)
    {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x2x2xf64>, tensor<2xf64>,
    tensor<2xf64>, tensor<2xf64>, tensor<2x2x2xf64>)
    -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)""",
    ),
    example(
        "stablehlo.batch_norm_inference",
        {
            "a: 2x2x2xf64": _ACTIVATIONS,
            "s: 2xf64": _ONES,
            "o: 2xf64": _ONES,
            "m: 2xf64": _MEANS,
            "v: 2xf64": _ONES,
        },
        [("2x2x2xf64", _NORMALIZED)],
        """  %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v)
    {epsilon = 0.0 : f32, feature_index = 2 : i64} : (tensor<2x2x2xf64>, tensor<2xf64>,
    tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2x2x2xf64>""",
    ),
    example(
        "stablehlo.batch_norm_training",
        {"a: 2x2x2xf64": _ACTIVATIONS, "s: 2xf64": _ONES, "o: 2xf64": _ONES},
        [("2x2x2xf64", _NORMALIZED), ("2xf64", _MEANS), ("2xf64", _ONES)],
        """  %0, %1, %2 = "stablehlo.batch_norm_training"(%a, %s, %o)
    {epsilon = 0.0 : f32, feature_index = 2 : i64}
    : (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
    -> (tensor<2x2x2xf64>, tensor<2xf64>, tensor<2xf64>)""",
    ),
    _case(-1, [1, 1]),
    _case(0, [0, 0]),
    example(
        "stablehlo.cholesky",
        {"a: 3x3xf32": [[1.0, 2.0, 3.0], [2.0, 20.0, 26.0], [3.0, 26.0, 70.0]]},
        [("3x3xf32", [[1.0, 0.0, 0.0], [2.0, 4.0, 0.0], [3.0, 5.0, 6.0]])],
        "  %0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>",
    ),
    example(
        "stablehlo.composite",
        {"a: f32": 2.0},
        [("f32", 3.0)],
        """  %0 = stablehlo.composite "my.op" %a {composite_attributes = {my_attribute = "x"},
    decomposition = @my_op, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @my_op(%x: tensor<f32>) -> tensor<f32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.add %x, %one : tensor<f32>""",
    ),
    example(
        "stablehlo.convolution",
        {"a: 1x4x4x1xi64": _IMAGE, "b: 3x3x1x1xi64": _KERNEL},
        [("1x2x2x1xi64", [[[[10], [26]], [[46], [62]]]])],
        "  %0 = stablehlo.convolution(%a, %b)"
        " dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],"
        " window = {stride = [4, 4], lhs_dilate = [2, 2]}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>) -> tensor<1x2x2x1xi64>",
    ),
    example(
        "stablehlo.dot_general",
        {
            "a: 2x2x2xi64": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
            "b: 2x2x2xi64": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]],
        },
        [("2x2x2xi64", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]])],
        "  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0],"
        " contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT]"
        " : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>",
    ),
    example(
        "stablehlo.fft",
        {"a: 4xcomplex<f32>": [1, 0, 0, 0]},
        [("4xcomplex<f32>", [1, 1, 1, 1])],
        "  %0 = stablehlo.fft %a, type = FFT, length = [4]"
        " : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>",
    ),
    example(
        "stablehlo.if",
        {"p: i1": True, "a: i32": 10, "b: i32": 11},
        [("i32", 10)],
        """  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %b : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>""",
    ),
    example(
        "stablehlo.map",
        {"a: 2x2xi64": [[0, 1], [2, 3]], "b: 2x2xi64": [[4, 5], [6, 7]]},
        [("2x2xi64", [[0, 5], [12, 21]])],
        f"""  %0 = "stablehlo.map"(%a, %b) ({_body("multiply", "i64")})
    {{dimensions = array<i64: 0, 1>}} : (tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xi64>""",
    ),
    example(
        "stablehlo.reduce",
        {"a: 1x6xi64": [[0, 1, 2, 3, 4, 5]], "i: i64": 0},
        [("1xi64", [15])],
        f"""  %0 = "stablehlo.reduce"(%a, %i) ({_body("add", "i64")})
    {{dimensions = array<i64: 1>}} : (tensor<1x6xi64>, tensor<i64>) -> tensor<1xi64>""",
    ),
    example(
        "stablehlo.reduce_window",
        {"a: 3x2xi64": [[1, 2], [3, 4], [5, 6]], "i: i64": 0},
        [("2x2xi64", [[0, 0], [3, 4]])],
        f"""  %0 = "stablehlo.reduce_window"(%a, %i) ({_body("add", "i64")})
    {{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>,
      base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>,
      padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}}
    : (tensor<3x2xi64>, tensor<i64>) -> tensor<2x2xi64>""",
    ),
    example(
        "stablehlo.rng_bit_generator",
        {"s: 2xui64": [1, 2]},
        [
            ("2xui64", [1, 6]),
            (
                "2x2xui64",
                [
                    [9236835810183407956, 16087790271692313299],
                    [18212823393184779219, 2658481902456610144],
                ],
            ),
        ],
        "  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY"
        " : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui64>)",
    ),
    example(
        "stablehlo.select_and_scatter",
        {
            "a: 4x2xi64": [[1, 5], [2, 5], [3, 6], [4, 4]],
            "s: 2x2xi64": [[5, 6], [7, 8]],
            "i: i64": 0,
        },
        [("4x2xi64", [[0, 0], [0, 0], [5, 14], [7, 0]])],
        f"""  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({{
    ^bb0(%x: tensor<i64>, %y: tensor<i64>):
      %p = stablehlo.compare GE, %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }}, {_body("add", "i64")}) {{window_dimensions = array<i64: 3, 1>,
      window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}}
    : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x2xi64>""",
    ),
    example(
        "stablehlo.scatter",
        {
            "a: 3x4x2xi64": [
                [[1, 2], [3, 4], [5, 6], [7, 8]],
                [[9, 10], [11, 12], [13, 14], [15, 16]],
                [[17, 18], [19, 20], [21, 22], [23, 24]],
            ],
            "i: 2x3x2xi64": [[[0, 2], [1, 0], [2, 1]], [[0, 1], [1, 0], [2, 0]]],
            "u: 2x3x2x2xi64": [[[[1, 1], [1, 1]]] * 3] * 2,
        },
        [
            (
                "3x4x2xi64",
                [
                    [[1, 2], [5, 6], [8, 9], [8, 9]],
                    [[10, 11], [12, 13], [14, 15], [16, 17]],
                    [[18, 19], [20, 21], [21, 22], [23, 24]],
                ],
            )
        ],
        f"""  %0 = "stablehlo.scatter"(%a, %i, %u) ({_body("add", "i64")})
    {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>,
      indices_are_sorted = false, unique_indices = false}}
    : (tensor<3x4x2xi64>, tensor<2x3x2xi64>, tensor<2x3x2x2xi64>) -> tensor<3x4x2xi64>""",
    ),
    example(
        "stablehlo.sort",
        {"a: 2x3xi64": [[1, 2, 3], [3, 2, 1]], "b: 2x3xi64": [[3, 2, 1], [1, 2, 3]]},
        [("2x3xi64", [[3, 2, 3], [1, 2, 1]]), ("2x3xi64", [[1, 2, 1], [3, 2, 3]])],
        """  %0, %1 = "stablehlo.sort"(%a, %b) ({
    ^bb0(%x: tensor<i64>, %y: tensor<i64>, %m: tensor<i64>, %n: tensor<i64>):
      %p = stablehlo.compare GT, %x, %y : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<2x3xi64>, tensor<2x3xi64>)
    -> (tensor<2x3xi64>, tensor<2x3xi64>)""",
    ),
    example(
        "stablehlo.triangular_solve",
        {
            "a: 3x3xf32": [[1.0, 0.0, 0.0], [2.0, 4.0, 0.0], [3.0, 5.0, 6.0]],
            "b: 3x3xf32": [[2.0, 0.0, 0.0], [4.0, 8.0, 0.0], [6.0, 10.0, 12.0]],
        },
        [("3x3xf32", [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])],
        """  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true,
    unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
    : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>""",
    ),
    example(
        "stablehlo.while",
        {"i: i64": 0, "s: i64": 0, "one: i64": 1, "ten: i64": 10},
        [("i64", 10), ("i64", 10)],
        """  %0, %1 = stablehlo.while(%j = %i, %t = %s) : tensor<i64>, tensor<i64>
    cond {
      %p = stablehlo.compare LT, %j, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %u = stablehlo.add %t, %one : tensor<i64>
      %k = stablehlo.add %j, %one : tensor<i64>
      stablehlo.return %k, %u : tensor<i64>, tensor<i64>
    }""",
    ),
)
