"""Examples of the ops that make and move elements, in the StableHLO specification."""

import struct

from spec_examples import example

_GRID = [[1, 2, 3], [4, 5, 6]]
_ROWS = [[1, 2], [3, 4], [5, 6]]
_CUBE = [
    [[1, 2], [3, 4], [5, 6], [7, 8]],
    [[9, 10], [11, 12], [13, 14], [15, 16]],
    [[17, 18], [19, 20], [21, 22], [23, 24]],
]
_GATHERED = [
    [[[1, 2], [3, 4]], [[3, 4], [5, 6]], [[13, 14], [15, 16]]],
    [[[9, 10], [11, 12]], [[11, 12], [13, 14]], [[17, 18], [19, 20]]],
]
_STARTS = [[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 2]]]
_GATHER = """dimension_numbers = #stablehlo.gather<offset_dims = [2, 3],
    collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>,
    indices_are_sorted = false"""
_PADDED = [
    [0, 1, 0, 0, 2, 0, 0, 3, 0],
    [0] * 9,
    [0, 4, 0, 0, 5, 0, 0, 6, 0],
    [0] * 9,
    [0] * 9,
]
_BLOCKS = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
_BROADCAST = [[[1, 1], [2, 2], [3, 3]]] * 2
_PAIR = "tuple<tensor<2xf64>, tuple<tensor<i64>>>"

