"""Small floats emulated for consumers that do not know them: same bits, and the way back."""

import numpy as np
import pytest
from emulated_programs import (
    COUNT,
    WIDE,
    arithmetic,
    arithmetic_inputs,
    control_flow,
    conversions,
    hard_numbers,
)
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8
from mlir_fp8.context import make_context
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.isolation import call_isolated

OLDEST = "0.9.0"
EMULATED = [name for name, fmt in SMALL_FLOATS.items() if fmt.stablehlo_version != OLDEST]


def compiled_three_ways(text: str) -> list[mlir_fp8.CompiledModule]:
    """As written; through an artifact of the oldest version as ui8; and raised from that."""
    module = ir.Module.parse(text, make_context())
    artifact = mlir_fp8.serialize(module, OLDEST, emulate=True)
    return [
        mlir_fp8.compile(module),
        mlir_fp8.compile(mlir_fp8.deserialize(artifact)),
        mlir_fp8.compile(mlir_fp8.deserialize(artifact, raise_emulation=True)),
    ]


def assert_same_bits(text: str, arrays: list[np.ndarray]) -> None:
    """`arrays` hold codes as uint8."""
    original, emulated, raised = compiled_three_ways(text)
    assert raised.arguments == original.arguments
    assert raised.results == original.results
    want = original(*as_declared(original, arrays))
    for program in (emulated, raised):
        got = program(*as_declared(program, arrays))
        for index, (one, other) in enumerate(zip(want, got, strict=True)):
            np.testing.assert_array_equal(bits(one), bits(other), f"result {index}")


def as_declared(program: mlir_fp8.CompiledModule, arrays: list[np.ndarray]) -> list[np.ndarray]:
    specs = zip(program.arguments, arrays, strict=True)
    return [a.view(spec.dtype) if a.dtype == np.uint8 else a for spec, a in specs]


def bits(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


@pytest.mark.parametrize("name", EMULATED)
def test_conversions(name: str) -> None:
    fmt = FORMATS[name]
    numbers = hard_numbers(fmt)
    codes = np.arange(COUNT, dtype=np.uint8) & ((1 << fmt.bits) - 1)
    with np.errstate(over="ignore"):
        arrays = [codes, *(numbers.astype(FORMATS[wide].dtype) for wide in WIDE)]
    assert_same_bits(conversions(fmt), arrays)


@pytest.mark.parametrize("name", EMULATED)
def test_arithmetic_and_movement(name: str) -> None:
    fmt = FORMATS[name]
    assert_same_bits(arithmetic(fmt), arithmetic_inputs(fmt))


@pytest.mark.parametrize("name", ["f8E4M3", "f8E5M2FNUZ", "f8E8M0FNU", "f6E2M3FN", "f4E2M1FN"])
def test_control_flow(name: str) -> None:
    module = ir.Module.parse(control_flow(FORMATS[name]), make_context())
    artifact = mlir_fp8.serialize(module, OLDEST, emulate=True)
    want = interpreted(module)
    assert interpreted(mlir_fp8.deserialize(artifact)) == want
    assert interpreted(mlir_fp8.deserialize(artifact, raise_emulation=True)) == want


def interpreted(module: ir.Module) -> bytes:
    """The results, as the StableHLO interpreter prints them."""

    def work() -> bytes:
        return "\n".join(map(str, _stablehlo.eval_module(module, []))).encode()

    return call_isolated(work, seconds=60)
