"""Programs of CHLO."""

from samples import ALL, binary, broadcast, sample, unary

CHLO = [
    *(
        unary(f"chlo.{name}", kinds)
        for name, kinds in (
            ("acos", "fc"),
            ("acosh", "fc"),
            ("asin", "fc"),
            ("asinh", "fc"),
            ("atan", "fc"),
            ("atanh", "fc"),
            ("bessel_i1e", "f"),
            ("cosh", "fc"),
            ("digamma", "f"),
            ("erf", "f"),
            ("erf_inv", "f"),
            ("erfc", "f"),
            ("lgamma", "f"),
            ("sinh", "fc"),
            ("square", "fc"),
            ("tan", "fc"),
            ("conj", "fc"),
        )
    ),
    *(unary(f"chlo.{name}", "f", "i1") for name in ("is_inf", "is_neg_inf", "is_pos_inf")),
    *(binary(f"chlo.{name}", "f") for name in ("next_after", "polygamma", "zeta")),
    binary("chlo.mulhi", "su"),
    *(
        broadcast(f"chlo.broadcast_{name}", kinds)
        for name, kinds in (
            ("add", "bsufc"),
            ("and", "bsu"),
            ("atan2", "fc"),
            ("divide", "sufc"),
            ("maximum", "bsufc"),
            ("minimum", "bsufc"),
            ("multiply", "bsufc"),
            ("next_after", "f"),
            ("or", "bsu"),
            ("polygamma", "f"),
            ("power", "sufc"),
            ("remainder", "sufc"),
            ("shift_left", "su"),
            ("shift_right_arithmetic", "su"),
            ("shift_right_logical", "su"),
            ("subtract", "sufc"),
            ("xor", "bsu"),
            ("zeta", "f"),
        )
    ),
    broadcast(
        "chlo.broadcast_compare",
        ALL,
        "{comparison_direction = #chlo<comparison_direction LT>}",
        "i1",
    ),
    sample(
        "chlo.broadcast_complex",
        "w",
        "%a: tensor<3x5x$T>, %b: tensor<5x$T>",
        "tensor<3x5xcomplex<$T>>",
        '  %0 = "chlo.broadcast_complex"(%a, %b)'
        " : (tensor<3x5x$T>, tensor<5x$T>) -> tensor<3x5xcomplex<$T>>",
    ),
    sample(
        "chlo.broadcast_select",
        ALL,
        "%p: tensor<5xi1>, %a: tensor<3x5x$T>, %b: tensor<5x$T>",
        "tensor<3x5x$T>",
        '  %0 = "chlo.broadcast_select"(%p, %a, %b)'
        " : (tensor<5xi1>, tensor<3x5x$T>, tensor<5x$T>) -> tensor<3x5x$T>",
    ),
    sample(
        "chlo.broadcast_select",
        ALL,
        "%p: tensor<i1>, %a: tensor<$T>, %b: tensor<3x1x$T>",
        "tensor<3x1x$T>",
        '  %0 = "chlo.broadcast_select"(%p, %a, %b)'
        " : (tensor<i1>, tensor<$T>, tensor<3x1x$T>) -> tensor<3x1x$T>",
        "scalars",
    ),
    *(
        sample(
            "chlo.constant",
            kinds,
            "",
            "tensor<2x$T>",
            f"  %0 = chlo.constant dense<[{numbers}]> : tensor<2x$T>",
            form,
        )
        for form, kinds, numbers in (
            ("i1", "b", "true, false"),
            ("integers", "su", "1, 0"),
            ("floats", "f", "1.0, 2.0"),
            ("complex", "c", "(1.0, 2.0), (0.0, -1.0)"),
        )
    ),
    *(
        sample(
            "chlo.constant_like",
            kinds,
            "%a: tensor<3x5x$T>",
            "tensor<3x5x$T>",
            f'  %0 = "chlo.constant_like"(%a) {{value = {value}}}'
            " : (tensor<3x5x$T>) -> tensor<3x5x$T>",
            form,
        )
        for form, kinds, value in (
            ("integers", "su", "1 : $T"),
            ("floats", "f", "1.0 : $T"),
            ("complex", "c", "#complex.number<:$R 1.0, 2.0> : $T"),
        )
    ),
    sample(
        "chlo.top_k",
        "suf",
        "%a: tensor<3x7x$T>",
        "tensor<3x2x$T>, tensor<3x2xi32>",
        '  %0, %1 = "chlo.top_k"(%a) {k = 2 : i64} : (tensor<3x7x$T>)'
        " -> (tensor<3x2x$T>, tensor<3x2xi32>)",
    ),
    sample(
        "chlo.ragged_dot",
        "f",
        "%a: tensor<5x3x$T>, %b: tensor<2x3x4x$T>, %g: tensor<2xi64>",
        "tensor<5x4x$T>",
        '  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers ='
        " #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [],"
        " lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],"
        " lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}"
        " : (tensor<5x3x$T>, tensor<2x3x4x$T>, tensor<2xi64>) -> tensor<5x4x$T>",
    ),
    sample(
        "chlo.ragged_dot",
        "f",
        "%a: tensor<5x3x$T>, %b: tensor<3x4x$T>, %g: tensor<2xi64>",
        "tensor<2x5x4x$T>",
        '  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers ='
        " #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [],"
        " lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0],"
        " lhs_ragged_dimensions = [1], rhs_group_dimensions = []>}"
        " : (tensor<5x3x$T>, tensor<3x4x$T>, tensor<2xi64>) -> tensor<2x5x4x$T>",
        "of contracted dimensions",
    ),
    unary("chlo._asin_acos_kernel", "c"),
    *(
        sample(
            "chlo.scan",
            ALL,
            "%a: tensor<5x3x$T>, %c: tensor<3x$T>",
            "tensor<5x3x$T>, tensor<3x$T>",
            f"""  %0, %1 = "chlo.scan"(%a, %c) ({{
    ^bb0(%x: tensor<3x$T>, %y: tensor<3x$T>):
      %s = stablehlo.add %x, %y : tensor<3x$T>
      stablehlo.return %s, %s : tensor<3x$T>, tensor<3x$T>
  }}) {{dimension = 0 : i64, is_reverse = {reverse}, operandSegmentSizes = array<i32: 1, 1>,
      resultSegmentSizes = array<i32: 1, 1>}} : (tensor<5x3x$T>, tensor<3x$T>)
    -> (tensor<5x3x$T>, tensor<3x$T>)""",
            form,
        )
        for form, reverse in (("forward", "false"), ("reverse", "true"))
    ),
]
