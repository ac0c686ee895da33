"""`mlir_fp8.compile` and calling what it gives: arguments, results, entries, refusals."""

import contextlib
import gc
import re
import threading
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import CompiledModule, Fp8Error

ADD = """\
func.func @main(%a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %a, %0 : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
"""
A = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(scope="module")
def add() -> CompiledModule:
    return mlir_fp8.compile(ADD)


def test_no_arguments_and_no_results() -> None:
    assert mlir_fp8.compile("func.func @main() {\n  return\n}")() == ()
    constant = mlir_fp8.compile(
        "func.func @main() -> tensor<2xf32> {\n"
        "  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}"
    )
    first, second = constant()[0], constant()[0]
    first[:] = 0
    assert second.tolist() == [1, 2]
    assert constant()[0].tolist() == [1, 2]


def test_many_arguments_and_results() -> None:
    count = 100
    parameters = ", ".join(f"%a{i}: tensor<3xf32>" for i in range(count))
    types = ", ".join(["tensor<3xf32>"] * count)
    body = "".join(
        f"  %r{i} = stablehlo.add %a{i}, %a{(i + 1) % count} : tensor<3xf32>\n"
        for i in range(count)
    )
    returned = ", ".join(f"%r{i}" for i in range(count))
    compiled = mlir_fp8.compile(
        f"func.func @main({parameters}) -> ({types}) {{\n{body}  return {returned} : {types}\n}}"
    )
    results = compiled(*(np.full(3, i, np.float32) for i in range(count)))
    assert [result.tolist() for result in results] == [
        [i + (i + 1) % count] * 3 for i in range(count)
    ]


def test_one_value_returned_twice() -> None:
    compiled = mlir_fp8.compile(
        "func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {\n"
        "  %0 = stablehlo.negate %a : tensor<3xf32>\n"
        "  return %0, %a, %0 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>\n}"
    )
    results = compiled(np.array([1, -2, 3], np.float32))
    results[0][:] = 9
    assert results[1].tolist() == [1, -2, 3]
    assert results[2].tolist() == [-1, 2, -3]


UPDATE = """\
func.func @main(%a: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i
      : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
SCATTER = """\
func.func @main(%a: tensor<8xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %index = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %0 = "stablehlo.scatter"(%a, %index, %u) ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>, indices_are_sorted = false, unique_indices = false}
      : (tensor<8xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize("source", [UPDATE, SCATTER])
def test_arguments_are_never_written(source: str) -> None:
    given = np.arange(8, dtype=np.float32)
    given.flags.writeable = False
    (result,) = mlir_fp8.compile(source)(given, np.array([-1, -2], np.float32), np.int32(3))
    assert result.tolist() == [0, 1, 2, -1, -2, 5, 6, 7]
    assert given.tolist() == list(range(8))
    assert not np.shares_memory(given, result)


def misaligned(array: np.ndarray) -> np.ndarray:
    shifted = np.frombuffer(bytearray(1) + array.tobytes(), np.uint8)[1:]
    return shifted.view(array.dtype).reshape(array.shape)


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        misaligned,
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
        lambda a: np.broadcast_to(a[:1], (2, 3)),
        lambda a: a.view(np.memmap),
    ],
)
def test_any_layout_of_arguments(
    add: CompiledModule, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    given = change(A)
    (result,) = add(given, np.float32(1))
    assert result.tolist() == (given + 1).tolist()
    assert type(result) is np.ndarray


def test_one_array_for_two_arguments() -> None:
    compiled = mlir_fp8.compile(
        "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}"
    )
    ones = np.ones(4, np.float32)
    assert compiled(ones, ones)[0].tolist() == [2] * 4


def test_bytes_that_are_no_codes() -> None:
    compiled = mlir_fp8.compile(
        "func.func @main(%a: tensor<3xi1>, %b: tensor<3xf4E2M1FN>)\n"
        "    -> (tensor<3xi1>, tensor<3xi1>) {\n"
        "  %0 = stablehlo.not %a : tensor<3xi1>\n"
        "  return %a, %0 : tensor<3xi1>, tensor<3xi1>\n}"
    )
    codes = np.array([0, 1, 15], np.uint8)
    booleans = np.array([0, 2, 255], np.uint8).view(np.bool_)
    same, other = compiled(booleans, codes.view(ml_dtypes.float4_e2m1fn))
    assert same.view(np.uint8).tolist() == [0, 1, 1]
    assert other.view(np.uint8).tolist() == [1, 0, 0]
    with pytest.raises(Fp8Error, match=r"^argument 1 holds 0x10, which is no code of f4E2M1FN$"):
        compiled(booleans, (codes + 1).view(ml_dtypes.float4_e2m1fn))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((A,), "'main' takes 2 arguments, 1 were given"),
        ((A, 1, 2), "'main' takes 2 arguments, 3 were given"),
        ((A.astype(np.float64), 1), "argument 0 is tensor<2x3xf64>, declared tensor<2x3xf32>"),
        ((A.astype(">f4"), 1), "argument 0 is >f4[2, 3], declared tensor<2x3xf32>"),
        ((A.astype(object), 1), "argument 0 is object[2, 3], declared tensor<2x3xf32>"),
        ((A.T, 1), "argument 0 is tensor<3x2xf32>, declared tensor<2x3xf32>"),
        ((A.tolist(), 1), "argument 0 is a list, not an array of tensor<2x3xf32>"),
        ((A, A), "argument 1 is tensor<2x3xf32>, declared tensor<f32>"),
        ((A, np.ones(1, np.float32)), "argument 1 is tensor<1xf32>, declared tensor<f32>"),
        ((A, np.float64(1)), "argument 1 is tensor<f64>, declared tensor<f32>"),
        ((A, "1"), "argument 1 is '1' (str), which is no f32"),
        ((A, None), "argument 1 is None (NoneType), which is no f32"),
        ((A, 1e300), "argument 1 is 1e+300, beyond the range of f32"),
    ],
)
def test_refused_arguments(add: CompiledModule, arguments: tuple, message: str) -> None:
    with pytest.raises(Fp8Error, match=f"^{re.escape(message)}$"):
        add(*arguments)


