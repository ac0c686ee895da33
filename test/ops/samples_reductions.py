"""Programs of the ops with a body per element: reductions, windows, map, sort, scatter."""

from samples import ALL, sample

_REDUCERS = {"add": "bsufc", "multiply": "bsufc", "maximum": "bsuf", "minimum": "bsuf",
             "and": "bsu", "or": "bsu", "xor": "bsu"}  # fmt: skip

REDUCTIONS = [
    *(
        sample(
            "stablehlo.reduce",
            kinds,
            "%a: tensor<3x5x$T>, %i: tensor<$T>",
            "tensor<3x$T>",
            f"  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.{name} across dimensions = [1]"
            " : (tensor<3x5x$T>, tensor<$T>) -> tensor<3x$T>",
            name,
        )
        for name, kinds in _REDUCERS.items()
    ),
    sample(
        "stablehlo.reduce",
        "suf",
        "%a: tensor<3x5x$T>, %i: tensor<$T>, %z: tensor<i32>",
        "tensor<3x$T>, tensor<3xi32>",
        """  %k = stablehlo.iota dim = 1 : tensor<3x5xi32>
  %0, %1 = stablehlo.reduce(%a init: %i), (%k init: %z) across dimensions = [1]
    : (tensor<3x5x$T>, tensor<3x5xi32>, tensor<$T>, tensor<i32>) -> (tensor<3x$T>, tensor<3xi32>)
    reducer(%x: tensor<$T>, %y: tensor<$T>) (%m: tensor<i32>, %n: tensor<i32>) {
      %p = stablehlo.compare GE, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
      %v = stablehlo.select %p, %x, %y : tensor<i1>, tensor<$T>
      %w = stablehlo.select %p, %m, %n : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<$T>, tensor<i32>
    }""",
        "argmax",
    ),
    sample(
        "stablehlo.reduce",
        "",
        "%a: tensor<3x5xf8E4M3FN>, %i: tensor<f8E4M3FN>",
        "tensor<3xf32>",
        """  %0 = "stablehlo.reduce"(%a, %i) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<3x5xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3xf32>""",
        "promoting",
    ),
    *(
        sample(
            "stablehlo.reduce_window",
            kinds,
            "%a: tensor<5x7x$T>, %i: tensor<$T>",
            "tensor<4x3x$T>",
            f"""  %0 = "stablehlo.reduce_window"(%a, %i) ({{
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %s = stablehlo.{name} %x, %y : tensor<$T>
      stablehlo.return %s : tensor<$T>
  }}) {{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 3>,
      base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>,
      padding = dense<[[2, 0], [1, 1]]> : tensor<2x2xi64>}}
    : (tensor<5x7x$T>, tensor<$T>) -> tensor<4x3x$T>""",
            name,
        )
        for name, kinds in (("add", "sufc"), ("maximum", "suf"))
    ),
    sample(
        "stablehlo.reduce_window",
        "sf",
        "%a: tensor<5x$T>, %b: tensor<5xi32>, %i: tensor<$T>, %j: tensor<i32>",
        "tensor<4x$T>, tensor<4xi32>",
        """  %0, %1 = "stablehlo.reduce_window"(%a, %b, %i, %j) ({
    ^bb0(%x: tensor<$T>, %m: tensor<i32>, %y: tensor<$T>, %n: tensor<i32>):
      %s = stablehlo.maximum %x, %y : tensor<$T>
      %t = stablehlo.add %m, %n : tensor<i32>
      stablehlo.return %s, %t : tensor<$T>, tensor<i32>
  }) {window_dimensions = array<i64: 2>} : (tensor<5x$T>, tensor<5xi32>, tensor<$T>, tensor<i32>)
    -> (tensor<4x$T>, tensor<4xi32>)""",
        "two inputs",
    ),
    sample(
        "stablehlo.select_and_scatter",
        "suf",
        "%a: tensor<4x6x$T>, %s: tensor<2x2x$T>, %i: tensor<$T>",
        "tensor<4x6x$T>",
        """  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %p = stablehlo.compare GE, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %p = stablehlo.add %x, %y : tensor<$T>
      stablehlo.return %p : tensor<$T>
  }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 3>}
    : (tensor<4x6x$T>, tensor<2x2x$T>, tensor<$T>) -> tensor<4x6x$T>""",
    ),
    sample(
        "stablehlo.map",
        "sufc",
        "%a: tensor<3x5x$T>, %b: tensor<3x5x$T>",
        "tensor<3x5x$T>",
        """  %0 = "stablehlo.map"(%a, %b) ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %s = stablehlo.multiply %x, %y : tensor<$T>
      %t = stablehlo.add %s, %y : tensor<$T>
      stablehlo.return %t : tensor<$T>
  }) {dimensions = array<i64: 0, 1>} : (tensor<3x5x$T>, tensor<3x5x$T>) -> tensor<3x5x$T>""",
    ),
    sample(
        "stablehlo.sort",
        "suf",
        "%a: tensor<3x5x$T>, %k: tensor<3x5xi32>",
        "tensor<3x5x$T>, tensor<3x5xi32>",
        """  %0, %1 = "stablehlo.sort"(%a, %k) ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>, %m: tensor<i32>, %n: tensor<i32>):
      %p = stablehlo.compare LT, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x5x$T>, tensor<3x5xi32>)
    -> (tensor<3x5x$T>, tensor<3x5xi32>)""",
    ),
    sample(
        "stablehlo.gather",
        ALL,
        "%a: tensor<4x5x$T>, %i: tensor<3x1xi32>",
        "tensor<3x2x$T>",
        """  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>} : (tensor<4x5x$T>, tensor<3x1xi32>) -> tensor<3x2x$T>""",
    ),
    *(
        sample(
            "stablehlo.scatter",
            kinds,
            "%a: tensor<4x5x$T>, %i: tensor<3x1xi32>, %u: tensor<3x5x$T>",
            "tensor<4x5x$T>",
            f"""  %0 = "stablehlo.scatter"(%a, %i, %u) ({{
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      {body}
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
    : (tensor<4x5x$T>, tensor<3x1xi32>, tensor<3x5x$T>) -> tensor<4x5x$T>""",
            form,
        )
        for form, kinds, body in (
            ("overwrite", ALL, "stablehlo.return %y : tensor<$T>"),
            (
                "add",
                ALL,
                "%s = stablehlo.add %x, %y : tensor<$T>\n      stablehlo.return %s : tensor<$T>",
            ),
        )
    ),
]
