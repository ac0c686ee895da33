"""Scaled dots of every kind, with what XLA:GPU makes of each after the pass."""

from dataclasses import dataclass

from scaled_programs import Program

E4, E5 = "f8E4M3FN", "f8E5M2"
AB = {"a": f"64x128x{E4}", "b": f"128x32x{E4}"}
GRADIENT = {"a": f"64x128x{E5}", "b": f"128x32x{E4}"}
ODD = {"a": f"34x60x{E4}", "b": f"60x27x{E4}"}
ROW = {"a": f"1x64x{E4}", "b": f"64x32x{E4}"}
FREE = {"a": f"2x16x64x{E4}", "b": f"64x4x8x{E4}"}
BF16 = {"a_scale": "bf16", "b_scale": "bf16"}
F32 = {"a_scale": "f32", "b_scale": "f32"}
IN_BF16 = "operand_type = bf16, dot_type = bf16"
IN_F32 = "operand_type = f32"
GELU = 'activation = "gelu_tanh"'


OUTER = "REJECT a size of 1 makes it a matrix by a vector"
"""An outer product is no matmul: XLA multiplies."""


def dims(lhs: str, rhs: str, batching: tuple[str, str] = ("", "")) -> str:
    return (
        f"lhs_batching_dimensions = [{batching[0]}], rhs_batching_dimensions = [{batching[1]}], "
        f"lhs_contracting_dimensions = [{lhs}], rhs_contracting_dimensions = [{rhs}]"
    )


@dataclass(frozen=True)
class Case:
    """A program, the parts that become one FP8 call with its dot, and what is left behind it."""

    program: Program
    fused: str = ""
    left: str = ""


