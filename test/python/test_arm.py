"""Libraries for Arm, made here, linked by a cross compiler and run by qemu's emulator."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from arm_programs import (
    PROCESSORS,
    TRIPLE,
    Processor,
    assembly,
    called,
    linked,
    needs_emulator,
    run,
)
from kernel_products import Case, Form, compiled, integers, program

import mlir_fp8
from mlir_fp8.aot.target import Target
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS

ALL = Form("mk,kn->mn", {"m": 256, "k": 1, "n": 256})
"""All codes by all codes."""
SQUARE = Form("mk,nk->mn", {"m": 256, "k": 256, "n": 256})
FORMS = [
    Form("mk,kn->mn", {"m": 37, "k": 131, "n": 45}),
    Form("mk,nk->mn", {"m": 33, "k": 1101, "n": 47}),
    Form("km,kn->mn", {"m": 70, "k": 37, "n": 19}),
    Form("km,nk->mn", {"m": 21, "k": 530, "n": 9}),
    Form("mk,kn->mn", {"m": 1, "k": 701, "n": 131}),
    Form("mk,nk->mn", {"m": 1, "k": 701, "n": 131}),
    Form("mk,nk->mn", {"m": 5, "k": 702, "n": 61}),
    Form("bmk,bnk->bmn", {"b": 9, "m": 18, "k": 67, "n": 23}),
]
PAIR, OTHERS = ("f8E4M3FN", "f8E5M2"), ("f8E5M2FNUZ", "f8E4M3FNUZ")
EIGHT = [each for each in SMALL_FLOATS.values() if each.bits == 8]


each_processor = pytest.mark.parametrize(
    "processor",
    [PROCESSORS[0], *(pytest.param(p, marks=pytest.mark.exhaustive) for p in PROCESSORS[1:])],
    ids=lambda each: each.mcpu,
)


def operands(case: Case, seed: int = 0) -> list[np.ndarray]:
    form, elements = case
    generator = np.random.default_rng(seed)
    return [
        integers(generator, form.shape(o), e) for o, e in zip(form.operands, elements, strict=True)
    ]


def exact(case: Case, arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.einsum(case[0].letters, *(each.astype(np.float64) for each in arrays))


@needs_emulator
@each_processor
def test_all_codes_by_all_codes(processor: Processor, tmp_path: Path, exhaustive: bool) -> None:
    """NaN and infinity too."""
    names = [fmt.name for fmt in EIGHT if fmt.has_zero]
    pairs = [(left, right) for left in names for right in names]
    if not exhaustive:
        pairs = [*zip(names, names[1:] + names[:1], strict=True)]
    cases = [(ALL, pair) for pair in pairs]
    codes = np.arange(256, dtype=np.uint8)
    arrays, wanted = [], []
    for _, pair in cases:
        left, right = (codes.view(FORMATS[each].dtype) for each in pair)
        arrays += [left[:, None], right[None]]
        with np.errstate(invalid="ignore"):
            wanted.append(np.outer(left.astype(np.float32), right.astype(np.float32)))
    got = called(tmp_path, program(cases), processor, arrays)
    for case, each, want in zip(cases, got, wanted, strict=True):
        np.testing.assert_array_equal(each, want, err_msg=str(case[1]))


@needs_emulator
@each_processor
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_sizes_and_layouts(
    processor: Processor, threads: int, tmp_path: Path, exhaustive: bool
) -> None:
    """Whole numbers, whose sums are exact; products of bf16 and f32 beside those of f8."""
    pairs = (PAIR, OTHERS) if exhaustive else (PAIR,)
    cases = [(form, pair) for form in FORMS for pair in pairs]
    cases += [(FORMS[0], ("bf16", "f8E4M3FN")), (FORMS[1], ("bf16", "bf16"))]
    cases += [(FORMS[2], ("f32", "f8E8M0FNU")), (SQUARE, PAIR)]
    arrays = [operands(case, i) for i, case in enumerate(cases)]
    text = program(cases)
    got = called(tmp_path, text, processor, [each for pair in arrays for each in pair], threads)
    for case, pair, each in zip(cases, arrays, got, strict=True):
        np.testing.assert_array_equal(each, exact(case, pair), err_msg=f"{case[0]} {case[1]}")


@needs_emulator
def test_threads_change_no_bit(tmp_path: Path) -> None:
    """Nor who multiplies blocks of bf16 with subnormal numbers, which are some."""
    form = Form("mk,nk->mn", {"m": 161, "k": 530, "n": 203})
    cases = [(form, PAIR), (form, ("bf16", "bf16"))]
    generator = np.random.default_rng(4)
    arrays = []
    for _, elements in cases:
        for letters, element in zip(form.operands, elements, strict=True):
            numbers = generator.standard_normal(form.shape(letters)).astype(np.float32)
            if element == "bf16":
                numbers[generator.random(numbers.shape) < 10 / numbers.size] *= 2.0**-128
            arrays.append(numbers.astype(FORMATS[element].dtype))
    for processor in PROCESSORS[:2]:
        one, two = (
            called(tmp_path, program(cases), processor, arrays, threads) for threads in (1, 2)
        )
        for first, second in zip(one, two, strict=True):
            np.testing.assert_array_equal(first, second)


@needs_emulator
def test_rounding_is_that_of_the_emulation_here(tmp_path: Path) -> None:
    """qemu rounds as Arm's manual says, which test_arm_tiles.py relies on."""
    case = (Form("mk,kn->mn", {"m": 35, "k": 1100, "n": 29}), PAIR)
    generator = np.random.default_rng(5)
    arrays = [
        (generator.standard_normal(case[0].shape(o)) * 2.0 ** generator.integers(-6, 7))
        .astype(np.float32)
        .astype(FORMATS[e].dtype)
        for o, e in zip(case[0].operands, PAIR, strict=True)
    ]
    (got,) = called(tmp_path, program([case]), PROCESSORS[0], arrays)
    (want,) = compiled(program([case]), "neon-bf16")(*arrays)
    np.testing.assert_array_equal(got, want)


