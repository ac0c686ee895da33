"""One small program, or a few, for every op of StableHLO and CHLO, over any element type.

`T` in a program stands for the element type. Shapes are odd on purpose.
"""

from dataclasses import dataclass

INTEGERS = ("i2", "i4", "i8", "i16", "i32", "i64")
UNSIGNED = ("ui2", "ui4", "ui8", "ui16", "ui32", "ui64")
FLOATS = ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E4M3FN", "f8E5M2", "f8E4M3", "f8E3M4",
          "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ", "f8E8M0FNU", "bf16", "f16", "f32",
          "f64")  # fmt: skip
COMPLEX = ("complex<f32>", "complex<f64>")
KINDS = {"b": ("i1",), "s": INTEGERS, "u": UNSIGNED, "f": FLOATS, "c": COMPLEX}


@dataclass(frozen=True)
class Sample:
    """A program of one op, `@main`, and the kinds of element types the specification gives it.

    `kinds` are letters: b for i1, s and u for signed and unsigned integers, f for floats, c for
    complex numbers; with none the program has no `T`.
    """

    op: str
    text: str
    kinds: str = ""
    form: str = ""

    @property
    def elements(self) -> tuple[str, ...]:
        return tuple(element for kind in self.kinds for element in KINDS[kind])

    def program(self, element: str = "") -> str:
        # Types alone hold a T between `x` and `>`, or between `<` and `>`.
        return self.text.replace("$T", element)


def _function(arguments: str, results: str, body: str) -> str:
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


def _unary(op: str, kinds: str, result: str = "$T") -> Sample:
    body = f"""  %0 = "{op}"(%a) : (tensor<3x5x$T>) -> tensor<3x5x{result}>
  return %0 : tensor<3x5x{result}>"""
    return Sample(op, _function("%a: tensor<3x5x$T>", f"tensor<3x5x{result}>", body), kinds)


def _binary(op: str, kinds: str) -> Sample:
    body = f"""  %0 = "{op}"(%a, %b) : (tensor<3x5x$T>, tensor<3x5x$T>) -> tensor<3x5x$T>
  return %0 : tensor<3x5x$T>"""
    arguments = "%a: tensor<3x5x$T>, %b: tensor<3x5x$T>"
    return Sample(op, _function(arguments, "tensor<3x5x$T>", body), kinds)


def _broadcast(op: str, kinds: str, attributes: str = "", result: str = "$T") -> Sample:
    body = f"""  %0 = "{op}"(%a, %b) {attributes}
    : (tensor<3x5x$T>, tensor<5x$T>) -> tensor<3x5x{result}>
  return %0 : tensor<3x5x{result}>"""
    arguments = "%a: tensor<3x5x$T>, %b: tensor<5x$T>"
    return Sample(op, _function(arguments, f"tensor<3x5x{result}>", body), kinds)


def _op(op: str, kinds: str, arguments: str, results: str, body: str, form: str = "") -> Sample:
    names = ", ".join(f"%{i}" for i in range(results.count("tensor<")))
    text = _function(arguments, results, f"{body}\n  return {names} : {results}")
    return Sample(op, text, kinds, form)


_ELEMENTWISE = [
    _unary("stablehlo.abs", "sf"),
    _unary("stablehlo.cbrt", "fc"),
    _unary("stablehlo.ceil", "f"),
    _unary("stablehlo.cosine", "fc"),
    _unary("stablehlo.count_leading_zeros", "su"),
    _unary("stablehlo.exponential", "fc"),
    _unary("stablehlo.exponential_minus_one", "fc"),
    _unary("stablehlo.floor", "f"),
    _unary("stablehlo.imag", "f"),
    _unary("stablehlo.is_finite", "f", "i1"),
    _unary("stablehlo.log", "fc"),
    _unary("stablehlo.log_plus_one", "fc"),
    _unary("stablehlo.logistic", "fc"),
    _unary("stablehlo.negate", "sufc"),
    _unary("stablehlo.not", "bsu"),
    _unary("stablehlo.popcnt", "su"),
    _unary("stablehlo.real", "f"),
    _unary("stablehlo.round_nearest_afz", "f"),
    _unary("stablehlo.round_nearest_even", "f"),
    _unary("stablehlo.rsqrt", "fc"),
    _unary("stablehlo.sign", "sfc"),
    _unary("stablehlo.sine", "fc"),
    _unary("stablehlo.sqrt", "fc"),
    _unary("stablehlo.tan", "fc"),
    _unary("stablehlo.tanh", "fc"),
    _binary("stablehlo.add", "bsufc"),
    _binary("stablehlo.and", "bsu"),
    _binary("stablehlo.atan2", "fc"),
    _binary("stablehlo.divide", "sufc"),
    _binary("stablehlo.maximum", "bsufc"),
    _binary("stablehlo.minimum", "bsufc"),
    _binary("stablehlo.multiply", "bsufc"),
    _binary("stablehlo.or", "bsu"),
    _binary("stablehlo.power", "sufc"),
    _binary("stablehlo.remainder", "sufc"),
    _binary("stablehlo.shift_left", "su"),
    _binary("stablehlo.shift_right_arithmetic", "su"),
    _binary("stablehlo.shift_right_logical", "su"),
    _binary("stablehlo.subtract", "sufc"),
    _binary("stablehlo.xor", "bsu"),
]

