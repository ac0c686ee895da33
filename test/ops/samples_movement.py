"""Programs of the ops that compare, convert, make and move elements."""

from samples import ALL, sample

_BOTH = "%a: tensor<3x5x$T>, %b: tensor<3x5x$T>"

SHAPED = [
    *(
        sample(
            "stablehlo.compare",
            ALL,
            _BOTH,
            "tensor<3x5xi1>",
            f"  %0 = stablehlo.compare {direction}, %a, %b : (tensor<3x5x$T>, tensor<3x5x$T>)"
            " -> tensor<3x5xi1>",
            direction,
        )
        for direction in ("EQ", "NE", "LT", "GE", "GT", "LE")
    ),
    sample(
        "stablehlo.compare",
        "f",
        _BOTH,
        "tensor<3x5xi1>",
        "  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<3x5x$T>, tensor<3x5x$T>)"
        " -> tensor<3x5xi1>",
        "TOTALORDER",
    ),
    sample(
        "stablehlo.select",
        ALL,
        f"%p: tensor<3x5xi1>, {_BOTH}",
        "tensor<3x5x$T>",
        "  %0 = stablehlo.select %p, %a, %b : tensor<3x5xi1>, tensor<3x5x$T>",
    ),
    sample(
        "stablehlo.clamp",
        ALL,
        "%l: tensor<$T>, %a: tensor<3x5x$T>, %h: tensor<3x5x$T>",
        "tensor<3x5x$T>",
        '  %0 = "stablehlo.clamp"(%l, %a, %h)'
        " : (tensor<$T>, tensor<3x5x$T>, tensor<3x5x$T>) -> tensor<3x5x$T>",
    ),
    *(
        sample(
            "stablehlo.convert",
            ALL,
            "%a: tensor<3x5x$T>",
            f"tensor<3x5x{to}>",
            f"  %0 = stablehlo.convert %a : (tensor<3x5x$T>) -> tensor<3x5x{to}>",
            f"to {to}",
        )
        for to in (
            "i1",
            "i8",
            "ui8",
            "i32",
            "ui64",
            "f8E4M3FN",
            "f4E2M1FN",
            "bf16",
            "f32",
            "f64",
            "complex<f32>",
        )
    ),
    *(
        sample(
            "stablehlo.convert",
            ALL,
            f"%a: tensor<3x5x{of}>",
            "tensor<3x5x$T>",
            f"  %0 = stablehlo.convert %a : (tensor<3x5x{of}>) -> tensor<3x5x$T>",
            f"from {of}",
        )
        for of in ("i1", "i8", "ui8", "i32", "ui64", "f8E4M3FN", "bf16", "f32", "f64")
    ),
    sample(
        "stablehlo.complex",
        "w",
        _BOTH,
        "tensor<3x5xcomplex<$T>>",
        "  %0 = stablehlo.complex %a, %b : tensor<3x5xcomplex<$T>>",
    ),
    sample(
        "stablehlo.imag",
        "c",
        "%a: tensor<3x5x$T>",
        "tensor<3x5x$R>",
        "  %0 = stablehlo.imag %a : (tensor<3x5x$T>) -> tensor<3x5x$R>",
        "complex",
    ),
    sample(
        "stablehlo.real",
        "c",
        "%a: tensor<3x5x$T>",
        "tensor<3x5x$R>",
        "  %0 = stablehlo.real %a : (tensor<3x5x$T>) -> tensor<3x5x$R>",
        "complex",
    ),
    sample(
        "stablehlo.abs",
        "c",
        "%a: tensor<3x5x$T>",
        "tensor<3x5x$R>",
        "  %0 = stablehlo.abs %a : (tensor<3x5x$T>) -> tensor<3x5x$R>",
        "complex",
    ),
    *(
        sample(
            "stablehlo.reduce_precision",
            "f",
            "%a: tensor<3x5x$T>",
            "tensor<3x5x$T>",
            f"  %0 = stablehlo.reduce_precision %a, format = {fmt} : tensor<3x5x$T>",
            fmt,
        )
        for fmt in ("e4m3", "e5m2", "e8m7", "e2m1", "e3m0")
    ),
    sample(
        "stablehlo.bitcast_convert",
        ALL,
        "%a: tensor<3x5x$T>",
        "tensor<3x5x$T>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3x5x$T>) -> tensor<3x5x$T>",
        "same type",
    ),
    sample(
        "stablehlo.bitcast_convert",
        "",
        "%a: tensor<3x5xf8E4M3FN>",
        "tensor<3x5xi8>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3x5xf8E4M3FN>) -> tensor<3x5xi8>",
        "same width",
    ),
    sample(
        "stablehlo.bitcast_convert",
        "",
        "%a: tensor<3xf32>",
        "tensor<3x4xf8E5M2>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3xf32>) -> tensor<3x4xf8E5M2>",
        "narrower",
    ),
    sample(
        "stablehlo.bitcast_convert",
        "",
        "%a: tensor<3x8xi8>",
        "tensor<3xf64>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3x8xi8>) -> tensor<3xf64>",
        "wider",
    ),
    sample(
        "stablehlo.bitcast_convert",
        "",
        "%a: tensor<3x2xcomplex<f64>>",
        "tensor<3x2x2xcomplex<f32>>",
        "  %0 = stablehlo.bitcast_convert %a"
        " : (tensor<3x2xcomplex<f64>>) -> tensor<3x2x2xcomplex<f32>>",
        "complex to narrower",
    ),
    sample(
        "stablehlo.bitcast_convert",
        "",
        "%a: tensor<3x2xcomplex<f32>>",
        "tensor<3xcomplex<f64>>",
        "  %0 = stablehlo.bitcast_convert %a"
        " : (tensor<3x2xcomplex<f32>>) -> tensor<3xcomplex<f64>>",
        "complex to wider",
    ),
    sample(
        "stablehlo.iota",
        "sufc",
        "",
        "tensor<3x5x$T>",
        "  %0 = stablehlo.iota dim = 1 : tensor<3x5x$T>",
    ),
    sample(
        "stablehlo.constant",
        "b",
        "",
        "tensor<2x3xi1>",
        "  %0 = stablehlo.constant dense<[[true, false, true], [false, false, true]]>"
        " : tensor<2x3xi1>",
        "i1",
    ),
    sample(
        "stablehlo.constant",
        "su",
        "",
        "tensor<2x$T>",
        "  %0 = stablehlo.constant dense<[1, 0]> : tensor<2x$T>",
        "integers",
    ),
    sample(
        "stablehlo.constant",
        "f",
        "",
        "tensor<2x$T>",
        "  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2x$T>",
        "floats",
    ),
    sample(
        "stablehlo.constant",
        "c",
        "",
        "tensor<2x$T>",
        "  %0 = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2x$T>",
        "complex",
    ),
    sample(
        "stablehlo.reshape",
        ALL,
        "%a: tensor<3x5x$T>",
        "tensor<5x1x3x$T>",
        "  %0 = stablehlo.reshape %a : (tensor<3x5x$T>) -> tensor<5x1x3x$T>",
    ),
    sample(
        "stablehlo.transpose",
        ALL,
        "%a: tensor<3x5x2x$T>",
        "tensor<2x3x5x$T>",
        "  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<3x5x2x$T>) -> tensor<2x3x5x$T>",
    ),
    sample(
        "stablehlo.broadcast_in_dim",
        ALL,
        "%a: tensor<1x5x$T>",
        "tensor<5x2x3x$T>",
        "  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 0]"
        " : (tensor<1x5x$T>) -> tensor<5x2x3x$T>",
    ),
    sample(
        "stablehlo.broadcast",
        ALL,
        "%a: tensor<5x$T>",
        "tensor<2x3x5x$T>",
        "  %0 = stablehlo.broadcast %a, sizes = [2, 3] : (tensor<5x$T>) -> tensor<2x3x5x$T>",
    ),
    sample(
        "stablehlo.slice",
        ALL,
        "%a: tensor<7x5x$T>",
        "tensor<3x2x$T>",
        "  %0 = stablehlo.slice %a [1:6:2, 2:4] : (tensor<7x5x$T>) -> tensor<3x2x$T>",
    ),
    sample(
        "stablehlo.dynamic_slice",
        ALL,
        "%a: tensor<7x5x$T>, %i: tensor<i32>",
        "tensor<3x2x$T>",
        "  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [3, 2]"
        " : (tensor<7x5x$T>, tensor<i32>, tensor<i32>) -> tensor<3x2x$T>",
    ),
    sample(
        "stablehlo.dynamic_update_slice",
        ALL,
        "%a: tensor<7x5x$T>, %u: tensor<3x2x$T>, %i: tensor<ui32>",
        "tensor<7x5x$T>",
        "  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<7x5x$T>, tensor<3x2x$T>,"
        " tensor<ui32>, tensor<ui32>) -> tensor<7x5x$T>",
    ),
    sample(
        "stablehlo.concatenate",
        ALL,
        "%a: tensor<3x2x$T>, %b: tensor<3x4x$T>",
        "tensor<3x6x$T>",
        "  %0 = stablehlo.concatenate %a, %b, dim = 1"
        " : (tensor<3x2x$T>, tensor<3x4x$T>) -> tensor<3x6x$T>",
    ),
    sample(
        "stablehlo.pad",
        ALL,
        "%a: tensor<3x5x$T>, %v: tensor<$T>",
        "tensor<6x7x$T>",
        "  %0 = stablehlo.pad %a, %v, low = [1, -1], high = [0, -1], interior = [1, 1]"
        " : (tensor<3x5x$T>, tensor<$T>) -> tensor<6x7x$T>",
    ),
    sample(
        "stablehlo.reverse",
        ALL,
        "%a: tensor<3x5x$T>",
        "tensor<3x5x$T>",
        "  %0 = stablehlo.reverse %a, dims = [0, 1] : tensor<3x5x$T>",
    ),
    sample(
        "stablehlo.torch_index_select",
        ALL,
        "%a: tensor<5x3x$T>, %i: tensor<2xi32>",
        "tensor<2x3x$T>",
        '  %0 = "stablehlo.torch_index_select"(%a, %i) {batch_dims = 0 : i64,'
        " dim = 0 : i64} : (tensor<5x3x$T>, tensor<2xi32>) -> tensor<2x3x$T>",
    ),
    sample(
        "stablehlo.optimization_barrier",
        ALL,
        _BOTH,
        "tensor<3x5x$T>, tensor<3x5x$T>",
        "  %0, %1 = stablehlo.optimization_barrier %a, %b : tensor<3x5x$T>, tensor<3x5x$T>",
    ),
    sample(
        "stablehlo.get_dimension_size",
        ALL,
        "%a: tensor<3x5x$T>",
        "tensor<i32>",
        "  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<3x5x$T>) -> tensor<i32>",
    ),
    sample(
        "stablehlo.tuple",
        ALL,
        "%a: tensor<3x$T>, %b: tensor<2xf32>",
        "tensor<3x$T>",
        "  %t = stablehlo.tuple %a, %b : tuple<tensor<3x$T>, tensor<2xf32>>\n"
        "  %0 = stablehlo.get_tuple_element %t[0]"
        " : (tuple<tensor<3x$T>, tensor<2xf32>>) -> tensor<3x$T>",
    ),
]
