"""Small modules, each with one feature, and the StableHLO version that the feature needs."""

_MAIN = """\
func.func @main(%a: tensor<4x4xf32>, %s: tensor<f32>, %t: !stablehlo.token) {
  BODY
  return
}
func.func private @d(%a: tensor<4x4xf32>) -> tensor<4x4xf32> { return %a : tensor<4x4xf32> }
"""
_SUM = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %r = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %r : tensor<f32>
  })"""
_WIDE_SUM = _SUM.replace("f32", "f64")
_GREATER = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %r = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }"""
_GROUPS = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
_HIGHEST = (
    "{result_accuracy = #stablehlo.result_accuracy<mode = "
    "#stablehlo.result_accuracy_mode<HIGHEST>>}"
)
_SQUARE = "tensor<4x4xf32>"
_UNARY = f"({_SQUARE}) -> {_SQUARE}"
_PAIR = f"({_SQUARE}, {_SQUARE}) -> ({_SQUARE}, {_SQUARE})"
_FUTURE = f"!stablehlo.future<{_SQUARE}>"
_WINDOWS = "{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}"


def _scatter(numbers: str, indices: str, updates: str, sum_: str, result: str) -> str:
    return (
        f"%z = stablehlo.constant dense<0> : {indices}\n"
        f"%u = stablehlo.constant dense<0.0> : {updates}\n"
        f'%0 = "stablehlo.scatter"(%a, %z, %u) {sum_} {{scatter_dimension_numbers = '
        f"#stablehlo.scatter<{numbers}, index_vector_dim = 1>}}"
        f" : ({_SQUARE}, {indices}, {updates}) -> {result}"
    )


def _gather(op: str, operands: str, types: str, slices: str) -> str:
    return (
        "%z = stablehlo.constant dense<0> : tensor<4x1xi32>\n"
        "%q = stablehlo.constant dense<1> : tensor<2xi32>\n"
        f'%0 = "stablehlo.{op}"(%a, %z{operands}) {{dimension_numbers = #stablehlo.gather<'
        "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = "
        f"[0], start_index_map = [1], index_vector_dim = 1>{slices}}} : "
        f"({_SQUARE}, tensor<4x1xi32>{types}) -> tensor<4xf32>"
    )


def _select_and_scatter(sum_: str, result: str) -> str:
    return (
        "%u = stablehlo.constant dense<0.0> : tensor<2x2xf32>\n"
        f'%0 = "stablehlo.select_and_scatter"(%a, %u, %s) {_GREATER}, {sum_[1:]} {_WINDOWS}'
        f" : ({_SQUARE}, tensor<2x2xf32>, tensor<f32>) -> {result}"
    )


def _custom_call(attributes: str, result: str = _SQUARE) -> str:
    return (
        f'%0 = "stablehlo.custom_call"(%a) {{call_target_name = "x", {attributes}}}'
        f" : ({_SQUARE}) -> {result}"
    )


_PLAIN_NUMBERS = "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]"
_BATCHED_NUMBERS = (
    "inserted_window_dims = [1], input_batching_dims = [0], "
    "scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1]"
)
_TILED = (
    "operand_layouts = [dense<[1, 0]> : tensor<2xindex>], "
    "result_layouts = [dense<[1, 0]> : tensor<2xindex>], "
    "result_tilings = [[dense<[8, 128]> : tensor<2xindex>]]"
)
_ALGORITHM = (
    "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, "
    "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
    "num_primitive_operations = 1, allow_imprecise_accumulation = false>"
)
_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
_SOURCES = "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"
_LATER_ACCURACY = [
    "cbrt", "cosine", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine",
    "sqrt", "tan", "tanh",
]  # fmt: skip