MOVEMENT = (
    example(
        "stablehlo.bitcast_convert",
        {"a: f64": struct.unpack("<d", struct.pack("<q", 0x0123456789ABCDEF))[0]},
        [("4xi16", [0xCDEF - 0x10000, 0x89AB - 0x10000, 0x4567, 0x0123])],
        "  %0 = stablehlo.bitcast_convert %a : (tensor<f64>) -> tensor<4xi16>",
    ),
    example(
        "stablehlo.bitcast_convert",
        {"a: 2xf32": [0.0, 1.0]},
        [("2x4xi8", [[0, 0, 0, 0], [0, 0, -128, 63]])],
        "  %0 = stablehlo.bitcast_convert %a : (tensor<2xf32>) -> tensor<2x4xi8>",
    ),
    example(
        "stablehlo.broadcast_in_dim",
        {"a: 1x3xi32": [[1, 2, 3]]},
        [("2x3x2xi32", _BROADCAST)],
        "  %0 = stablehlo.broadcast_in_dim %a, dims = [2, 1]"
        " : (tensor<1x3xi32>) -> tensor<2x3x2xi32>",
    ),
    example(
        "stablehlo.concatenate",
        {"a: 3x2xi64": _ROWS, "b: 1x2xi64": [[7, 8]]},
        [("4x2xi64", [[1, 2], [3, 4], [5, 6], [7, 8]])],
        "  %0 = stablehlo.concatenate %a, %b, dim = 0"
        " : (tensor<3x2xi64>, tensor<1x2xi64>) -> tensor<4x2xi64>",
    ),
    example(
        "stablehlo.constant",
        {},
        [("2x2xf32", [[0.0, 1.0], [2.0, 3.0]])],
        "  %0 = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>",
    ),
    example(
        "stablehlo.dynamic_slice",
        {"a: 4x4xi32": _BLOCKS, "i: i64": -1, "j: i64": 3},
        [("2x2xi32", [[1, 1], [1, 1]])],
        "  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [2, 2]"
        " : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x2xi32>",
    ),
    example(
        "stablehlo.dynamic_update_slice",
        {
            "a: 4x4xi32": [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]],
            "u: 2x2xi32": [[1, 1], [1, 1]],
            "i: i64": -1,
            "j: i64": 3,
        },
        [("4x4xi32", [[1] * 4] * 4)],
        "  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %j : (tensor<4x4xi32>,"
        " tensor<2x2xi32>, tensor<i64>, tensor<i64>) -> tensor<4x4xi32>",
    ),
    example(
        "stablehlo.gather",
        {"a: 3x4x2xi32": _CUBE, "i: 2x3x2xi64": _STARTS},
        [("2x3x2x2xi32", _GATHERED)],
        f'  %0 = "stablehlo.gather"(%a, %i) {{{_GATHER}, slice_sizes = array<i64: 1, 2, 2>}}'
        " : (tensor<3x4x2xi32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xi32>",
    ),
    example(
        "stablehlo.get_dimension_size",
        {"a: 2x3xi64": _GRID},
        [("i32", 3)],
        "  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xi64>) -> tensor<i32>",
    ),
    example(
        "stablehlo.get_tuple_element",
        {"a: 2xf64": [1.0, 2.0], "b: i64": 3},
        [("2xf64", [1.0, 2.0])],
        f"""  %t = stablehlo.tuple %b : tuple<tensor<i64>>
  %u = stablehlo.tuple %a, %t : {_PAIR}
  %0 = stablehlo.get_tuple_element %u[0] : ({_PAIR}) -> tensor<2xf64>""",
    ),
    example(
        "stablehlo.iota",
        {},
        [("4x5xi32", [[i] * 5 for i in range(4)]), ("4x5xi32", [list(range(5))] * 4)],
        "  %0 = stablehlo.iota dim = 0 : tensor<4x5xi32>\n"
        "  %1 = stablehlo.iota dim = 1 : tensor<4x5xi32>",
    ),
    example(
        "stablehlo.optimization_barrier",
        {"a: f32": 0.0, "b: f32": 1.0},
        [("f32", 0.0), ("f32", 1.0)],
        "  %0, %1 = stablehlo.optimization_barrier %a, %b : tensor<f32>, tensor<f32>",
    ),
    example(
        "stablehlo.pad",
        {"a: 2x3xi32": _GRID, "v: i32": 0},
        [("5x9xi32", _PADDED)],
        "  %0 = stablehlo.pad %a, %v, low = [0, 1], high = [2, 1], interior = [1, 2]"
        " : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x9xi32>",
    ),
    example(
        "stablehlo.reshape",
        {"a: 2x3xi32": _GRID},
        [("3x2xi32", _ROWS)],
        "  %0 = stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<3x2xi32>",
    ),
    example(
        "stablehlo.reverse",
        {"a: 3x2xi32": _ROWS},
        [("3x2xi32", [[2, 1], [4, 3], [6, 5]])],
        "  %0 = stablehlo.reverse %a, dims = [1] : tensor<3x2xi32>",
    ),
    example(
        "stablehlo.select",
        {
            "p: 2x2xi1": [[False, True], [True, False]],
            "a: 2x2xi32": [[1, 2], [3, 4]],
            "b: 2x2xi32": [[5, 6], [7, 8]],
        },
        [("2x2xi32", [[5, 2], [3, 8]])],
        "  %0 = stablehlo.select %p, %a, %b : tensor<2x2xi1>, tensor<2x2xi32>",
    ),
    example(
        "stablehlo.slice",
        {"a: 3x4xi64": [[0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]},
        [("2x2xi64", [[1, 1], [1, 1]])],
        "  %0 = stablehlo.slice %a [1:3, 2:4] : (tensor<3x4xi64>) -> tensor<2x2xi64>",
    ),
    example(
        "stablehlo.transpose",
        {"a: 2x3x2xi32": [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]},
        [("2x3x2xi32", [[[1, 7], [3, 9], [5, 11]], [[2, 8], [4, 10], [6, 12]]])],
        "  %0 = stablehlo.transpose %a, dims = [2, 1, 0]"
        " : (tensor<2x3x2xi32>) -> tensor<2x3x2xi32>",
    ),
    example(
        "stablehlo.dynamic_iota",
        {},
        [("4x5xi64", [[i] * 5 for i in range(4)])],
        "  %s = stablehlo.constant dense<[4, 5]> : tensor<2xi64>\n"
        "  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<4x5xi64>",
    ),
    example(
        "stablehlo.dynamic_reshape",
        {"a: 2x3xi64": _GRID},
        [("3x2xi64", _ROWS)],
        "  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi64>\n"
        "  %0 = stablehlo.dynamic_reshape %a, %s"
        " : (tensor<2x3xi64>, tensor<2xi64>) -> tensor<3x2xi64>",
    ),
    example(
        "stablehlo.dynamic_broadcast_in_dim",
        {"a: 1x3xi64": [[1, 2, 3]]},
        [("2x3x2xi64", _BROADCAST)],
        "  %s = stablehlo.constant dense<[2, 3, 2]> : tensor<3xi64>\n"
        "  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [2, 1]"
        " : (tensor<1x3xi64>, tensor<3xi64>) -> tensor<2x3x2xi64>",
    ),
    example(
        "stablehlo.dynamic_pad",
        {"a: 2x3xi64": _GRID, "v: i64": 0},
        [("5x9xi64", _PADDED)],
        "  %l = stablehlo.constant dense<[0, 1]> : tensor<2xi64>\n"
        "  %h = stablehlo.constant dense<[2, 1]> : tensor<2xi64>\n"
        "  %i = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n"
        "  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i : (tensor<2x3xi64>, tensor<i64>,"
        " tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x9xi64>",
    ),
    example(
        "stablehlo.dynamic_gather",
        {"a: 3x4x2xi64": _CUBE, "i: 2x3x2xi64": _STARTS},
        [("2x3x2x2xi64", _GATHERED)],
        "  %s = stablehlo.constant dense<[1, 2, 2]> : tensor<3xi64>\n"
        f'  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {{{_GATHER}}} : (tensor<3x4x2xi64>,'
        " tensor<2x3x2xi64>, tensor<3xi64>) -> tensor<2x3x2x2xi64>",
    ),
)