_BOTH = "%a: tensor<3x5x$T>, %b: tensor<3x5x$T>"
_ALL = "bsufc"

_SHAPED = [
    *(
        _op("stablehlo.compare", kinds, _BOTH, "tensor<3x5xi1>",
            f"  %0 = stablehlo.compare {direction}, %a, %b : (tensor<3x5x$T>, tensor<3x5x$T>)"
            " -> tensor<3x5xi1>", direction)
        for direction, kinds in (("EQ", _ALL), ("NE", _ALL), ("LT", "bsuf"), ("GE", "bsuf"),
                                 ("GT", "bsuf"), ("LE", "bsuf"))
    ),
    _op("stablehlo.compare", "f", _BOTH, "tensor<3x5xi1>",
        "  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<3x5x$T>, tensor<3x5x$T>)"
        " -> tensor<3x5xi1>", "TOTALORDER"),
    _op("stablehlo.select", _ALL, f"%p: tensor<3x5xi1>, {_BOTH}", "tensor<3x5x$T>",
        "  %0 = stablehlo.select %p, %a, %b : tensor<3x5xi1>, tensor<3x5x$T>"),
    _op("stablehlo.clamp", "suf", "%l: tensor<$T>, %a: tensor<3x5x$T>, %h: tensor<3x5x$T>",
        "tensor<3x5x$T>", '  %0 = "stablehlo.clamp"(%l, %a, %h)'
        " : (tensor<$T>, tensor<3x5x$T>, tensor<3x5x$T>) -> tensor<3x5x$T>"),
    *(
        _op("stablehlo.convert", _ALL, "%a: tensor<3x5x$T>", f"tensor<3x5x{to}>",
            f"  %0 = stablehlo.convert %a : (tensor<3x5x$T>) -> tensor<3x5x{to}>", f"to {to}")
        for to in ("i1", "i8", "ui8", "i32", "ui64", "f8E4M3FN", "f4E2M1FN", "bf16", "f32", "f64",
                   "complex<f32>")
    ),
    *(
        _op("stablehlo.convert", _ALL, f"%a: tensor<3x5x{of}>", "tensor<3x5x$T>",
            f"  %0 = stablehlo.convert %a : (tensor<3x5x{of}>) -> tensor<3x5x$T>", f"from {of}")
        for of in ("i1", "i8", "ui8", "i32", "ui64", "f8E4M3FN", "bf16", "f32", "f64")
    ),
    _op("stablehlo.complex", "", "%a: tensor<3x5xf32>, %b: tensor<3x5xf32>",
        "tensor<3x5xcomplex<f32>>", "  %0 = stablehlo.complex %a, %b : tensor<3x5xcomplex<f32>>"),
    _op("stablehlo.imag", "", "%a: tensor<3x5xcomplex<f64>>", "tensor<3x5xf64>",
        "  %0 = stablehlo.imag %a : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xf64>", "complex"),
    _op("stablehlo.real", "", "%a: tensor<3x5xcomplex<f64>>", "tensor<3x5xf64>",
        "  %0 = stablehlo.real %a : (tensor<3x5xcomplex<f64>>) -> tensor<3x5xf64>", "complex"),
    _op("stablehlo.abs", "", "%a: tensor<3x5xcomplex<f32>>", "tensor<3x5xf32>",
        "  %0 = stablehlo.abs %a : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>", "complex"),
    *(
        _op("stablehlo.reduce_precision", "f", "%a: tensor<3x5x$T>", "tensor<3x5x$T>",
            f"  %0 = stablehlo.reduce_precision %a, format = {fmt} : tensor<3x5x$T>", fmt)
        for fmt in ("e4m3", "e5m2", "e8m7", "e2m1", "e3m0")
    ),
    _op("stablehlo.bitcast_convert", "", "%a: tensor<3x5xf8E4M3FN>", "tensor<3x5xi8>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3x5xf8E4M3FN>) -> tensor<3x5xi8>", "same"),
    _op("stablehlo.bitcast_convert", "", "%a: tensor<3xf32>", "tensor<3x4xf8E5M2>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3xf32>) -> tensor<3x4xf8E5M2>", "narrower"),
    _op("stablehlo.bitcast_convert", "", "%a: tensor<3x8xi8>", "tensor<3xf64>",
        "  %0 = stablehlo.bitcast_convert %a : (tensor<3x8xi8>) -> tensor<3xf64>", "wider"),
    _op("stablehlo.iota", "sufc", "", "tensor<3x5x$T>",
        "  %0 = stablehlo.iota dim = 1 : tensor<3x5x$T>"),
    _op("stablehlo.constant", "b", "", "tensor<2x3xi1>",
        "  %0 = stablehlo.constant dense<[[true, false, true], [false, false, true]]>"
        " : tensor<2x3xi1>"),
    _op("stablehlo.constant", "su", "", "tensor<2x$T>",
        "  %0 = stablehlo.constant dense<[1, 0]> : tensor<2x$T>"),
    _op("stablehlo.constant", "f", "", "tensor<2x$T>",
        "  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2x$T>"),
    _op("stablehlo.constant", "c", "", "tensor<2x$T>",
        "  %0 = stablehlo.constant dense<[(1.0, 2.0), (0.0, -1.0)]> : tensor<2x$T>"),
    _op("stablehlo.reshape", _ALL, "%a: tensor<3x5x$T>", "tensor<5x1x3x$T>",
        "  %0 = stablehlo.reshape %a : (tensor<3x5x$T>) -> tensor<5x1x3x$T>"),
    _op("stablehlo.transpose", _ALL, "%a: tensor<3x5x2x$T>", "tensor<2x3x5x$T>",
        "  %0 = stablehlo.transpose %a, dims = [2, 0, 1]"
        " : (tensor<3x5x2x$T>) -> tensor<2x3x5x$T>"),
    _op("stablehlo.broadcast_in_dim", _ALL, "%a: tensor<1x5x$T>", "tensor<5x2x3x$T>",
        "  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 0]"
        " : (tensor<1x5x$T>) -> tensor<5x2x3x$T>"),
    _op("stablehlo.broadcast", _ALL, "%a: tensor<5x$T>", "tensor<2x3x5x$T>",
        "  %0 = stablehlo.broadcast %a, sizes = [2, 3] : (tensor<5x$T>) -> tensor<2x3x5x$T>"),
    _op("stablehlo.slice", _ALL, "%a: tensor<7x5x$T>", "tensor<3x2x$T>",
        "  %0 = stablehlo.slice %a [1:6:2, 2:4] : (tensor<7x5x$T>) -> tensor<3x2x$T>"),
    _op("stablehlo.dynamic_slice", _ALL, "%a: tensor<7x5x$T>, %i: tensor<i32>", "tensor<3x2x$T>",
        "  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [3, 2]"
        " : (tensor<7x5x$T>, tensor<i32>, tensor<i32>) -> tensor<3x2x$T>"),
    _op("stablehlo.dynamic_update_slice", _ALL,
        "%a: tensor<7x5x$T>, %u: tensor<3x2x$T>, %i: tensor<ui32>", "tensor<7x5x$T>",
        "  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<7x5x$T>, tensor<3x2x$T>,"
        " tensor<ui32>, tensor<ui32>) -> tensor<7x5x$T>"),
    _op("stablehlo.concatenate", _ALL, "%a: tensor<3x2x$T>, %b: tensor<3x4x$T>", "tensor<3x6x$T>",
        "  %0 = stablehlo.concatenate %a, %b, dim = 1"
        " : (tensor<3x2x$T>, tensor<3x4x$T>) -> tensor<3x6x$T>"),
    _op("stablehlo.pad", _ALL, "%a: tensor<3x5x$T>, %v: tensor<$T>", "tensor<6x7x$T>",
        "  %0 = stablehlo.pad %a, %v, low = [1, -1], high = [0, -1], interior = [1, 1]"
        " : (tensor<3x5x$T>, tensor<$T>) -> tensor<6x7x$T>"),
    _op("stablehlo.reverse", _ALL, "%a: tensor<3x5x$T>", "tensor<3x5x$T>",
        "  %0 = stablehlo.reverse %a, dims = [0, 1] : tensor<3x5x$T>"),
    _op("stablehlo.torch_index_select", _ALL, "%a: tensor<5x3x$T>, %i: tensor<2xi32>",
        "tensor<2x3x$T>", '  %0 = "stablehlo.torch_index_select"(%a, %i) {batch_dims = 0 : i64,'
        " dim = 0 : i64} : (tensor<5x3x$T>, tensor<2xi32>) -> tensor<2x3x$T>"),
    _op("stablehlo.optimization_barrier", _ALL, _BOTH, "tensor<3x5x$T>, tensor<3x5x$T>",
        "  %0, %1 = stablehlo.optimization_barrier %a, %b : tensor<3x5x$T>, tensor<3x5x$T>"),
    _op("stablehlo.get_dimension_size", _ALL, "%a: tensor<3x5x$T>", "tensor<i32>",
        "  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<3x5x$T>) -> tensor<i32>"),
    _op("stablehlo.tuple", _ALL, "%a: tensor<3x$T>, %b: tensor<2xf32>", "tensor<3x$T>",
        "  %t = stablehlo.tuple %a, %b : tuple<tensor<3x$T>, tensor<2xf32>>\n"
        "  %0 = stablehlo.get_tuple_element %t[0]"
        " : (tuple<tensor<3x$T>, tensor<2xf32>>) -> tensor<3x$T>"),
]