_BODIES: list[tuple[str, str, str]] = [
    ("exponential", f'%0 = "stablehlo.exponential"(%a) : {_UNARY}', "0.9.0"),
    ("accurate exponential", f'%0 = "stablehlo.exponential"(%a) {_HIGHEST} : {_UNARY}', "1.9.0"),
    ("default accuracy",
     f'%0 = "stablehlo.log"(%a) {_HIGHEST.replace("HIGHEST", "DEFAULT")} : {_UNARY}', "0.9.0"),
    *((f"accurate {op}", f'%0 = "stablehlo.{op}"(%a) {_HIGHEST} : {_UNARY}', "1.10.0")
      for op in _LATER_ACCURACY),
    ("tan", f'%0 = "stablehlo.tan"(%a) : {_UNARY}', "1.4.0"),
    ("collective_broadcast", f'%0 = "stablehlo.collective_broadcast"(%a) {{{_GROUPS}}} : {_UNARY}',
     "0.16.0"),
    ("collective_reduce", f'%0 = "stablehlo.collective_reduce"(%a) {_SUM} {{{_GROUPS}}} : {_UNARY}',
     "1.19.0"),
    ("all_reduce", f'%0 = "stablehlo.all_reduce"(%a) {_SUM} {{{_GROUPS}}} : {_UNARY}', "0.9.0"),
    ("all_reduce of two", f'%0:2 = "stablehlo.all_reduce"(%a, %a) {_SUM} {{{_GROUPS}}} : {_PAIR}',
     "1.5.0"),
    ("all_gather of two", '%0:2 = "stablehlo.all_gather"(%a, %a) '
     f"{{all_gather_dim = 0 : i64, {_GROUPS}}} : {_PAIR}", "1.5.0"),
    ("all_to_all of two", '%0:2 = "stablehlo.all_to_all"(%a, %a) {split_dimension = 0 : i64, '
     f"concat_dimension = 0 : i64, split_count = 1 : i64, {_GROUPS}}} : {_PAIR}", "1.5.0"),
    ("wider all_reduce", f'%0 = "stablehlo.all_reduce"(%a) {_WIDE_SUM} {{{_GROUPS}}} : '
     f"({_SQUARE}) -> tensor<4x4xf64>", "0.17.0"),
    ("wider reduce", f'%0 = "stablehlo.reduce"(%a, %s) {_WIDE_SUM} {{dimensions = array<i64: 0>}}'
     f" : ({_SQUARE}, tensor<f32>) -> tensor<4xf64>", "0.17.0"),
    ("reduce", f'%0 = "stablehlo.reduce"(%a, %s) {_SUM} {{dimensions = array<i64: 0>}}'
     f" : ({_SQUARE}, tensor<f32>) -> tensor<4xf32>", "0.9.0"),
    ("wider reduce_window", f'%0 = "stablehlo.reduce_window"(%a, %s) {_WIDE_SUM} {_WINDOWS}'
     f" : ({_SQUARE}, tensor<f32>) -> tensor<2x2xf64>", "0.17.0"),
    ("wider reduce_scatter", f'%0 = "stablehlo.reduce_scatter"(%a) {_WIDE_SUM} {{{_GROUPS}, '
     f"scatter_dimension = 0 : i64}} : ({_SQUARE}) -> tensor<4x4xf64>", "0.17.0"),
    ("wider select_and_scatter", _select_and_scatter(_WIDE_SUM, "tensor<4x4xf64>"), "0.17.0"),
    ("select_and_scatter", _select_and_scatter(_SUM, _SQUARE), "0.9.0"),
    ("scatter", _scatter(_PLAIN_NUMBERS, "tensor<1x2xi32>", "tensor<1xf32>", _SUM, _SQUARE),
     "0.9.0"),
    ("wider scatter", _scatter(_PLAIN_NUMBERS, "tensor<1x2xi32>", "tensor<1xf32>", _WIDE_SUM,
                               "tensor<4x4xf64>"), "0.17.0"),
    ("batched scatter", _scatter(_BATCHED_NUMBERS, "tensor<4x1xi32>", "tensor<4xf32>", _SUM,
                                 _SQUARE), "1.1.0"),
    ("batched gather", _gather("gather", "", "", ", slice_sizes = array<i64: 1, 1>"), "1.1.0"),
    ("batched dynamic_gather", _gather("dynamic_gather", ", %q", ", tensor<2xi32>", ""), "1.1.0"),
    ("dot algorithm", '%0 = "stablehlo.dot_general"(%a, %a) {dot_dimension_numbers = '
     "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, "
     f"{_ALGORITHM}}} : ({_SQUARE}, {_SQUARE}) -> {_SQUARE}", "1.6.0"),
    ("custom_call", _custom_call('backend_config = "z"'), "0.9.0"),
    ("typed FFI", _custom_call("api_version = 4 : i32"), "1.3.0"),
    ("dictionary", _custom_call("api_version = 4 : i32, backend_config = {a = 1 : i32}"), "1.3.0"),
    ("tilings", _custom_call(_TILED), "1.18.0"),
    ("send", '%0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1,'
     f" type = 2>, is_host_transfer = true}} : ({_SQUARE}, !stablehlo.token) -> !stablehlo.token",
     "0.9.0"),
    ("send pairs", f'%0 = "stablehlo.send"(%a, %t) {{{_CHANNEL}, {_SOURCES}}} : ({_SQUARE}, '
     "!stablehlo.token) -> !stablehlo.token", "1.12.0"),
    ("recv pairs", f'%0:2 = "stablehlo.recv"(%t) {{{_CHANNEL}, {_SOURCES}}} : (!stablehlo.token)'
     f" -> ({_SQUARE}, !stablehlo.token)", "1.12.0"),
    ("composite", f'%0 = "stablehlo.composite"(%a) {{name = "a.b", decomposition = @d}} : {_UNARY}',
     "0.19.0"),
    ("composite with region", f'%0 = "stablehlo.composite"(%a) ({{\n^bb0(%x: {_SQUARE}):\n'
     f'"stablehlo.return"(%x) : ({_SQUARE}) -> ()\n}}) {{name = "a.b", decomposition = @d}}'
     f" : {_UNARY}", "1.14.0"),
    ("async", f'%0 = "stablehlo.async_start"(%a) ({{\n^bb0(%q: {_SQUARE}):\n%w = '
     f'"stablehlo.all_reduce"(%q) {_SUM} {{{_GROUPS}}} : {_UNARY}\n"stablehlo.return"(%w) : '
     f'({_SQUARE}) -> ()\n}}) : ({_SQUARE}) -> {_FUTURE}\n%1 = "stablehlo.async_done"(%0) : '
     f"({_FUTURE}) -> {_SQUARE}", "1.15.0"),
    ("small float attribute", f"%0 = stablehlo.abs %a {{b = 1.0 : f8E3M4}} : {_SQUARE}", "1.7.0"),
    ("nested type attribute", f"%0 = stablehlo.abs %a {{b = [{{x = f8E3M4}}]}} : {_SQUARE}",
     "1.7.0"),
    ("dense attribute", f"%0 = stablehlo.abs %a {{b = dense<1> : tensor<2xi2>}} : {_SQUARE}",
     "1.2.0"),
    ("small float constant", "%0 = stablehlo.constant dense<1.0> : tensor<2xf4E2M1FN>", "1.8.0"),
    ("complex constant", "%0 = stablehlo.constant dense<(1.0, 0.0)> : tensor<2xcomplex<f32>>",
     "0.9.0"),
]  # fmt: skip

