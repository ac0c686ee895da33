"""Text of older MLIR and StableHLO gives the same module, or is refused where it has two senses."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.reading.loader import parse
from mlir_fp8.reading.older_text import unpack_bools

sys.path.insert(0, str(Path(__file__).parents[1] / "ops"))

from sample_catalog import SAMPLES  # pyright: ignore[reportMissingImports]

ARRAY = re.compile(r"array<(i64|i1)(?:: ([^<>]*))?>")


def constant(digits: str, sizes: str, kind: str = "tensor") -> str:
    type_ = f"{kind}<{sizes}xi1>"
    op = "stablehlo" if kind == "tensor" else "arith"
    return (
        f"func.func @main() -> {type_} {{\n"
        f'  %0 = {op}.constant dense<"0x{digits}"> : {type_}\n  return %0 : {type_}\n}}'
    )


def elements(text: str) -> list[int]:
    return [int(each) for each in mlir_fp8.compile(text)()[0].flat]


def test_a_bit_per_element_is_read_lowest_first() -> None:
    # As jaxlib 0.4.23 prints 144 bools: 0xCE is 11001110, 0x24 is 00100100.
    packed = constant("CE24F30951826B29EA1C6EFEEC0D3EB5C61F", "12x12")
    bits = np.frombuffer(bytes.fromhex("CE24F30951826B29EA1C6EFEEC0D3EB5C61F"), np.uint8)
    expected = np.unpackbits(bits, bitorder="little").tolist()
    assert expected[:16] == [0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0]
    assert elements(packed) == expected


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("digits", "sizes", "expected"),
    [
        ("0F01", "9", [1, 1, 1, 1, 0, 0, 0, 0, 1]),
        ("0F01", "3x3", [1, 1, 1, 1, 0, 0, 0, 0, 1]),
        ("05", "3", [1, 0, 1]),
        ("02", "2", [0, 1]),
        ("FE", "8", [0, 1, 1, 1, 1, 1, 1, 1]),
        # A byte each, as it is written today.
        ("00010001", "4", [0, 1, 0, 1]),
        ("010001000000000001", "9", [1, 0, 1, 0, 0, 0, 0, 0, 1]),
        ("01", "1", [1]),
        ("00", "1", [0]),
        # Splats of both times.
        ("FF", "5", [1] * 5),
        ("FF", "8", [1] * 8),
        ("FF", "20", [1] * 20),
        ("01", "20", [1] * 20),
        ("00", "20", [0] * 20),
        ("00", "6", [0] * 6),
    ],
)
def test_sizes_that_tell_bits_from_bytes(digits: str, sizes: str, expected: list[int]) -> None:
    assert elements(constant(digits, sizes)) == expected


@pytest.mark.parametrize(
    ("digits", "sizes", "message"),
    [
        ("01", "4", 'dense<"0x01"> of 4 elements is all true, or the first alone'),
        ("01", "8", 'dense<"0x01"> of 8 elements is all true, or the first alone'),
        ("09", "3", "8 bits for 3 elements, and not zero behind the last"),
        ("0F03", "9", "16 bits for 9 elements, and not zero behind the last"),
        ("010203", "9", "hex data size is invalid"),
    ],
)
def test_what_has_two_senses_is_refused(digits: str, sizes: str, message: str) -> None:
    with pytest.raises(Fp8Error, match=rf"^<text>:2:\d+: .*{re.escape(message)}"):
        mlir_fp8.load(constant(digits, sizes))


def test_strings_and_comments_stay() -> None:
    text = (
        '// dense<"0x01"> : tensor<4xi1>, strides = dense<1> : tensor<1xi64>\n'
        'module attributes {a.b = "strides = dense<1> : tensor<1xi64> // \\" dense<"} {\n'
        "  func.func @main(%a: tensor<4xf32>) -> tensor<2xf32> {\n"
        '    %0 = "stablehlo.slice"(%a) {limit_indices = dense<4> : tensor<1xi64>, start_indices = '
        "dense<0> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>}"
        " : (tensor<4xf32>) -> tensor<2xf32>\n    return %0 : tensor<2xf32>\n  }\n}"
    )
    module = mlir_fp8.load(text)
    kept = ir.StringAttr(module.operation.attributes["a.b"]).value
    assert kept == 'strides = dense<1> : tensor<1xi64> // " dense<'
    assert "stablehlo.slice %arg0 [0:4:2]" in str(module)


def test_bits_of_vectors_and_of_aliased_types() -> None:
    vector = str(mlir_fp8.load(constant("0F01", "9", "vector")))
    listed = "[true, true, true, true, false, false, false, false, true]"
    assert f"dense<{listed}> : vector<9xi1>" in vector
    aliased = "!m = tensor<9xi1>\n" + constant("0F01", "9").replace("tensor<9xi1>", "!m")
    assert f"dense<{listed}> : tensor<9xi1>" in str(mlir_fp8.load(aliased))


def test_places_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "bits.mlir"
    path.write_text(constant("0F01", "9"))
    module = mlir_fp8.load(path)
    assert f'loc("{path}":2:8)' in str(module.operation.get_asm(enable_debug_info=True))


def old_form(array: re.Match[str]) -> str:
    numbers = [each.strip() for each in (array[2] or "").split(",") if each.strip()]
    listed = f"[{', '.join(numbers)}]" if numbers else ""
    return f"dense<{listed}> : tensor<{len(numbers)}x{array[1]}>"


def generic(module: ir.Module) -> str:
    return str(module.operation.get_asm(print_generic_op_form=True))


def with_arrays_in_samples() -> list[str]:
    """The generic text of every op that has an array today, over its first element type."""
    texts: list[str] = []
    for sample in SAMPLES:
        try:
            module = parse(sample.program(sample.elements[0]).encode(), "<text>", make_context())
        except Fp8Error:
            continue
        text = generic(module)
        if ARRAY.search(text):
            texts.append(text)
    return texts


def test_dense_of_2023_is_the_array_of_today(exhaustive: bool) -> None:
    texts = with_arrays_in_samples()
    ops = {op for text in texts for op in re.findall(r'"((?:stablehlo|chlo)\.\w+)"', text)}
    assert {"stablehlo.slice", "stablehlo.convolution", "stablehlo.gather", "stablehlo.pad",
            "stablehlo.reduce_window", "stablehlo.fft", "stablehlo.reverse"} <= ops  # fmt: skip
    for text in texts if exhaustive else texts[::5]:
        old = ARRAY.sub(old_form, text)
        # Before 1.0 there were no properties; attributes stood behind regions.
        attributes = re.sub(r"<\{(.*)\}>(?! [({])", r"{\1}", old)
        for each in (old, attributes):
            assert "array<" not in each
            assert generic(mlir_fp8.load(each)) == text


@pytest.mark.parametrize(
    ("written", "array"),
    [
        ("dense<1> : tensor<2xi64>", "array<i64: 1, 1>"),
        ("dense<[1,1]>  :  tensor<2xi64>", "array<i64: 1, 1>"),
        ('dense<"0x01000000000000000100000000000000"> : tensor<2xi64>', "array<i64: 1, 1>"),
    ],
)
def test_splats_and_hexadecimal(written: str, array: str) -> None:
    text = (
        "func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
        '  %0 = "stablehlo.slice"(%a) {limit_indices = dense<4> : tensor<2xi64>, '
        f"start_indices = dense<0> : tensor<2xi64>, strides = {written}}}"
        " : (tensor<4x4xf32>) -> tensor<4x4xf32>\n  return %0 : tensor<4x4xf32>\n}"
    )
    assert f"strides = {array}" in generic(mlir_fp8.load(text))


def test_many_bits_take_time_for_each_alone() -> None:
    """Quadratic, 2^23 of them would take 20 minutes."""
    count = 1 << 23
    text = f'%0 = stablehlo.constant dense<"0x{"a5" * (count // 8)}"> : tensor<{count}xi1>'
    assert unpack_bools(text, "text") == text.replace("a5", "0100010000010001")


@pytest.mark.parametrize(
    "written",
    [
        'dense<"0x01g"> : tensor<2xi64>',
        'dense<"0x010"> : tensor<2xi64>',
        "dense<1> : tensor<99999999999xi64>",
    ],
)
def test_what_no_printer_wrote_is_one_line(written: str) -> None:
    text = (
        "func.func @main(%a: tensor<4x3xf32>) -> tensor<3x4xf32> {\n"
        f'  %0 = "stablehlo.transpose"(%a) {{permutation = {written}}}'
        " : (tensor<4x3xf32>) -> tensor<3x4xf32>\n  return %0 : tensor<3x4xf32>\n}"
    )
    with pytest.raises(Fp8Error, match=r"^<text>:2:[0-9]+: [^\n]*$"):
        mlir_fp8.load(text)


def test_chlo_had_them_too() -> None:
    text = (
        "func.func @main(%a: tensor<3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = dense<1> : tensor<1xi64>}"
        " : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>\n}"
    )
    a, b = np.array([1, 2, 3], np.float32), np.array([[10, 20, 30], [40, 50, 60]], np.float32)
    got = mlir_fp8.compile(text)(a, b)
    assert got[0].tolist() == [[11, 22, 33], [41, 52, 63]]


def test_errors_keep_their_places() -> None:
    text = (
        "func.func @main(%a: tensor<4x3xf32>) -> tensor<3x4xf32> {\n"
        '  %0 = "stablehlo.transpose"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>}'
        " : (tensor<4x3xf32>) -> tensor<3x4xf32>  %1 = stablehlo.nothing\n}"
    )
    column = text.splitlines()[1].index("stablehlo.nothing") + 1
    with pytest.raises(Fp8Error, match=rf"^<text>:2:{column}: .*stablehlo.nothing"):
        mlir_fp8.load(text)


def test_mhlo_keeps_its_dense_attributes() -> None:
    text = (
        "func.func @main(%a: tensor<4x3xf32>) -> tensor<3x4xf32> {\n"
        '  %0 = "mhlo.transpose"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>}'
        " : (tensor<4x3xf32>) -> tensor<3x4xf32>\n  return %0 : tensor<3x4xf32>\n}"
    )
    assert "stablehlo.transpose %arg0, dims = [1, 0]" in str(mlir_fp8.load(text))


def test_what_jax_printed_in_2023() -> None:
    # The gradient of the sum of 2x2 maxima: of numbers that grow, the last of each window gets 1.
    path = Path(__file__).parent / "Inputs" / "max_pool_gradient_by_jax_0.4.23.mlir"
    x = np.arange(192, dtype=np.float32).reshape(1, 8, 8, 3)
    expected = np.zeros_like(x)
    expected[:, 1::2, 1::2] = 1
    np.testing.assert_array_equal(mlir_fp8.compile(path)(x)[0], expected)