@needs_emulator
def test_subnormal_numbers_of_bf16_are_kept(tmp_path: Path) -> None:
    """`bfmmla` takes them for zero, so f32 multiplies blocks that have some."""
    text = program([(FORMS[0], ("bf16", "bf16")), (FORMS[0], ("f8E4M3FN", "bf16"))])
    generator = np.random.default_rng(6)
    shapes = [FORMS[0].shape(each) for each in FORMS[0].operands] * 2
    scales = (1.0, 2.0**-133, 1.0, 2.0**-133)
    arrays = [
        (generator.integers(-3, 4, shape) * scale).astype(np.float32).astype(FORMATS[e].dtype)
        for shape, scale, e in zip(
            shapes, scales, ("bf16", "bf16", "f8E4M3FN", "bf16"), strict=True
        )
    ]
    for processor in PROCESSORS[:2]:
        got = called(tmp_path, text, processor, arrays)
        for each, pair in zip(got, (arrays[:2], arrays[2:]), strict=True):
            assert np.abs(each).max() < 2.0**-120 and each.any()
            np.testing.assert_array_equal(each, exact((FORMS[0], ("", "")), pair))


@needs_emulator
def test_code_for_bf16_needs_it(tmp_path: Path) -> None:
    """That these tests can fail: the instruction is there, and a processor without it stops."""
    case = (SQUARE, PAIR)
    binary = linked(tmp_path, program([case]), "neoverse-v1")
    arrays = operands(case)
    assert run(binary, "max", arrays).returncode == 0
    assert run(binary, "cortex-a57", arrays).returncode == -4  # SIGILL


@needs_emulator
@each_processor
def test_casts(processor: Processor, tmp_path: Path) -> None:
    """Every code to f32, and f32 to every format, against those compiled here."""
    names = [fmt.name for fmt in EIGHT]
    generator = np.random.default_rng(8)
    bits = generator.integers(0, 1 << 32, 100_003, np.uint32).view(np.float32)
    bits[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, 448.0, 464.0]
    arguments, lines, results, arrays = ["%x: tensor<100003xf32>"], [], [], [bits]
    for i, name in enumerate(names):
        code = f"tensor<256x{name}>"
        arguments.append(f"%c{i}: {code}")
        lines.append(f"%d{i} = stablehlo.convert %c{i} : ({code}) -> tensor<256xf32>")
        wide = f"tensor<100003x{name}>"
        lines.append(f"%e{i} = stablehlo.convert %x : (tensor<100003xf32>) -> {wide}")
        results += [(f"%d{i}", "tensor<256xf32>"), (f"%e{i}", wide)]
        arrays.append(np.arange(256, dtype=np.uint8).view(FORMATS[name].dtype))
    values, types = (", ".join(each) for each in zip(*results, strict=True))
    text = (
        f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n"
        + "\n".join(lines)
        + f"\nreturn {values} : {types} }}"
    )
    wanted = mlir_fp8.compile(text, threads=1)(*arrays)
    for got, want in zip(called(tmp_path, text, processor, arrays), wanted, strict=True):
        kind = f"u{want.dtype.itemsize}"
        is_nan = np.isnan(want.astype(np.float32))
        np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), is_nan)
        np.testing.assert_array_equal(got.view(kind)[~is_nan], want.view(kind)[~is_nan])


