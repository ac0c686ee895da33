"""Programs of linear algebra, signal, random, dynamic, quantized, collective and CHLO ops."""

from samples import _binary, _broadcast, _function, _op, _unary, Sample

_ALL = "bsufc"


def _effect(op: str, body: str, form: str = "") -> Sample:
    text = _function("%a: tensor<3xf32>", "tensor<3xf32>", f"{body}\n  return %0 : tensor<3xf32>")
    return Sample(op, text, "", form)


ALGEBRA = [
    _op("stablehlo.cholesky", "fc", "%a: tensor<2x3x3x$T>", "tensor<2x3x3x$T>",
        "  %0 = stablehlo.cholesky %a, lower = true : tensor<2x3x3x$T>"),
    _op("stablehlo.triangular_solve", "fc", "%a: tensor<2x3x3x$T>, %b: tensor<2x3x4x$T>",
        "tensor<2x3x4x$T>", '  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true,'
        " lower = true, unit_diagonal = false,"
        " transpose_a = #stablehlo<transpose NO_TRANSPOSE>}"
        " : (tensor<2x3x3x$T>, tensor<2x3x4x$T>) -> tensor<2x3x4x$T>"),
    *(
        _op("stablehlo.fft", "", f"%a: tensor<{shape}x{of}>", f"tensor<{to_shape}x{to}>",
            f"  %0 = stablehlo.fft %a, type = {kind}, length = [{length}]"
            f" : (tensor<{shape}x{of}>) -> tensor<{to_shape}x{to}>", f"{kind} {of}")
        for kind, shape, of, to_shape, to, length in (
            ("FFT", "2x6", "complex<f32>", "2x6", "complex<f32>", "6"),
            ("IFFT", "2x3x4", "complex<f64>", "2x3x4", "complex<f64>", "3, 4"),
            ("RFFT", "2x7", "f32", "2x4", "complex<f32>", "7"),
            ("IRFFT", "2x4", "complex<f64>", "2x7", "f64", "7"),
        )
    ),
    *(
        _op("stablehlo.rng_bit_generator", "", f"%s: tensor<{state}xui64>",
            f"tensor<{state}xui64>, tensor<3x5x{to}>",
            f"  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm}"
            f" : (tensor<{state}xui64>) -> (tensor<{state}xui64>, tensor<3x5x{to}>)",
            f"{algorithm} {to}")
        for algorithm, state in (("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2))
        for to in ("ui8", "ui32", "ui64")
    ),
    *(
        _op("stablehlo.rng", kinds, "%l: tensor<$T>, %h: tensor<$T>", "tensor<3x5x$T>",
            "  %s = stablehlo.constant dense<[3, 5]> : tensor<2xi64>\n"
            f"  %0 = stablehlo.rng %l, %h, %s, distribution = {distribution}"
            " : (tensor<$T>, tensor<$T>, tensor<2xi64>) -> tensor<3x5x$T>", distribution)
        for distribution, kinds in (("UNIFORM", "bsuf"), ("NORMAL", "f"))
    ),
    _op("stablehlo.batch_norm_inference", "f", "%a: tensor<2x3x4x$T>, %s: tensor<4x$T>,"
        " %o: tensor<4x$T>, %m: tensor<4x$T>, %v: tensor<4x$T>", "tensor<2x3x4x$T>",
        '  %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v) {epsilon = 0.5 : f32,'
        " feature_index = 2 : i64} : (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>,"
        " tensor<4x$T>, tensor<4x$T>) -> tensor<2x3x4x$T>"),
    _op("stablehlo.batch_norm_training", "f", "%a: tensor<2x3x4x$T>, %s: tensor<4x$T>,"
        " %o: tensor<4x$T>", "tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>",
        '  %0, %1, %2 = "stablehlo.batch_norm_training"(%a, %s, %o) {epsilon = 0.5 : f32,'
        " feature_index = 2 : i64} : (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>)"
        " -> (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>)"),
    _op("stablehlo.batch_norm_grad", "f", "%a: tensor<2x3x4x$T>, %s: tensor<4x$T>,"
        " %m: tensor<4x$T>, %v: tensor<4x$T>, %g: tensor<2x3x4x$T>",
        "tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>",
        '  %0, %1, %2 = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) {epsilon = 0.5 : f32,'
        " feature_index = 2 : i64} : (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>, tensor<4x$T>,"
        " tensor<2x3x4x$T>) -> (tensor<2x3x4x$T>, tensor<4x$T>, tensor<4x$T>)"),
]

_SHAPE = "  %s = stablehlo.constant dense<[5, 3]> : tensor<2xi32>\n"

DYNAMIC = [
    _op("stablehlo.dynamic_reshape", _ALL, "%a: tensor<3x5x$T>", "tensor<5x3x$T>",
        _SHAPE + "  %0 = stablehlo.dynamic_reshape %a, %s"
        " : (tensor<3x5x$T>, tensor<2xi32>) -> tensor<5x3x$T>"),
    _op("stablehlo.dynamic_broadcast_in_dim", _ALL, "%a: tensor<3x$T>", "tensor<5x3x$T>",
        _SHAPE + "  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1]"
        " : (tensor<3x$T>, tensor<2xi32>) -> tensor<5x3x$T>"),
    _op("stablehlo.dynamic_iota", "sufc", "", "tensor<5x3x$T>",
        _SHAPE + "  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<5x3x$T>"),
    _op("stablehlo.dynamic_pad", _ALL, "%a: tensor<3x$T>, %v: tensor<$T>", "tensor<6x$T>",
        "  %l = stablehlo.constant dense<1> : tensor<1xi32>\n"
        "  %h = stablehlo.constant dense<2> : tensor<1xi32>\n"
        "  %i = stablehlo.constant dense<0> : tensor<1xi32>\n"
        "  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i : (tensor<3x$T>, tensor<$T>,"
        " tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6x$T>"),
    _op("stablehlo.dynamic_gather", _ALL, "%a: tensor<4x5x$T>, %i: tensor<3x1xi32>",
        "tensor<3x2x$T>", "  %s = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
        '  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {dimension_numbers = #stablehlo.gather<'
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],"
        " index_vector_dim = 1>}"
        " : (tensor<4x5x$T>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x2x$T>"),
    _op("stablehlo.dynamic_conv", "sufc", "%a: tensor<2x7x3x$T>, %b: tensor<3x3x4x$T>",
        "tensor<2x6x4x$T>", "  %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>\n"
        '  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {dimension_numbers ='
        " #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64,"
        " feature_group_count = 1 : i64}"
        " : (tensor<2x7x3x$T>, tensor<3x3x4x$T>, tensor<1x2xi32>) -> tensor<2x6x4x$T>"),
    _op("stablehlo.real_dynamic_slice", _ALL, "%a: tensor<7x$T>", "tensor<3x$T>",
        "  %l = stablehlo.constant dense<1> : tensor<1xi32>\n"
        "  %h = stablehlo.constant dense<6> : tensor<1xi32>\n"
        "  %s = stablehlo.constant dense<2> : tensor<1xi32>\n"
        "  %0 = stablehlo.real_dynamic_slice %a, %l, %h, %s : (tensor<7x$T>, tensor<1xi32>,"
        " tensor<1xi32>, tensor<1xi32>) -> tensor<3x$T>"),
    _op("stablehlo.set_dimension_size", "", "%a: tensor<3x5xf32>, %n: tensor<i32>",
        "tensor<3x?xf32, #stablehlo.bounds<?, 5>>",
        "  %0 = stablehlo.set_dimension_size %a, %n, dim = 1"
        " : (tensor<3x5xf32>, tensor<i32>) -> tensor<3x?xf32, #stablehlo.bounds<?, 5>>"),
    _op("stablehlo.uniform_quantize", "", "%a: tensor<3x5xf32>", "tensor<3x5xi8>",
        "  %q = stablehlo.uniform_quantize %a"
        " : (tensor<3x5xf32>) -> tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>\n"
        "  %0 = stablehlo.bitcast_convert %q"
        " : (tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x5xi8>"),
    _op("stablehlo.uniform_dequantize", "", "%a: tensor<3x5xf32>", "tensor<3x5xf32>",
        "  %q = stablehlo.uniform_quantize %a"
        " : (tensor<3x5xf32>) -> tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>\n"
        "  %r = stablehlo.add %q, %q : tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>\n"
        "  %0 = stablehlo.uniform_dequantize %r"
        " : (tensor<3x5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x5xf32>"),
]

_GROUPS = "replica_groups = dense<0> : tensor<1x1xi64>"

COLLECTIVE = [
    _effect("stablehlo.all_gather", f'  %0 = "stablehlo.all_gather"(%a) {{all_gather_dim = 0 : i64,'
            f" {_GROUPS}}} : (tensor<3xf32>) -> tensor<3xf32>"),
    _effect("stablehlo.all_reduce", f"""  %0 = "stablehlo.all_reduce"(%a) ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }}) {{{_GROUPS}}} : (tensor<3xf32>) -> tensor<3xf32>"""),
    _effect("stablehlo.reduce_scatter", f"""  %0 = "stablehlo.reduce_scatter"(%a) ({{
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }}) {{scatter_dimension = 0 : i64, {_GROUPS}}} : (tensor<3xf32>) -> tensor<3xf32>"""),
    _effect("stablehlo.all_to_all", '  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64,'
            f" concat_dimension = 0 : i64, split_count = 1 : i64, {_GROUPS}}}"
            " : (tensor<3xf32>) -> tensor<3xf32>"),
    _effect("stablehlo.collective_broadcast", f'  %0 = "stablehlo.collective_broadcast"(%a)'
            f" {{{_GROUPS}}} : (tensor<3xf32>) -> tensor<3xf32>"),
    _effect("stablehlo.collective_permute", '  %0 = "stablehlo.collective_permute"(%a)'
            " {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}"
            " : (tensor<3xf32>) -> tensor<3xf32>"),
    _op("stablehlo.partition_id", "", "", "tensor<ui32>",
        "  %0 = stablehlo.partition_id : tensor<ui32>"),
    _op("stablehlo.replica_id", "", "", "tensor<ui32>",
        "  %0 = stablehlo.replica_id : tensor<ui32>"),
    _effect("stablehlo.infeed", "  %t = stablehlo.create_token : !stablehlo.token\n"
            '  %0, %u = "stablehlo.infeed"(%t) : (!stablehlo.token)'
            " -> (tensor<3xf32>, !stablehlo.token)"),
    _effect("stablehlo.outfeed", "  %t = stablehlo.create_token : !stablehlo.token\n"
            '  %u = "stablehlo.outfeed"(%a, %t) : (tensor<3xf32>, !stablehlo.token)'
            " -> !stablehlo.token\n  %0 = stablehlo.abs %a : tensor<3xf32>"),
    _effect("stablehlo.send", "  %t = stablehlo.create_token : !stablehlo.token\n"
            '  %u = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<'
            "handle = 1, type = 2>, is_host_transfer = true} : (tensor<3xf32>, !stablehlo.token)"
            " -> !stablehlo.token\n  %0 = stablehlo.abs %a : tensor<3xf32>"),
    _effect("stablehlo.recv", "  %t = stablehlo.create_token : !stablehlo.token\n"
            '  %0, %u = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<'
            "handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token)"
            " -> (tensor<3xf32>, !stablehlo.token)"),
]

CHLO = [
    *(
        _unary(f"chlo.{name}", kinds)
        for name, kinds in (
            ("acos", "fc"), ("acosh", "fc"), ("asin", "fc"), ("asinh", "fc"), ("atan", "fc"),
            ("atanh", "fc"), ("bessel_i1e", "f"), ("cosh", "fc"), ("digamma", "f"), ("erf", "f"),
            ("erf_inv", "f"), ("erfc", "f"), ("lgamma", "f"), ("sinh", "fc"), ("square", "sufc"),
            ("tan", "fc"), ("conj", "fc"),
        )
    ),
    *(_unary(f"chlo.{name}", "f", "i1") for name in ("is_inf", "is_neg_inf", "is_pos_inf")),
    *(_binary(f"chlo.{name}", "f") for name in ("next_after", "polygamma", "zeta")),
    _binary("chlo.mulhi", "su"),
    *(
        _broadcast(f"chlo.broadcast_{name}", kinds)
        for name, kinds in (
            ("add", "bsufc"), ("and", "bsu"), ("atan2", "f"), ("divide", "sufc"),
            ("maximum", "bsufc"), ("minimum", "bsufc"), ("multiply", "bsufc"), ("next_after", "f"),
            ("or", "bsu"), ("polygamma", "f"), ("power", "sufc"), ("remainder", "suf"),
            ("shift_left", "su"), ("shift_right_arithmetic", "su"),
            ("shift_right_logical", "su"), ("subtract", "sufc"), ("xor", "bsu"), ("zeta", "f"),
        )
    ),
    _broadcast("chlo.broadcast_compare", "bsuf",
               "{comparison_direction = #chlo<comparison_direction LT>}", "i1"),
    _op("chlo.broadcast_complex", "", "%a: tensor<3x5xf32>, %b: tensor<5xf32>",
        "tensor<3x5xcomplex<f32>>", '  %0 = "chlo.broadcast_complex"(%a, %b)'
        " : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xcomplex<f32>>"),
    _op("chlo.broadcast_select", _ALL, "%p: tensor<5xi1>, %a: tensor<3x5x$T>, %b: tensor<5x$T>",
        "tensor<3x5x$T>", '  %0 = "chlo.broadcast_select"(%p, %a, %b)'
        " : (tensor<5xi1>, tensor<3x5x$T>, tensor<5x$T>) -> tensor<3x5x$T>"),
    _op("chlo.constant", "", "", "tensor<2xf32>",
        "  %0 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>"),
    _op("chlo.constant_like", "f", "%a: tensor<3x5x$T>", "tensor<3x5x$T>",
        '  %0 = "chlo.constant_like"(%a) {value = 1.0 : $T} : (tensor<3x5x$T>)'
        " -> tensor<3x5x$T>"),
    _op("chlo.top_k", "suf", "%a: tensor<3x7x$T>", "tensor<3x2x$T>, tensor<3x2xi32>",
        '  %0, %1 = "chlo.top_k"(%a) {k = 2 : i64} : (tensor<3x7x$T>)'
        " -> (tensor<3x2x$T>, tensor<3x2xi32>)"),
    _op("chlo.ragged_dot", "f", "%a: tensor<5x3x$T>, %b: tensor<2x3x4x$T>, %g: tensor<2xi64>",
        "tensor<5x4x$T>", '  %0 = "chlo.ragged_dot"(%a, %b, %g) {ragged_dot_dimension_numbers ='
        " #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [],"
        " lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],"
        " lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}"
        " : (tensor<5x3x$T>, tensor<2x3x4x$T>, tensor<2xi64>) -> tensor<5x4x$T>"),
]
