"""What `fp8-fuse-scaled-dot` fuses, and that no bit of a result changes by it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from kernel_products import without_tiles
from scaled_dot_epilogue_near_misses import EPILOGUE_NEAR_MISSES
from scaled_dot_mutants import random_mutant
from scaled_dot_near_miss import ARGUMENTS
from scaled_dot_operand_near_misses import OPERAND_NEAR_MISSES
from scaled_dot_programs import random_program
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.context import format_location
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.scaled_dot.findings import Finding
from mlir_fp8.lowering.fp8.scaled_dot.fuse import fuse
from mlir_fp8.passes.pass_pipeline import run_pipeline

PATTERNS = Path(__file__).parents[1] / "patterns"
MODELS = Path(__file__).parents[2] / "models"
LEFT_OUT = ("dot_general", "multiply", "divide", "add", "clamp", "maximum", "reduce", "tanh", "abs")
"""What no random program has outside of its fused ops."""
NEAR_MISSES = EPILOGUE_NEAR_MISSES | OPERAND_NEAR_MISSES
ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1e-40, 1e30)


def odd_arrays(specs: Sequence[TensorSpec], seed: int, *, odd: bool) -> list[np.ndarray]:
    """Every code of small floats; other numbers of many magnitudes, with `odd` of ODD too."""
    random = np.random.default_rng(seed)
    return [_odd_array(spec, random, odd) for spec in specs]


def _odd_array(spec: TensorSpec, random: np.random.Generator, odd: bool) -> np.ndarray:
    if spec.element not in FORMATS:
        return random.integers(-9, 9, spec.shape).astype(spec.dtype)
    if FORMATS[spec.element].is_small:
        codes = random.integers(0, 1 << FORMATS[spec.element].bits, spec.shape)
        array = codes.astype(np.uint8).view(spec.dtype).reshape(spec.shape)
    else:
        numbers = random.standard_normal(spec.shape) * 2.0 ** random.integers(-6, 6, spec.shape)
        rare = random.random(spec.shape) < 0.1
        with np.errstate(all="ignore"):
            array = np.asarray(np.where(rare, random.choice(ODD, spec.shape), numbers))
            array = array.astype(spec.dtype)
    if odd:
        return array
    wide = array.astype(np.float32)
    return np.where(np.isfinite(wide), wide, 1).astype(spec.dtype)


def fused_and_compared(text: str, seed: int = 0) -> tuple[list[Finding], ir.Module]:
    """The findings of a module whose results are the same before and after.

    Bit for bit, NaN for NaN; of types without NaN, it is a zero of either sign.
    """
    module = mlir_fp8.load(text)
    findings = fuse(module.operation)
    assert module.operation.verify()
    with without_tiles():
        before, after = mlir_fp8.compile(text), mlir_fp8.compile(module)
    for index in range(4):
        arrays = odd_arrays(before.arguments, seed + index, odd=bool(index % 2))
        for old, new in zip(before(*arrays), after(*arrays), strict=True):
            assert is_same(old, new), f"{old}\n{new}"
    return findings, module


def is_same(old: np.ndarray, new: np.ndarray) -> bool:
    if old.tobytes() == new.tobytes():
        return True
    fmt = next((each for each in FORMATS.values() if each.dtype == old.dtype), None)
    if fmt is None:
        return False
    a, b = old.astype(np.float64), new.astype(np.float64)
    equal = (a == b) & ((np.signbit(a) == np.signbit(b)) | (not fmt.has_nan))
    return bool(np.all(equal | (np.isnan(a) & np.isnan(b))))


def near_miss_module() -> str:
    lines, results = [], []
    for name, case in NEAR_MISSES.items():
        lines.append(case.text(name))
        results += case.values(name)
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in ARGUMENTS.items())
    types = ", ".join(type_ for _, type_ in results)
    names = ", ".join(name for name, _ in results)
    body = "\n".join(lines)
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}"


@pytest.fixture(scope="module")
def near_misses() -> Iterator[dict[str, Finding]]:
    findings, module = fused_and_compared(near_miss_module())
    yield dict(zip(NEAR_MISSES, findings, strict=True))
    del module  # which the findings hold ops of


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_outside_and_say_why(name: str, near_misses: dict[str, Finding]) -> None:
    case, finding = NEAR_MISSES[name], near_misses[name]
    assert (finding.fused is not None) == case.fused
    assert tuple(obstacle.kind for obstacle in finding.obstacles) == case.kinds
    if finding.fused is not None:
        assert not set(case.without) & set(finding.fused.attributes)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 3))]
)
def test_programs_with_any_step_anywhere_keep_every_bit(seed: int) -> None:
    findings, _ = fused_and_compared(random_mutant(seed, 8).text(), seed)
    assert any(finding.fused for finding in findings)
    assert any(finding.obstacles for finding in findings)


def assert_fuses_again(module: ir.Module) -> None:
    """What a fused op stands for fuses into that op."""
    again = mlir_fp8.load(str(module))
    run_pipeline(again, ["fp8-legalize-to-stablehlo"])
    assert "fp8." not in str(again)
    fuse(again.operation)
    assert fused_forms(again) == fused_forms(module)


def fused_forms(module: ir.Module) -> list[tuple[str, ...]]:
    """Attributes and types of each op of the `fp8` dialect."""
    ops = [op for op in operations(module.operation) if op.name.startswith("fp8.")]
    return [
        (
            *(f"{name} = {op.attributes[name]}" for name in sorted(op.attributes)),
            *(str(value.type) for value in (*op.operands, *op.results)),
        )
        for op in ops
    ]


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 4))]
)
def test_random_forms_fuse_whole_and_keep_every_bit(seed: int) -> None:
    count = 6
    findings, module = fused_and_compared(random_program(seed, count).text(), seed)
    assert [finding.obstacles for finding in findings] == [()] * count
    assert_fuses_again(module)
    names = {op.name for op in operations(module.operation)}
    assert "fp8.scaled_dot" in names
    assert not names & {f"stablehlo.{name}" for name in LEFT_OUT}


@pytest.mark.parametrize(
    ("name", "fused"),
    [
        ("mlp_delayed_scaling", 2),
        pytest.param("transformer_forward", 5, marks=pytest.mark.exhaustive),
    ],
)
def test_all_f8_dots_of_real_programs_fuse(name: str, fused: int) -> None:
    findings, _ = fused_and_compared((MODELS / f"{name}.mlir").read_text())
    assert_only_wide_dots_are_left(findings, fused)


def test_all_f8_dots_of_a_training_step_fuse() -> None:
    module = mlir_fp8.load(str(MODELS / "transformer_train_step.mlir"))
    assert_only_wide_dots_are_left(fuse(module.operation), fused=15)


def assert_only_wide_dots_are_left(findings: list[Finding], fused: int) -> None:
    """Attention multiplies in f32."""
    left = [finding for finding in findings if finding.fused is None]
    assert len(findings) - len(left) == fused
    assert [[each.kind for each in finding.obstacles] for finding in left] == [["not-fp8"]] * len(
        left
    )


def test_a_fused_dot_that_was_a_composite_fuses_again() -> None:
    text = (PATTERNS / "p06_scaled_d_amax.mlir").read_text()
    module = mlir_fp8.load(text)
    (before,) = fuse(module.operation)
    run_pipeline(module, ["fp8-to-composite"])
    assert "stablehlo.composite" in str(module)
    assert fuse(module.operation) == []
    assert before.fused is not None and "amax" in str(module)


def test_obstacles_are_where_the_program_is_not_where_it_is_called() -> None:
    text = (PATTERNS / "r04_wrong_clamp.mlir").read_text()
    lines = text.splitlines()
    index = next(i for i, each in enumerate(lines) if " = stablehlo.clamp" in each)
    lines[index] = "%cl = call @f(%lo, %sc, %hi) : (tensor<f32>, tensor<64x32xf32>, tensor<f32>)"
    lines[index] += " -> tensor<64x32xf32>"
    lines += [
        "func.func private @f(%l: tensor<f32>, %x: tensor<64x32xf32>, %h: tensor<f32>)",
        "    -> tensor<64x32xf32> {",
        "  %0 = stablehlo.clamp %l, %x, %h",
        "    : (tensor<f32>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>",
        "  return %0 : tensor<64x32xf32>",
        "}",
    ]
    module = mlir_fp8.load("\n".join(lines))
    (finding,) = fuse(module.operation)
    (obstacle,) = finding.obstacles
    assert (obstacle.kind, obstacle.part) == ("clamp-bounds", "output")
    line, column = format_location(obstacle.location).split(":")[1:]
    assert lines[int(line) - 1][int(column) - 1 :].startswith("stablehlo.clamp")


def test_zeros_added_to_scaled_data_are_added_before_for_finite_scales() -> None:
    text = """
      func.func @main(%a: tensor<3x8xf8E4M3FN>, %b: tensor<8x6xf8E4M3FN>, %s: tensor<8xf32>)
          -> tensor<4x6xf32> {
        %0 = stablehlo.convert %a : (tensor<3x8xf8E4M3FN>) -> tensor<3x8xf32>
        %1 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<8xf32>) -> tensor<3x8xf32>
        %2 = stablehlo.multiply %0, %1 : tensor<3x8xf32>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %3 = stablehlo.pad %2, %zero, low = [0, 0], high = [1, 0], interior = [0, 0]
          : (tensor<3x8xf32>, tensor<f32>) -> tensor<4x8xf32>
        %4 = stablehlo.dot %3, %b : (tensor<4x8xf32>, tensor<8x6xf8E4M3FN>) -> tensor<4x6xf32>
        return %4 : tensor<4x6xf32>
      }"""
    module = mlir_fp8.load(text)
    assert fuse(module.operation)[0].fused is None
    (finding,) = fuse(module.operation, assume_finite_scales=True)
    assert finding.fused is not None and not finding.obstacles
    before, after = mlir_fp8.compile(text), mlir_fp8.compile(module)
    a, b, scale = odd_arrays(before.arguments, 0, odd=False)
    (old,), (new,) = before(a, b, np.abs(scale) + 1), after(a, b, np.abs(scale) + 1)
    assert old.tobytes() == new.tobytes()


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        (("?x8xf8E4M3FN", "8x6xf8E4M3FN", "?x6xf32"), "open-shape"),
        (("4x8xf8E4M3FN", "8x6xf8E4M3FN", "?x6xf32"), "open-shape"),
        (("4x0xf8E4M3FN", "0x6xf8E4M3FN", "4x6xf32"), "no-elements"),
        (("4x8xf8E8M0FNU", "8x6xf8E8M0FNU", "4x6xf32"), "not-fp8"),
        (("4x8xi8", "8x6xi8", "4x6xi32"), "not-fp8"),
        (("4x8xcomplex<f32>", "8x6xcomplex<f32>", "4x6xcomplex<f32>"), "not-fp8"),
    ],
)
def test_what_has_no_fused_form_is_named(types: tuple[str, str, str], kind: str) -> None:
    a, b, d = (f"tensor<{each}>" for each in types)
    text = (
        f"func.func @main(%a: {a}, %b: {b}) -> {d} {{\n"
        f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {d}\n"
        f"return %0 : {d} }}"
    )
    module = mlir_fp8.load(text)
    (finding,) = fuse(module.operation)
    assert finding.fused is None
    assert [obstacle.kind for obstacle in finding.obstacles] == [kind]
