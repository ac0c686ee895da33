"""Programs of the ops with bodies, windows, products, control flow and effects; see samples.py."""

from samples import Sample, _function, _op

_ALL = "bsufc"

_REDUCERS = {"add": "bsufc", "multiply": "bsufc", "maximum": "bsuf", "minimum": "bsuf",
             "and": "bsu", "or": "bsu", "xor": "bsu"}  # fmt: skip

REDUCTIONS = [
    *(
        _op("stablehlo.reduce", kinds, "%a: tensor<3x5x$T>, %i: tensor<$T>", "tensor<3x$T>",
            f"  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.{name} across dimensions = [1]"
            " : (tensor<3x5x$T>, tensor<$T>) -> tensor<3x$T>", name)
        for name, kinds in _REDUCERS.items()
    ),
    _op("stablehlo.reduce", "suf", "%a: tensor<3x5x$T>, %i: tensor<$T>, %z: tensor<i32>",
        "tensor<3x$T>, tensor<3xi32>", """  %k = stablehlo.iota dim = 1 : tensor<3x5xi32>
  %0, %1 = stablehlo.reduce(%a init: %i), (%k init: %z) across dimensions = [1]
    : (tensor<3x5x$T>, tensor<3x5xi32>, tensor<$T>, tensor<i32>) -> (tensor<3x$T>, tensor<3xi32>)
    reducer(%x: tensor<$T>, %y: tensor<$T>) (%m: tensor<i32>, %n: tensor<i32>) {
      %p = stablehlo.compare GE, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
      %v = stablehlo.select %p, %x, %y : tensor<i1>, tensor<$T>
      %w = stablehlo.select %p, %m, %n : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<$T>, tensor<i32>
    }""", "argmax"),
    _op("stablehlo.reduce", "", "%a: tensor<3x5xf8E4M3FN>, %i: tensor<f8E4M3FN>", "tensor<3xf32>",
        """  %0 = "stablehlo.reduce"(%a, %i) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<3x5xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<3xf32>""",
        "promoting"),
    *(
        _op("stablehlo.reduce_window", kinds, "%a: tensor<5x7x$T>, %i: tensor<$T>",
            "tensor<4x3x$T>", f"""  %0 = "stablehlo.reduce_window"(%a, %i) ({{
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %s = stablehlo.{name} %x, %y : tensor<$T>
      stablehlo.return %s : tensor<$T>
  }}) {{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 3>,
      base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>,
      padding = dense<[[2, 0], [1, 1]]> : tensor<2x2xi64>}}
    : (tensor<5x7x$T>, tensor<$T>) -> tensor<4x3x$T>""", name)
        for name, kinds in (("add", "sufc"), ("maximum", "suf"))
    ),
    _op("stablehlo.reduce_window", "sf", "%a: tensor<5x$T>, %b: tensor<5xi32>, %i: tensor<$T>,"
        " %j: tensor<i32>", "tensor<4x$T>, tensor<4xi32>",
        """  %0, %1 = "stablehlo.reduce_window"(%a, %b, %i, %j) ({
    ^bb0(%x: tensor<$T>, %m: tensor<i32>, %y: tensor<$T>, %n: tensor<i32>):
      %s = stablehlo.maximum %x, %y : tensor<$T>
      %t = stablehlo.add %m, %n : tensor<i32>
      stablehlo.return %s, %t : tensor<$T>, tensor<i32>
  }) {window_dimensions = array<i64: 2>} : (tensor<5x$T>, tensor<5xi32>, tensor<$T>, tensor<i32>)
    -> (tensor<4x$T>, tensor<4xi32>)""", "two inputs"),
    _op("stablehlo.select_and_scatter", "suf", "%a: tensor<4x6x$T>, %s: tensor<2x2x$T>,"
        " %i: tensor<$T>", "tensor<4x6x$T>", """  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %p = stablehlo.compare GE, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }, {
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %p = stablehlo.add %x, %y : tensor<$T>
      stablehlo.return %p : tensor<$T>
  }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 3>}
    : (tensor<4x6x$T>, tensor<2x2x$T>, tensor<$T>) -> tensor<4x6x$T>"""),
    _op("stablehlo.map", "sufc", "%a: tensor<3x5x$T>, %b: tensor<3x5x$T>", "tensor<3x5x$T>",
        """  %0 = "stablehlo.map"(%a, %b) ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %s = stablehlo.multiply %x, %y : tensor<$T>
      %t = stablehlo.add %s, %y : tensor<$T>
      stablehlo.return %t : tensor<$T>
  }) {dimensions = array<i64: 0, 1>} : (tensor<3x5x$T>, tensor<3x5x$T>) -> tensor<3x5x$T>"""),
    _op("stablehlo.sort", "suf", "%a: tensor<3x5x$T>, %k: tensor<3x5xi32>",
        "tensor<3x5x$T>, tensor<3x5xi32>", """  %0, %1 = "stablehlo.sort"(%a, %k) ({
    ^bb0(%x: tensor<$T>, %y: tensor<$T>, %m: tensor<i32>, %n: tensor<i32>):
      %p = stablehlo.compare LT, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x5x$T>, tensor<3x5xi32>)
    -> (tensor<3x5x$T>, tensor<3x5xi32>)"""),
    _op("stablehlo.gather", _ALL, "%a: tensor<4x5x$T>, %i: tensor<3x1xi32>", "tensor<3x2x$T>",
        """  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>} : (tensor<4x5x$T>, tensor<3x1xi32>) -> tensor<3x2x$T>"""),
    *(
        _op("stablehlo.scatter", kinds, "%a: tensor<4x5x$T>, %i: tensor<3x1xi32>,"
            " %u: tensor<3x5x$T>", "tensor<4x5x$T>", f"""  %0 = "stablehlo.scatter"(%a, %i, %u) ({{
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      {body}
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
    : (tensor<4x5x$T>, tensor<3x1xi32>, tensor<3x5x$T>) -> tensor<4x5x$T>""", form)
        for form, kinds, body in (
            ("overwrite", _ALL, "stablehlo.return %y : tensor<$T>"),
            ("add", _ALL, "%s = stablehlo.add %x, %y : tensor<$T>\n"
                          "      stablehlo.return %s : tensor<$T>"),
        )
    ),
]