@needs_emulator
@pytest.mark.parametrize("mcpu", ["neoverse-v1", "a64fx"])
def test_results_do_not_depend_on_the_length_of_sve_registers(mcpu: str, tmp_path: Path) -> None:
    """LLVM vectorizes loops by SVE, for registers of any length."""
    text = """func.func @main(%x: tensor<5003xf32>) -> (tensor<5003xf8E4M3FN>, tensor<5003xbf16>) {
      %0 = stablehlo.convert %x : (tensor<5003xf32>) -> tensor<5003xf8E4M3FN>
      %1 = stablehlo.exponential %x : tensor<5003xf32>
      %2 = stablehlo.convert %1 : (tensor<5003xf32>) -> tensor<5003xbf16>
      return %0, %2 : tensor<5003xf8E4M3FN>, tensor<5003xbf16> }"""
    assert "ptrue" in assembly(tmp_path, text, f"--mcpu={mcpu}")
    binary = linked(tmp_path, text, mcpu)
    x = np.random.default_rng(9).standard_normal(5003).astype(np.float32)
    wanted = b"".join(each.tobytes() for each in mlir_fp8.compile(text, threads=1)(x))
    for length in (16, 32, 64, 256):
        done = run(binary, f"max,sve-default-vector-length={length}", [x])
        assert done.returncode == 0 and done.stdout == wanted


@pytest.mark.parametrize(
    ("mcpu", "mattr", "kernels"),
    [
        (None, None, "neon"),
        ("neoverse-n1", None, "neon"),
        ("apple-m1", None, "neon"),
        ("neoverse-v1", None, "neon-bf16"),
        ("neoverse-n2", None, "neon-bf16"),
        ("neoverse-v2", None, "neon-bf16"),
        ("apple-m2", None, "neon-bf16"),
        (None, "+bf16", "neon-bf16"),
        ("neoverse-v2", "-bf16", "neon"),
        ("fujitsu-monaka", None, "neon-bf16"),
        (None, "+fp8", "neon"),
        (None, "+bf16, +fp8dot4", "neon-fp8"),
        ("neoverse-v2", "+fp8dot4", "neon-fp8"),
        ("neoverse-v2", "+fp8dot4,-bf16", "neon"),
    ],
)
def test_kernels_by_processor(mcpu: str | None, mattr: str | None, kernels: str) -> None:
    assert Target(mtriple=TRIPLE, mcpu=mcpu, mattr=mattr).kernels == kernels


def test_kernels_of_other_systems() -> None:
    assert Target(mtriple="arm64-apple-macosx", mcpu="apple-m2").kernels == "neon-bf16"
    assert Target(mtriple="aarch64_be-unknown-linux-gnu", mcpu="neoverse-v1").kernels == "neon"


def test_instructions(tmp_path: Path) -> None:
    text = program([(FORMS[0], PAIR)])
    code = assembly(tmp_path, text, "--mcpu=neoverse-n1")
    assert "fmla\tv" in code and "bfmmla" not in code
    code = assembly(tmp_path, text, "--mcpu=neoverse-v1")
    assert "bfmmla\tv" in code
    assert "fdot" not in code
    code = assembly(tmp_path, text, "--mattr=+fp8dot4")
    assert "bfmmla" not in code
    assert code.count("FPMR") == 3  # read, set, restored
    assert "fdot\tv" in code
    code = assembly(tmp_path, program([(FORMS[0], OTHERS)]), "--mattr=+fp8dot4")
    assert "bfmmla\tv" in code and "FPMR" not in code
    text = program([(FORMS[0], ("bf16", "f32"))])
    assert "bfmmla" not in assembly(tmp_path, text, "--mcpu=neoverse-v1")


@pytest.mark.parametrize("mcpu", ["neoverse-v1", "neoverse-v2"])
def test_sums_stay_in_registers(mcpu: str, tmp_path: Path) -> None:
    """Nothing is spilled where `bfmmla` multiplies."""
    code = assembly(tmp_path, program([(FORMS[0], PAIR)]), f"--mcpu={mcpu}").splitlines()
    places = [i for i, line in enumerate(code) if "\tbfmmla\t" in line]
    assert len(places) == 64
    assert not [line for line in code[places[0] : places[-1]] if "sp" in line or "\tst" in line]
