"""Compiled `stablehlo.sort` and `chlo.top_k` against numpy's stable sort and the interpreter."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from indexed_cases import random_values, tensor_type

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS, NanEncoding

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
TOTALLY_ORDERED = [
    name for name, fmt in FORMATS.items() if fmt.nan is not NanEncoding.NEGATIVE_ZERO
]
COMPLEX = ("complex<f32>", "complex<f64>")
# With every number of passes up to 6, ends in either half, and runs without a partner.
SIZES = (*range(2, 10), 15, 16, 17, 31, 33, 63, 64)
RNG = np.random.default_rng(0)


def codes(array: np.ndarray) -> np.ndarray:
    return array.view(f"uint{8 * array.dtype.itemsize}")


def random_codes(shape: Sequence[int], element: str) -> np.ndarray:
    """Any bits at all: NaNs of every payload, infinities, both zeros; many of them twice."""
    if element not in FORMATS:
        return random_values(RNG, tuple(shape), element)
    fmt = FORMATS[element]
    few = RNG.integers(0, 2**fmt.bits, 20, np.uint64)
    special = [0, 1 << (fmt.bits - 1), fmt.magnitude_mask, (1 << fmt.bits) - 1]
    chosen = RNG.choice(np.concatenate([few, np.array(special, np.uint64)]), shape)
    return chosen.astype(f"uint{fmt.storage_bits}").view(fmt.dtype)


def order_keys(array: np.ndarray, element: str) -> np.ndarray:
    """Integers in the order of TOTALORDER: of floats that of their codes, sign and magnitude."""
    if element not in FORMATS:
        return array.astype(np.uint8) if array.dtype == bool else array
    fmt = FORMATS[element]
    unsigned = codes(array).astype(np.uint64)
    if not fmt.signed:
        return unsigned
    magnitude = (unsigned & np.uint64(fmt.magnitude_mask)).astype(np.int64)
    negative = (unsigned >> np.uint64(fmt.bits - 1)) & np.uint64(1) == 1
    return np.where(negative, -1 - magnitude, magnitude)


def sort_op(
    name: str, types: Sequence[str], dimension: int, comparison: str, *, stable: bool = True
) -> str:
    """`name:N = stablehlo.sort` of `%x0, %x1, ...`; `comparison` compares `%a0` and `%b0`."""
    scalars = [re.sub(r"<(\d+x)*", "<", type_, count=1) for type_ in types]
    arguments = ", ".join(f"%a{k}: {s}, %b{k}: {s}" for k, s in enumerate(scalars))
    operands = ", ".join(f"%x{k}" for k in range(len(types)))
    listed = ", ".join(types)
    return f"""{name}:{len(types)} = "stablehlo.sort"({operands}) <{{
        dimension = {dimension} : i64, is_stable = {str(stable).lower()}}}> ({{
      ^bb0({arguments}):
        {comparison}
        stablehlo.return %p : tensor<i1>
      }}) : ({listed}) -> ({listed})"""


def sort_module(
    types: Sequence[str], dimension: int, comparison: str, *, stable: bool = True
) -> str:
    parameters = ", ".join(f"%x{k}: {type_}" for k, type_ in enumerate(types))
    returned = ", ".join(f"%r#{k}" for k in range(len(types)))
    listed = ", ".join(types)
    return f"""func.func @main({parameters}) -> ({listed}) {{
      {sort_op("%r", types, dimension, comparison, stable=stable)}
      return {returned} : {listed}
    }}"""


def compare(direction: str, element: str, place: int = 0) -> str:
    """A comparison in the total order of floats, in the usual one of integers."""
    scalar = f"tensor<{element}>"
    kind = ", TOTALORDER" if element in FORMATS else ""
    operands = f"%a{place}, %b{place}{kind} : ({scalar}, {scalar}) -> tensor<i1>"
    return f"%p = stablehlo.compare {direction}, {operands}"


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("element", (*INTEGERS, *TOTALLY_ORDERED))
def test_every_type(element: str, dimension: int) -> None:
    """By the total order, carrying positions: bits are kept, and equal ones stay in order."""
    shape = (5, 4, 7)
    types = [tensor_type(shape, element), tensor_type(shape, "i32")]
    array = random_codes(shape, element)
    positions = np.indices(shape, np.int32)[dimension]
    direction = "LT" if dimension < 2 else "GT"
    compiled = mlir_fp8.compile(sort_module(types, dimension, compare(direction, element)))
    got, order = compiled(array, positions)
    keys = order_keys(array, element)
    if direction == "GT":
        keys = ~keys.astype(np.uint64) if keys.dtype.kind == "u" else ~keys
    want = np.argsort(keys, axis=dimension, kind="stable")
    assert np.array_equal(order, want)
    assert np.array_equal(codes(got), codes(np.take_along_axis(array, want, dimension)))


def test_every_size() -> None:
    """Lines of all sizes, with equal keys, in one module."""
    functions, calls, arrays = [], [], []
    for size in SIZES:
        types = [tensor_type((2, size), element) for element in ("i8", "i32")]
        text = sort_module(types, 1, compare("LT", "i8"))
        functions.append(text.replace("@main", f"private @f{size}"))
        place = len(arrays)
        calls.append(
            f"%r{size}:2 = call @f{size}(%x{place}, %x{place + 1})"
            f" : ({', '.join(types)}) -> ({', '.join(types)})"
        )
        arrays.append(RNG.integers(0, 5, (2, size)).astype(np.int8))
        arrays.append(np.tile(np.arange(size, dtype=np.int32), (2, 1)))
    kinds = [tensor_type((2, size), e) for size in SIZES for e in ("i8", "i32")]
    parameters = ", ".join(f"%x{k}: {kind}" for k, kind in enumerate(kinds))
    returned = ", ".join(f"%r{size}#{k}" for size in SIZES for k in range(2))
    newline = "\n"
    results = mlir_fp8.compile(f"""{newline.join(functions)}
    func.func @main({parameters}) -> ({", ".join(kinds)}) {{
      {newline.join(calls)}
      return {returned} : {", ".join(kinds)}
    }}""")(*arrays)
    for keys, order in zip(arrays[::2], results[1::2], strict=True):
        assert np.array_equal(order, np.argsort(keys, axis=1, kind="stable"))


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0), (0, 3), (1, 1, 1), (4, 1)])
def test_nothing_to_sort(shape: tuple[int, ...]) -> None:
    array = random_values(RNG, shape, "f32")
    for dimension in range(len(shape)):
        types = [tensor_type(shape, "f32")]
        (got,) = mlir_fp8.compile(sort_module(types, dimension, compare("LT", "f32")))(array)
        assert np.array_equal(got, np.sort(array, axis=dimension))


@pytest.mark.parametrize("stable", [True, False])
def test_many_operands(stable: bool) -> None:
    """By two of six operands, one of which is complex, the others moving along."""
    elements = ("ui8", "complex<f32>", "i64", "f8E4M3FNUZ", "f64", "i1")
    shape = (3, 21)
    types = [tensor_type(shape, element) for element in elements]
    arrays = [random_values(RNG, shape, element) for element in elements]
    arrays[0] %= 3
    comparison = """
      %ra = stablehlo.real %a1 : (tensor<complex<f32>>) -> tensor<f32>
      %rb = stablehlo.real %b1 : (tensor<complex<f32>>) -> tensor<f32>
      %less = stablehlo.compare LT, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %same = stablehlo.compare EQ, %a0, %b0 : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      %more = stablehlo.compare GT, %ra, %rb : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %both = stablehlo.and %same, %more : tensor<i1>
      %p = stablehlo.or %less, %both : tensor<i1>"""
    module = mlir_fp8.load(sort_module(types, 1, comparison, stable=stable))
    results = mlir_fp8.compile(module)(*arrays)
    order = np.lexsort((-np.real(arrays[1]), arrays[0]), axis=1)
    for got, array in zip(results, arrays, strict=True):
        assert got.tobytes() == np.take_along_axis(array, order, 1).tobytes()


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2FNUZ", "bf16", "f32", "f64"])
def test_comparators_that_compute_as_interpreted(element: str) -> None:
    """In the element type, rounding there, with a branch; narrow sums make many keys equal."""
    scalar = f"tensor<{element}>"

    def key(side: str) -> str:
        return f"""
      %c{side} = stablehlo.add %{side}0, %{side}1 : {scalar}
      %q{side} = stablehlo.compare LT, %{side}0, %{side}1 : ({scalar}, {scalar}) -> tensor<i1>
      %e{side} = "stablehlo.if"(%q{side}) ({{
        %f = stablehlo.negate %c{side} : {scalar}
        stablehlo.return %f : {scalar}
      }}, {{
        stablehlo.return %c{side} : {scalar}
      }}) : (tensor<i1>) -> {scalar}"""

    comparison = f"""{key("a")}{key("b")}
      %p = stablehlo.compare LT, %ea, %eb : ({scalar}, {scalar}) -> tensor<i1>"""
    types = [tensor_type((2, 29), element)] * 2
    module = mlir_fp8.load(sort_module(types, 1, comparison))
    arrays = [random_values(RNG, (2, 29), element) for _ in types]
    results, wanted = mlir_fp8.compile(module)(*arrays), mlir_fp8.interpret(module, *arrays)
    for got, want in zip(results, wanted, strict=True):
        assert got.tobytes() == want.tobytes()


NO_ORDERS = {
    "always": "%p = stablehlo.constant dense<true> : tensor<i1>",
    "never": "%p = stablehlo.constant dense<false> : tensor<i1>",
    "at most": "%p = stablehlo.compare LE, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    "NaN": "%p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    "in a circle": """
      %ia = stablehlo.convert %a0 : (tensor<f32>) -> tensor<i32>
      %ib = stablehlo.convert %b0 : (tensor<f32>) -> tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %d = stablehlo.subtract %ia, %ib : tensor<i32>
      %m = stablehlo.remainder %d, %three : tensor<i32>
      %p = stablehlo.compare EQ, %m, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>""",
}


@pytest.mark.parametrize("name", NO_ORDERS)
def test_comparators_that_are_no_order(name: str) -> None:
    """They give some permutation; elements of which none is before another stay where they are."""
    array = np.round(RNG.standard_normal((3, 37)) * 5).astype(np.float32)
    if name == "NaN":
        array[:, ::3] = np.nan
    positions = np.tile(np.arange(37, dtype=np.int32), (3, 1))
    types = [tensor_type((3, 37), "f32"), tensor_type((3, 37), "i32")]
    got, order = mlir_fp8.compile(sort_module(types, 1, NO_ORDERS[name]))(array, positions)
    assert np.array_equal(np.sort(order, axis=1), positions)
    assert np.array_equal(codes(got), codes(np.take_along_axis(array, order, 1)))
    if name == "never":
        assert np.array_equal(order, positions)


def test_in_a_loop_as_interpreted() -> None:
    """Sorts along alternating dims of a carried tensor, which is read again after each."""
    types = ["tensor<5x6xi32>"]
    sides = "".join(
        sort_op(f"%s{dim}", types, dim, compare("LT", "i32")).replace("%x0", place) + "\n"
        for dim, place in ((0, "%x"), (1, "%s0"))
    )
    module = mlir_fp8.load(f"""func.func @main(%y: tensor<5x6xi32>) -> tensor<5x6xi32> {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %x = %y) : tensor<i32>, tensor<5x6xi32>
        cond {{
          %three = stablehlo.constant dense<3> : tensor<i32>
          %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %j = stablehlo.add %i, %one : tensor<i32>
          {sides.replace("%s0:1", "%s0").replace("%s1:1", "%s1")}
          %d = stablehlo.subtract %x, %s1 : tensor<5x6xi32>
          %e = stablehlo.add %d, %s0 : tensor<5x6xi32>
          stablehlo.return %j, %e : tensor<i32>, tensor<5x6xi32>
        }}
      return %r#1 : tensor<5x6xi32>
    }}""")
    array = RNG.integers(-9, 9, (5, 6), np.int32)
    assert np.array_equal(mlir_fp8.compile(module)(array), mlir_fp8.interpret(module, array))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("element", (*INTEGERS[1:], *TOTALLY_ORDERED))
def test_top_k(element: str) -> None:
    """The largest by the total order, the first of equal ones first."""
    source, result = tensor_type((3, 19), element), tensor_type((3, 6), element)
    array = random_codes((3, 19), element)
    values, indices = mlir_fp8.compile(f"""
    func.func @main(%x: {source}) -> ({result}, tensor<3x6xi32>) {{
      %0:2 = chlo.top_k(%x, k = 6) : {source} -> ({result}, tensor<3x6xi32>)
      return %0#0, %0#1 : {result}, tensor<3x6xi32>
    }}""")(array)
    keys = order_keys(array, element)
    keys = ~keys.astype(np.uint64) if keys.dtype.kind == "u" else ~keys
    want = np.argsort(keys, axis=1, kind="stable")[:, :6]
    assert np.array_equal(indices, want)
    assert np.array_equal(codes(values), codes(np.take_along_axis(array, want, 1)))


@pytest.mark.parametrize("dimension", [-1, -2, -3, None])
def test_dimension_from_the_end(dimension: int | None) -> None:
    """As the specification counts it; left out, it is the last."""
    array = RNG.permutation(24).reshape(2, 3, 4).astype(np.int32)
    attribute = "" if dimension is None else f"<{{dimension = {dimension} : i64}}>"
    program = f"""func.func @main(%x: tensor<2x3x4xi32>) -> tensor<2x3x4xi32> {{
      %0 = "stablehlo.sort"(%x) {attribute} ({{
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }}) : (tensor<2x3x4xi32>) -> tensor<2x3x4xi32>
      return %0 : tensor<2x3x4xi32>
    }}"""
    (result,) = mlir_fp8.compile(program)(array)
    axis = -1 if dimension is None else dimension
    np.testing.assert_array_equal(result, np.sort(array, axis))