PRODUCTS = [
    _op("stablehlo.dot_general", "sufc", "%a: tensor<2x3x4x$T>, %b: tensor<2x5x4x$T>",
        "tensor<2x3x5x$T>", "  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0],"
        " contracting_dims = [2] x [2] : (tensor<2x3x4x$T>, tensor<2x5x4x$T>)"
        " -> tensor<2x3x5x$T>"),
    _op("stablehlo.dot_general", "f", "%a: tensor<3x4x$T>, %b: tensor<4x5xf8E5M2>",
        "tensor<3x5xf32>", "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<3x4x$T>, tensor<4x5xf8E5M2>) -> tensor<3x5xf32>", "mixed, to f32"),
    _op("stablehlo.dot_general", "su", "%a: tensor<3x4x$T>, %b: tensor<4x5x$T>",
        "tensor<3x5xi32>", "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<3x4x$T>, tensor<4x5x$T>) -> tensor<3x5xi32>", "to i32"),
    _op("stablehlo.dot_general", "", "%a: tensor<3x4xf32>, %b: tensor<4x5xf32>",
        "tensor<3x5xf32>", "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0],"
        " algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32,"
        " lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1,"
        " allow_imprecise_accumulation = false>"
        " : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>", "algorithm"),
    _op("stablehlo.dot", "sufc", "%a: tensor<3x4x$T>, %b: tensor<4x$T>", "tensor<3x$T>",
        "  %0 = stablehlo.dot %a, %b : (tensor<3x4x$T>, tensor<4x$T>) -> tensor<3x$T>"),
    _op("stablehlo.einsum", "sufc", "%a: tensor<2x3x4x$T>, %b: tensor<2x4x5x$T>",
        "tensor<2x3x5x$T>", '  %0 = "stablehlo.einsum"(%a, %b) {einsum_config = "bij,bjk->bik"}'
        " : (tensor<2x3x4x$T>, tensor<2x4x5x$T>) -> tensor<2x3x5x$T>"),
    _op("stablehlo.unary_einsum", "sufc", "%a: tensor<3x4x$T>", "tensor<3x$T>",
        '  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->i"}'
        " : (tensor<3x4x$T>) -> tensor<3x$T>"),
    *(
        _op("stablehlo.convolution", "sufc", f"%a: tensor<{image}x$T>, %b: tensor<{kernel}x$T>",
            f"tensor<{result}x$T>", f"  %0 = stablehlo.convolution(%a, %b) {rest}"
            f" : (tensor<{image}x$T>, tensor<{kernel}x$T>) -> tensor<{result}x$T>", form)
        for form, image, kernel, result, rest in (
            ("1-D", "2x7x3", "3x3x4", "2x5x4",
             "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}"
             " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"),
            ("2-D, grouped, strided, padded", "1x6x5x4", "3x2x2x6", "1x3x5x6",
             "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1],"
             " pad = [[1, 0], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2"
             " : i64}"),
            ("batch-grouped", "4x5x3", "2x3x6", "2x4x6",
             "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}"
             " {batch_group_count = 2 : i64, feature_group_count = 1 : i64}"),
            ("dilated both ways, reversed, cropped", "1x5x2", "2x2x3", "1x6x3",
             "dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-1, 1]],"
             " lhs_dilate = [2], rhs_dilate = [3], reverse = [true]}"
             " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"),
            ("3-D", "1x3x4x3x2", "2x2x2x2x3", "1x2x3x2x3",
             "dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {}"
             " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"),
        )
    ),
    _op("stablehlo.convolution", "f", "%a: tensor<1x6x2x$T>, %b: tensor<3x2x4x$T>",
        "tensor<1x4x4xf32>", "  %0 = stablehlo.convolution(%a, %b) dim_numbers ="
        " [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64,"
        " feature_group_count = 1 : i64} : (tensor<1x6x2x$T>, tensor<3x2x4x$T>)"
        " -> tensor<1x4x4xf32>", "to f32"),
]