def test_two_modules_in_any_order() -> None:
    multiply = mlir_fp8.compile(ADD.replace("stablehlo.add", "stablehlo.multiply"))
    add = mlir_fp8.compile(ADD)
    assert add(A, 2)[0].tolist() == (A + 2).tolist()
    assert multiply(A, 2)[0].tolist() == (A * 2).tolist()
    del add
    gc.collect()
    assert multiply(A, 3)[0].tolist() == (A * 3).tolist()
    call = multiply.__call__
    del multiply
    gc.collect()
    results = call(A, 4)
    del call
    gc.collect()
    assert results[0].tolist() == (A * 4).tolist()


def test_calls_from_threads(add: CompiledModule) -> None:
    wrong: list[int] = []

    def call(number: int) -> None:
        for _ in range(50):
            if not np.array_equal(add(A, number)[0], A + np.float32(number)):
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_compilations_in_threads() -> None:
    results: dict[int, float] = {}

    def work(number: int) -> None:
        text = f"func.func @main() -> tensor<f32> {{\n  %0 = stablehlo.constant dense<{number}.0>"
        compiled = mlir_fp8.compile(f"{text} : tensor<f32>\n  return %0 : tensor<f32>\n}}")
        results[number] = float(compiled()[0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {0: 0.0, 1: 1.0, 2: 2.0}


def test_the_module_stays_as_it_is() -> None:
    module = mlir_fp8.load(ADD)
    before = str(module)
    stages: list[str] = []
    compiled = mlir_fp8.compile(module, on_stage=lambda name, _, __: stages.append(name))
    assert str(module) == before
    assert stages == ["to linalg", "to LLVM", "to native code"]
    assert [str(spec) for spec in compiled.arguments] == ["tensor<2x3xf32>", "tensor<f32>"]
    assert [str(spec) for spec in compiled.results] == ["tensor<2x3xf32>"]
    del module
    gc.collect()
    assert compiled(A, 1)[0].tolist() == (A + 1).tolist()


def test_saturate() -> None:
    source = (
        "func.func @main(%a: tensor<3xf32>) -> tensor<3xf8E4M3FN> {\n"
        "  %0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xf8E4M3FN>\n"
        "  return %0 : tensor<3xf8E4M3FN>\n}"
    )
    given = np.array([464, 1e9, -1e9], np.float32)
    (plain,) = mlir_fp8.compile(source)(given)
    assert plain.dtype == ml_dtypes.float8_e4m3fn
    assert np.isnan(plain.astype(np.float32)).tolist() == [False, True, True]
    (saturated,) = mlir_fp8.compile(source, saturate=True)(given)
    assert saturated.astype(np.float32).tolist() == [448, 448, -448]


def test_cycles_are_collected_again_after_compiling() -> None:
    for text in ("func.func @main() { return }", "func.func @other() { return }"):
        with contextlib.suppress(Fp8Error):
            mlir_fp8.compile(text, cache=False)
        assert gc.isenabled()
