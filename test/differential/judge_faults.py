"""Where the other judges are wrong: one row each, with an example that a test runs.

A row excuses a difference only where its `applies` holds for the one op that makes it, on the very
operands that native code had. The example is still wrong, else its test fails and the row goes.
"""

from math import floor, lgamma, nan

import numpy as np
from judge_fault import EXACT, JudgeFault, codes, constant, gives, module, named, takes

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS

_INTERPRETER, _XLA = ("interpreter",), ("xla",)
_BOTH = ("interpreter", "xla")
_SUMS = named("dot_general", "convolution", "reduce", "reduce_window")
_ROUNDING = named("floor", "ceil", "round_nearest_afz", "round_nearest_even")
_WITHOUT_NAN = tuple(name for name, fmt in FORMATS.items() if not fmt.has_nan)
_UNSIGNED = ("ui8", "ui16", "ui32", "ui64")

_MOVEMENT = named("concatenate", "dynamic_update_slice", "gather", "pad", "scatter", "select")
_FNUZ = tuple(name for name in FORMATS if name.endswith("FNUZ"))
_OF_SUBNORMALS = named(
    *("cbrt", "ceil", "exponential_minus_one", "floor", "log", "log_plus_one", "power", "rsqrt"),
    "sqrt",
)

JUDGE_FAULTS: tuple[JudgeFault, ...] = (
    JudgeFault(
        _BOTH,
        "sums of narrow floats",
        lambda op: _SUMS(op) and gives(op, tuple(NARROW_FLOATS)),
        "rounds to the declared type after every addition, where the rule is to add in f32",
        module(
            "tensor<f8E4M3FN>",
            constant("a", "tensor<3xf8E4M3FN>", "[16.0, 1.0, 1.0]"),
            constant("z", "tensor<f8E4M3FN>", "0.0"),
            "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]"
            " : (tensor<3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>",
        ),
        codes("f8E4M3FN", 18.0)[0],
        EXACT,
    ),
    JudgeFault(
        _INTERPRETER,
        "logistic of narrow floats",
        lambda op: op.name == "stablehlo.logistic" and gives(op, tuple(NARROW_FLOATS)),
        "rounds each step of 1 / (1 + exp(-x)) to the narrow float",
        module(
            "tensor<f8E4M3FN>",
            constant("a", "tensor<f8E4M3FN>", "-3.5"),
            "%r = stablehlo.logistic %a : tensor<f8E4M3FN>",
        ),
        codes("f8E4M3FN", 1 / (1 + np.exp(3.5)))[0],
        EXACT,
    ),
    JudgeFault(
        _INTERPRETER,
        "rounding f8E3M4 to integers",
        lambda op: _ROUNDING(op) and gives(op, ("f8E3M4",)),
        "gives other numbers than integers",
        module(
            "tensor<f8E3M4>",
            constant("a", "tensor<f8E3M4>", "2.5"),
            "%r = stablehlo.floor %a : tensor<f8E3M4>",
        ),
        codes("f8E3M4", floor(2.5))[0],
        EXACT,
    ),
    JudgeFault(
        _INTERPRETER,
        "reduce_precision without mantissa bits",
        lambda op: op.name == "stablehlo.reduce_precision" and "mantissa_bits = 0 " in op.text,
        "makes infinity of NaN, which stays NaN",
        module(
            "tensor<f32>",
            constant("a", "tensor<f32>", "0x7FC00000"),
            "%r = stablehlo.reduce_precision %a, format = e5m0 : tensor<f32>",
        ),
        codes("f32", nan)[0],
        "XLA:CPU",
    ),
    JudgeFault(
        _BOTH,
        "NaN to types without NaN",
        lambda op: gives(op, _WITHOUT_NAN),
        "makes of NaN whatever number its mantissa's first bits stand for; it is a zero",
        module(
            "tensor<f4E2M1FN>",
            constant("a", "tensor<f32>", "0x7FC00000"),
            "%r = stablehlo.convert %a : (tensor<f32>) -> tensor<f4E2M1FN>",
        ),
        codes("f4E2M1FN", nan)[0],
        "ml_dtypes, whose rule this is",
    ),
    JudgeFault(
        _BOTH,
        "zero to f8E8M0FNU",
        lambda op: gives(op, ("f8E8M0FNU",)),
        "gives 2^-127 for zero, which the format has no code for, so that it is NaN",
        module(
            "tensor<f8E8M0FNU>",
            constant("a", "tensor<f32>", "0.0"),
            "%r = stablehlo.convert %a : (tensor<f32>) -> tensor<f8E8M0FNU>",
        ),
        codes("f8E8M0FNU", nan)[0],
        "ml_dtypes, whose rule this is",
    ),
    JudgeFault(
        _BOTH,
        "NaN of f8E8M0FNU",
        lambda op: takes(op, ("f8E8M0FNU",)),
        "takes the code 0xFF for infinity, where a wider type is computed in",
        module(
            "tensor<f32>",
            constant("a", "tensor<f8E8M0FNU>", "0xFF"),
            "%r = stablehlo.convert %a : (tensor<f8E8M0FNU>) -> tensor<f32>",
        ),
        np.array(nan, np.float32),
        "the OCP MX specification: 0xFF is NaN",
    ),
    JudgeFault(
        _BOTH,
        "unsigned indices",
        lambda op: (
            named("gather", "scatter", "dynamic_slice", "dynamic_update_slice")(op)
            and any(value.element in _UNSIGNED for value in op.operands)
        ),
        "takes an index for negative from the middle of its type's range on",
        module(
            "tensor<1xi32>",
            constant("a", "tensor<3xi32>", "[1, 2, 3]"),
            constant("i", "tensor<ui8>", "200"),
            "%r = stablehlo.dynamic_slice %a, %i, sizes = [1]"
            " : (tensor<3xi32>, tensor<ui8>) -> tensor<1xi32>",
        ),
        np.array([3], element_dtype("i32")),
        "the specification: indices are clamped into the operand",
    ),
    JudgeFault(
        _BOTH,
        "total order of NaNs",
        lambda op: op.name == "stablehlo.compare" and "TOTALORDER" in op.text,
        "takes NaN for unordered; XLA only where it folds constants",
        module(
            "tensor<i1>",
            constant("a", "tensor<f32>", "0x7FC00000"),
            "%r = stablehlo.compare GE, %a, %a, TOTALORDER"
            " : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        ),
        np.array(True),
        "IEEE 754: everything is as large as itself in the total order",
    ),
    JudgeFault(
        _INTERPRETER,
        "reduce_precision of FNUZ types",
        lambda op: op.name == "stablehlo.reduce_precision" and gives(op, _FNUZ),
        "flushes a negative number to the code of -0, which is NaN's there",
        module(
            "tensor<f8E4M3FNUZ>",
            constant("a", "tensor<f8E4M3FNUZ>", "-0.0078125"),
            "%r = stablehlo.reduce_precision %a, format = e1m3 : tensor<f8E4M3FNUZ>",
        ),
        codes("f8E4M3FNUZ", 0.0)[0],
        EXACT,
    ),
    JudgeFault(
        _INTERPRETER,
        "reduce_precision of f8E4M3FN",
        lambda op: op.name == "stablehlo.reduce_precision" and gives(op, ("f8E4M3FN",)),
        "gives 256, the code of infinity elsewhere, beyond the range, where the type has NaN alone",
        module(
            "tensor<f8E4M3FN>",
            constant("a", "tensor<f8E4M3FN>", "4.0"),
            "%r = stablehlo.reduce_precision %a, format = e2m3 : tensor<f8E4M3FN>",
        ),
        codes("f8E4M3FN", nan)[0],
        EXACT,
    ),
    JudgeFault(
        _INTERPRETER,
        "reduce_precision of f8E8M0FNU",
        lambda op: op.name == "stablehlo.reduce_precision" and gives(op, ("f8E8M0FNU",)),
        "rounds 2^-1, which every format with five exponent bits holds, up to 1",
        module(
            "tensor<f8E8M0FNU>",
            constant("a", "tensor<f8E8M0FNU>", "0x7E"),
            "%r = stablehlo.reduce_precision %a, format = e5m3 : tensor<f8E8M0FNU>",
        ),
        codes("f8E8M0FNU", 0.5)[0],
        EXACT,
    ),
    JudgeFault(
        _INTERPRETER,
        "lgamma of subnormal numbers",
        lambda op: op.name == "chlo.lgamma",
        "computes CHLO's decomposition, whose sine of a subnormal number is off",
        module(
            "tensor<f32>",
            constant("a", "tensor<f32>", "0x00000002"),
            "%r = chlo.lgamma %a : tensor<f32> -> tensor<f32>",
        ),
        np.array(lgamma(2.0**-148), np.float32),
        "Python's math.lgamma",
    ),
    JudgeFault(
        _XLA,
        "6 in f4E2M1FN to integers",
        lambda op: op.name == "stablehlo.convert" and takes(op, ("f4E2M1FN",)),
        "takes the largest number, 6, for infinity",
        "func.func @main(%a: tensor<f4E2M1FN>) -> tensor<i8> {\n"
        "%r = stablehlo.convert %a : (tensor<f4E2M1FN>) -> tensor<i8>\nreturn %r : tensor<i8>\n}",
        np.array(6, np.int8),
        "the OCP MX specification: f4E2M1FN has no infinity",
        (codes("f4E2M1FN", 6.0)[0].reshape(()),),
    ),
    JudgeFault(
        _XLA,
        "division by constants",
        lambda op: op.name == "stablehlo.divide" and gives(op, ("f16", "f32", "f64")),
        "multiplies by the rounded reciprocal of a constant, which rounds twice",
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%b = stablehlo.constant dense<[49.0, 41.0]> : tensor<2xf32>\n"
        "%r = stablehlo.divide %a, %b : tensor<2xf32>\nreturn %r : tensor<2xf32>\n}",
        np.ones(2, np.float32),
        EXACT,
        (np.array([49.0, 41.0], np.float32),),
    ),
    JudgeFault(
        _XLA,
        "division by one number for all",
        lambda op: op.name == "stablehlo.divide" and gives(op, ("f16", "f32", "f64")),
        "multiplies by the rounded reciprocal of a number that is broadcast",
        "func.func @main(%a: tensor<2xf32>, %s: tensor<f32>) -> tensor<2xf32> {\n"
        "%b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
        "%r = stablehlo.divide %a, %b : tensor<2xf32>\nreturn %r : tensor<2xf32>\n}",
        np.ones(2, np.float32),
        EXACT,
        (np.array([41.0, 41.0], np.float32), np.array(41.0, np.float32)),
    ),
    JudgeFault(
        _XLA,
        "sums of a product",
        lambda op: False,  # two ops make it, and no one of them
        "adds to the exact product, where the rule is to round the product before",
        "func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n"
        "%p = stablehlo.multiply %a, %a : tensor<f32>\n"
        "%r = stablehlo.add %p, %b : tensor<f32>\nreturn %r : tensor<f32>\n}",
        np.array(0.0, np.float32),
        EXACT,
        (np.array(1 + 2.0**-12, np.float32), np.array(-1 - 2.0**-11, np.float32)),
    ),
    JudgeFault(
        _XLA,
        "dots of one product",
        named("dot_general"),
        "gives the product itself, -0 of 0 and -1, where the rule is to add it to 0",
        "func.func @main(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<f32> {\n"
        "%r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]"
        " : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>\nreturn %r : tensor<f32>\n}",
        np.array(0.0, np.float32),
        "the specification: a sum that starts at 0",
        (np.zeros(1, np.float32), np.full(1, -1.0, np.float32)),
    ),
    JudgeFault(
        _XLA,
        "functions of subnormal numbers",
        lambda op: _OF_SUBNORMALS(op) or op.name.startswith("chlo."),
        "takes subnormal f32 numbers for zero",
        "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
        "%r = stablehlo.sqrt %a : tensor<f32>\nreturn %r : tensor<f32>\n}",
        np.array(2.0**-70, np.float32),
        EXACT,
        (np.array(2.0**-140, np.float32),),
    ),
    JudgeFault(
        _XLA,
        "NaN payloads and signs of f8E3M4, f8E4M3 and f8E5M2",
        lambda op: _MOVEMENT(op) and gives(op, ("f8E3M4", "f8E4M3", "f8E5M2")),
        "moves them by way of a wider type, which makes one NaN of all",
        "func.func @main(%a: tensor<2xf8E3M4>) -> tensor<3xf8E3M4> {\n"
        "%z = stablehlo.constant dense<1.0> : tensor<f8E3M4>\n"
        "%r = stablehlo.pad %a, %z, low = [1], high = [0], interior = [0]"
        " : (tensor<2xf8E3M4>, tensor<f8E3M4>) -> tensor<3xf8E3M4>\n"
        "return %r : tensor<3xf8E3M4>\n}",
        np.array([0x30, 0x7E, 0xF1], np.uint8).view(element_dtype("f8E3M4")),
        "the specification: pad moves data",
        (np.array([0x7E, 0xF1], np.uint8).view(element_dtype("f8E3M4")),),
    ),
    JudgeFault(
        _XLA,
        "windows that reach beyond the end",
        named("scatter"),
        "skips the whole window, not the elements of it that are beyond",
        "func.func @main(%a: tensor<3xi16>, %i: tensor<i32>) -> tensor<3xi16> {\n"
        '%r = "stablehlo.scatter"(%a, %i, %a) <{scatter_dimension_numbers = #stablehlo.scatter<'
        "update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({\n"
        "^bb0(%x: tensor<i16>, %y: tensor<i16>):\nstablehlo.return %y : tensor<i16>\n"
        "}) : (tensor<3xi16>, tensor<i32>, tensor<3xi16>) -> tensor<3xi16>\n"
        "return %r : tensor<3xi16>\n}",
        np.array([1, 1, 2], np.int16),
        "the specification, and the interpreter",
        (np.array([1, 2, 3], np.int16), np.array(1, np.int32)),
    ),
)