CONTROL = [
    _op("stablehlo.while", _ALL, "%a: tensor<4x$T>, %n: tensor<i32>", "tensor<i32>, tensor<4x$T>",
        """  %0, %1 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<4x$T>
    cond {
      %c = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %c : tensor<i32>
      %y = stablehlo.reverse %x, dims = [0] : tensor<4x$T>
      stablehlo.return %j, %y : tensor<i32>, tensor<4x$T>
    }"""),
    _op("stablehlo.if", _ALL, "%p: tensor<i1>, %a: tensor<3x$T>, %b: tensor<3x$T>", "tensor<3x$T>",
        """  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<3x$T>
  }, {
    %r = stablehlo.reverse %b, dims = [0] : tensor<3x$T>
    stablehlo.return %r : tensor<3x$T>
  }) : (tensor<i1>) -> tensor<3x$T>"""),
    _op("stablehlo.case", _ALL, "%i: tensor<i32>, %a: tensor<3x$T>, %b: tensor<3x$T>",
        "tensor<3x$T>", """  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<3x$T>
  }, {
    stablehlo.return %b : tensor<3x$T>
  }, {
    %r = stablehlo.reverse %b, dims = [0] : tensor<3x$T>
    stablehlo.return %r : tensor<3x$T>
  }) : (tensor<i32>) -> tensor<3x$T>"""),
    _op("stablehlo.composite", "f", "%a: tensor<3x$T>", "tensor<3x$T>",
        '  %0 = stablehlo.composite "mine.twice" %a {decomposition = @twice}'
        " : (tensor<3x$T>) -> tensor<3x$T>"),
    Sample("stablehlo.custom_call", _function("%a: tensor<3xf32>", "tensor<3xf32>",
        "  %0 = stablehlo.custom_call @nobody_knows(%a) : (tensor<3xf32>) -> tensor<3xf32>\n"
        "  return %0 : tensor<3xf32>"), "", "unknown target"),
    Sample("stablehlo.after_all", _function("%a: tensor<3xf32>", "tensor<3xf32>",
        "  %t = stablehlo.create_token : !stablehlo.token\n"
        "  %u = stablehlo.after_all %t, %t : !stablehlo.token\n"
        "  return %a : tensor<3xf32>")),
    Sample("stablehlo.create_token", _function("%a: tensor<3xf32>", "tensor<3xf32>",
        "  %t = stablehlo.create_token : !stablehlo.token\n  return %a : tensor<3xf32>")),
]
CONTROL = [
    Sample(each.op, each.text + """
func.func private @twice(%a: tensor<3x$T>) -> tensor<3x$T> {
  %0 = stablehlo.add %a, %a : tensor<3x$T>
  return %0 : tensor<3x$T>
}""", each.kinds, each.form) if each.op == "stablehlo.composite" else each
    for each in CONTROL
]