_TYPES: list[tuple[str, str]] = [
    ("tensor<2xi4>", "0.9.0"),
    ("tensor<2xi2>", "1.2.0"),
    ("tensor<2xui2>", "1.2.0"),
    ("tensor<2xtf32>", "1.6.0"),
    ("none", "1.6.0"),
    ("!stablehlo.token", "0.9.0"),
    ("!stablehlo.future<tensor<f32>>", "1.15.0"),
    ("!stablehlo.future<tensor<f32>, tensor<2xi32>>", "1.15.0"),
    ("tuple<!stablehlo.future<tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<?xf8E5M2>>>", "1.15.0"),
    ("memref<2xf32>", "1.13.0"),
    ("tuple<tensor<f32>, tensor<2xf8E4M3>>", "1.7.0"),
    ("tensor<*xf8E5M2FNUZ>", "0.10.0"),
    ("tensor<?xf32, #stablehlo.bounds<4>>", "0.9.0"),
    ("tensor<2xcomplex<f64>>", "0.9.0"),
    ("tensor<2x!quant.uniform<i8:f32, 0.5>>", "0.9.0"),
    ("tensor<2x!quant.uniform<i8:f8E3M4, 0.5>>", "1.7.0"),
    ("tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.5}>>", "0.18.0"),
]

CASES: list[tuple[str, str, str]] = [
    *((name, _MAIN.replace("BODY", body), version) for name, body, version in _BODIES),
    *((type_, f"func.func private @f({type_})\n", version) for type_, version in _TYPES),
]
"""Name, module, and the oldest version that the library writes it for."""

STRICTER_CASES: list[tuple[str, str, str]] = [
    ("future in a custom_call",
     _MAIN.replace("BODY", _custom_call('backend_config = "z"', _FUTURE)), "1.17.0"),
    ("per-axis quantized f8",
     "func.func private @f(tensor<2x!quant.uniform<i8:f8E3M4:0, {0.5, 0.5}>>)\n", "1.7.0"),
]  # fmt: skip
"""Those that the library writes for versions which cannot read them: it does not look there."""
