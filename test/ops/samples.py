"""One small program, or a few, for every op of StableHLO and CHLO, over any element type.

In a program `$T` stands for the element type, `$R` for the type of its real part. Shapes are odd on
purpose.
"""

from dataclasses import dataclass

from mlir_fp8.dialects.float_formats import FORMATS

INTEGERS = ("i2", "i4", "i8", "i16", "i32", "i64")
UNSIGNED = ("ui2", "ui4", "ui8", "ui16", "ui32", "ui64")
FLOATS = tuple(sorted(FORMATS, key=lambda name: FORMATS[name].bits))
COMPLEX = ("complex<f32>", "complex<f64>")
KINDS = {
    "b": ("i1",),
    "s": INTEGERS,
    "u": UNSIGNED,
    "f": FLOATS,
    "c": COMPLEX,
    "w": ("f32", "f64"),
    "n": ("ui32",),
}
ALL = "bsufc"


@dataclass(frozen=True)
class Sample:
    """A program of one op, `@main`, and the kinds of element types the specification gives it.

    `kinds` are letters: b for i1, s and u for signed and unsigned integers, f for floats, c for
    complex numbers, w for f32 and f64, n for ui32; with none the program has no `$T`.
    """

    op: str
    text: str
    kinds: str = ""
    form: str = ""

    @property
    def elements(self) -> tuple[str, ...]:
        """The element types to try; one that is empty where the program has no `$T`."""
        return tuple(element for kind in self.kinds for element in KINDS[kind]) or ("",)

    def program(self, element: str = "") -> str:
        """The program over `element`."""
        real = element.removeprefix("complex<").removesuffix(">")
        return self.text.replace("$T", element).replace("$R", real)


def function(arguments: str, results: str, body: str) -> str:
    """The text of `@main`, its signature on a line of its own."""
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


def unary(op: str, kinds: str, result: str = "$T") -> Sample:
    """An op of one operand, in generic form."""
    return sample(
        op,
        kinds,
        "%a: tensor<3x5x$T>",
        f"tensor<3x5x{result}>",
        f'  %0 = "{op}"(%a) : (tensor<3x5x$T>) -> tensor<3x5x{result}>',
    )


def binary(op: str, kinds: str) -> Sample:
    """An op of two operands of one type, in generic form."""
    return sample(
        op,
        kinds,
        "%a: tensor<3x5x$T>, %b: tensor<3x5x$T>",
        "tensor<3x5x$T>",
        f'  %0 = "{op}"(%a, %b) : (tensor<3x5x$T>, tensor<3x5x$T>) -> tensor<3x5x$T>',
    )


def broadcast(op: str, kinds: str, attributes: str = "", result: str = "$T") -> Sample:
    """An op of CHLO whose second operand is broadcast."""
    return sample(
        op,
        kinds,
        "%a: tensor<3x5x$T>, %b: tensor<5x$T>",
        f"tensor<3x5x{result}>",
        f'  %0 = "{op}"(%a, %b) {attributes}'
        f" : (tensor<3x5x$T>, tensor<5x$T>) -> tensor<3x5x{result}>",
    )


def sample(op: str, kinds: str, arguments: str, results: str, body: str, form: str = "") -> Sample:
    """A program that returns %0, %1, ... of `results`."""
    names = ", ".join(f"%{i}" for i in range(results.count("tensor<")))
    text = function(arguments, results, f"{body}\n  return {names} : {results}")
    return Sample(op, text, kinds, form)