CASES = [
    Case(Program("f8 operands", AB, ["64x32xf32"])),
    Case(Program("f8 operands to bf16", AB, ["64x32xbf16"], "dot_type = bf16, fast_accum")),
    Case(Program("to f32, to bf16", AB, ["64x32xbf16"])),
    Case(Program("dequantized to bf16", AB | BF16, ["64x32xbf16"], IN_BF16)),
    Case(
        Program("dequantized to f16", AB | {"a_scale": "f16"}, ["64x32xf32"], "operand_type = f16")
    ),
    Case(Program("divided by scales", AB | F32, ["64x32xf32"], f"{IN_F32}, a_inverse, b_inverse")),
    Case(
        Program("constant scales", AB | F32, ["64x32xbf16"], IN_BF16,
                constants={"a_scale": 0.3, "b_scale": 1.7}),
    ),
    Case(
        Program("scales of one element", AB | {"a_scale": "1x1xf32", "b_scale": "1x1xf32"},
                ["64x32xf32"], IN_F32),
    ),
    Case(Program("gradient", GRADIENT | BF16, ["64x32xbf16"], IN_BF16)),
    Case(Program("scaled sum", AB | {"a_scale": "f32"}, ["64x32xf32"]), "a_scale"),
    Case(Program("scaled sum of a gradient", GRADIENT | {"b_scale": "bf16"}, ["64x32xf32"]),
         "a_scale"),
    Case(
        Program("rows and columns", AB | {"a_scale": "64x1xf32", "b_scale": "1x32xf32"},
                ["64x32xbf16"], "epilogue_type = bf16"),
        left="multiply",
    ),
    Case(
        Program("rows of several dimensions",
                FREE | {"a_scale": "2x1x1xf32", "b_scale": "1x1x8xbf16"},
                ["2x16x4x8xf32"], dims=dims("2", "0")),
        left="multiply",
    ),
    Case(
        Program("quantized", AB | F32 | {"d_scale": "f32"}, [f"64x32x{E4}"],
                f"{IN_F32}, saturate"),
        "quantize",
    ),
    Case(
        Program("quantized with amax", AB | F32 | {"d_scale": "f32"}, [f"64x32x{E4}", "f32"],
                f"{IN_F32}, saturate, amax, d_inverse"),
        "quantize amax",
    ),
    Case(
        Program("not clamped", AB | F32 | {"d_scale": "f32"}, [f"64x32x{E4}"], IN_F32),
        left="divide",
    ),
    Case(  # which cuBLASLt does not have: quantized behind a barrier
        Program("quantized to E5M2", AB | F32 | {"d_scale": "f32"}, [f"64x32x{E5}", "f32"],
                f"{IN_F32}, saturate, amax"),
    ),
    Case(
        Program("gradient quantized to E5M2", GRADIENT | F32, [f"64x32x{E5}"],
                f"{IN_F32}, saturate"),
        "quantize",
    ),
    Case(
        Program("bias, relu, amax", AB | BF16 | {"bias": "32xbf16", "d_scale": "bf16"},
                [f"64x32x{E4}", "bf16"], f'{IN_BF16}, saturate, amax, activation = "relu"'),
        "bias relu quantize amax",
    ),
    Case(
        Program("bias, gelu", AB | BF16 | {"bias": "32xbf16"}, ["64x32xbf16"],
                f"{IN_BF16}, {GELU}"),
        "bias gelu",
    ),
    Case(  # XLA would make alpha of a constant, though the bias is not to be scaled before
        Program("bias, constant scale of the result",
                AB | BF16 | {"bias": "32xbf16", "d_scale": "bf16"},
                [f"64x32x{E4}"], f"{IN_BF16}, saturate, d_inverse", constants={"d_scale": 0.37}),
        "bias quantize",
    ),
    Case(
        Program("gelu, constant scale of the result", AB | BF16 | {"d_scale": "f32"},
                ["64x32xbf16"], f"{IN_BF16}, {GELU}", constants={"d_scale": 1.7}),
        "gelu", left="divide",
    ),
    Case(Program("bias in f32", AB | F32 | {"bias": "32xf32"}, ["64x32xf32"], IN_F32), left="add"),
    Case(Program("bias from bf16", AB | F32 | {"bias": "32xbf16"}, ["64x32xf32"], IN_F32), "bias"),
    Case(
        Program("erf", AB | BF16, ["64x32xbf16"], f'{IN_BF16}, activation = "gelu_erf"'),
        left="multiply",
    ),
    Case(
        Program("alpha, matrix", AB | F32 | {"c": "64x32xf32"}, ["64x32xf32"],
                f"{IN_F32}, alpha = 0.125 : f32, beta = 0.5 : f32"),
        "alpha matrix",
    ),
    Case(
        Program("matrix and bias", AB | BF16 | {"c": "64x32xbf16", "bias": "32xbf16"},
                ["64x32xbf16"], IN_BF16),
        "matrix", left="add",
    ),
    Case(
        Program("batches", {"a": f"6x64x128x{E4}", "b": f"6x128x32x{E4}"} | F32, ["6x64x32xf32"],
                IN_F32, dims("2", "1", ("0", "0"))),
    ),
    Case(
        Program("batches inside", {"a": f"16x6x64x{E4}", "b": f"64x32x6x{E4}"} | F32,
                ["6x16x32xf32"], IN_F32, dims("2", "0", ("1", "2"))),
    ),
    Case(
        Program("both transposed", {"a": f"64x48x{E4}", "b": f"32x64x{E4}"} | F32, ["48x32xf32"],
                IN_F32, dims("0", "1")),
    ),
    Case(
        Program("several free", FREE | BF16 | {"bias": "8xbf16", "d_scale": "bf16"},
                [f"2x16x4x8x{E4}", "bf16"], f"{IN_BF16}, saturate, amax, {GELU}", dims("2", "0")),
        "bias gelu quantize amax",
    ),
    Case(
        Program("several contracted", {"a": f"16x4x16x{E4}", "b": f"16x32x4x{E4}"} | F32,
                ["16x32xf32"], IN_F32, dims("1, 2", "2, 0")),
    ),
    Case(
        Program("none contracted", {"a": f"16x{E4}", "b": f"32x{E4}"} | F32, ["16x32xf32"], IN_F32,
                dims("", "")),
        OUTER,
    ),
    Case(Program("one row", ROW | BF16 | {"c": "1x32xbf16"}, ["1x32xbf16"], IN_BF16), "matrix"),
    Case(
        Program("one row, amax", ROW | BF16 | {"bias": "32xbf16", "d_scale": "bf16"},
                [f"1x32x{E4}", "bf16"], f"{IN_BF16}, saturate, amax"),
        "bias",
    ),
    Case(
        Program("vector", {"a": f"16x64x{E4}", "b": f"64x{E4}"} | BF16 | {"bias": "16xbf16"},
                ["16xbf16"], IN_BF16),
        "matrix",
    ),
    Case(Program("odd", ODD | BF16 | {"bias": "27xbf16"}, ["34x27xbf16"], IN_BF16), "bias"),
    Case(
        Program("odd, quantized", ODD | BF16 | {"bias": "27xbf16", "d_scale": "bf16"},
                [f"34x27x{E4}"], f"{IN_BF16}, saturate, {GELU}"),
        "bias gelu quantize",
    ),
    Case(
        Program("odd, amax", ODD | F32 | {"d_scale": "f32"}, [f"34x27x{E4}", "f32"],
                f"{IN_F32}, saturate, amax"),
    ),
    Case(
        Program("odd rows",
                ODD | {"a_scale": "34x1xf32", "b_scale": "1x27xf32", "d_scale": "34x27xf32"},
                [f"34x27x{E4}"], "saturate, a_inverse"),
        left="divide",
    ),
    Case(
        Program("odd blocks",
                ODD | {"a_scale": "2x1xf32", "b_scale": "1x9xbf16", "d_scale": "17x3xf32"},
                [f"34x27x{E4}"], "saturate, a_inverse"),
        left="divide",
    ),
    Case(
        Program("blocks of several dimensions",
                FREE | {"a_scale": "2x4x1xf32", "b_scale": "1x2x4xf32", "d_scale": "1x4x2x8xf32"},
                ["2x16x4x8xf32"], dims=dims("2", "0")),
        left="multiply",
    ),
]  # fmt: skip
