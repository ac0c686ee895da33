"""Programs of control flow, calls and tokens."""

from samples import ALL, Sample, function, sample

CONTROL = [
    sample(
        "stablehlo.while",
        ALL,
        "%a: tensor<4x$T>, %n: tensor<i32>",
        "tensor<i32>, tensor<4x$T>",
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
    }""",
    ),
    sample(
        "stablehlo.if",
        ALL,
        "%p: tensor<i1>, %a: tensor<3x$T>, %b: tensor<3x$T>",
        "tensor<3x$T>",
        """  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : tensor<3x$T>
  }, {
    %r = stablehlo.reverse %b, dims = [0] : tensor<3x$T>
    stablehlo.return %r : tensor<3x$T>
  }) : (tensor<i1>) -> tensor<3x$T>""",
    ),
    sample(
        "stablehlo.case",
        ALL,
        "%i: tensor<i32>, %a: tensor<3x$T>, %b: tensor<3x$T>",
        "tensor<3x$T>",
        """  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<3x$T>
  }, {
    stablehlo.return %b : tensor<3x$T>
  }, {
    %r = stablehlo.reverse %b, dims = [0] : tensor<3x$T>
    stablehlo.return %r : tensor<3x$T>
  }) : (tensor<i32>) -> tensor<3x$T>""",
    ),
    sample(
        "stablehlo.composite",
        ALL,
        "%a: tensor<3x$T>",
        "tensor<3x$T>",
        '  %0 = stablehlo.composite "mine.twice" %a {decomposition = @twice}'
        " : (tensor<3x$T>) -> tensor<3x$T>",
    ),
    *(
        sample(
            "stablehlo.custom_call",
            kinds,
            "%a: tensor<3x$T>",
            "tensor<3x$T>",
            f"  %0 = stablehlo.custom_call @{target}(%a){attributes}"
            " : (tensor<3x$T>) -> tensor<3x$T>",
            form,
        )
        for form, kinds, target, attributes in (
            ("identity", ALL, "Sharding", ""),
            ("function", "f", "mhlo.erf", " {mhlo.attributes = {}, mhlo.version = 1 : i64}"),
            ("unknown", "w", "nobody_knows", ""),
        )
    ),
    sample(
        "stablehlo.return",
        ALL,
        "%a: tensor<3x$T>",
        "tensor<3x$T>",
        """  %0 = "stablehlo.map"(%a) ({
    ^bb0(%x: tensor<$T>):
      stablehlo.return %x : tensor<$T>
  }) {dimensions = array<i64: 0>} : (tensor<3x$T>) -> tensor<3x$T>""",
    ),
    sample(
        "stablehlo.get_tuple_element",
        ALL,
        "%a: tensor<3x$T>, %b: tensor<2xf32>",
        "tensor<2xf32>, tensor<3x$T>",
        "  %t = stablehlo.tuple %a, %b : tuple<tensor<3x$T>, tensor<2xf32>>\n"
        "  %0 = stablehlo.get_tuple_element %t[1]"
        " : (tuple<tensor<3x$T>, tensor<2xf32>>) -> tensor<2xf32>\n"
        "  %1 = stablehlo.get_tuple_element %t[0]"
        " : (tuple<tensor<3x$T>, tensor<2xf32>>) -> tensor<3x$T>",
    ),
    Sample(
        "stablehlo.after_all",
        function(
            "%a: tensor<3xf32>",
            "tensor<3xf32>",
            "  %t = stablehlo.create_token : !stablehlo.token\n"
            "  %u = stablehlo.after_all %t, %t : !stablehlo.token\n"
            "  return %a : tensor<3xf32>",
        ),
    ),
    Sample(
        "stablehlo.create_token",
        function(
            "%a: tensor<3xf32>",
            "tensor<3xf32>",
            "  %t = stablehlo.create_token : !stablehlo.token\n  return %a : tensor<3xf32>",
        ),
    ),
]
CONTROL = [
    Sample(
        each.op,
        each.text
        + """
func.func private @twice(%a: tensor<3x$T>) -> tensor<3x$T> {
  %0 = stablehlo.add %a, %a : tensor<3x$T>
  return %0 : tensor<3x$T>
}""",
        each.kinds,
        each.form,
    )
    if each.op == "stablehlo.composite"
    else each
    for each in CONTROL
]
