"""Sizes computed in arith, shape and tensor, and PyTorch's modules that do so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.compiling.shapes import with_shapes

PYTORCH = Path(__file__).parents[1] / "Inputs" / "pytorch"
GENERATOR = np.random.default_rng(0)


def _floats(*shape: int) -> np.ndarray:
    return GENERATOR.standard_normal(shape).astype(np.float32)


def _softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _attention(x: np.ndarray) -> np.ndarray:
    products = x @ x.swapaxes(-1, -2) / np.float32(2)
    hidden = np.triu(np.ones(products.shape[-2:], bool), 1)
    return _softmax(np.where(hidden, -np.inf, products)) @ x


# What each module is in PyTorch, and in numpy.
PROGRAMS: dict[str, tuple[Callable[..., np.ndarray], list[tuple[np.ndarray, ...]]]] = {
    # x + torch.arange(x.shape[0], dtype=torch.float32)[:, None]
    "arange": (
        lambda x: x + np.arange(len(x), dtype=np.float32)[:, None],
        [(_floats(3, 4),), (_floats(1, 4),)],
    ),
    # F.scaled_dot_product_attention(x, x, x, is_causal=True)
    "causal_attention": (_attention, [(_floats(3, 2, 5, 4),), (_floats(1, 2, 1, 4),)]),
    # x.new_zeros(x.shape[0] // 2, 3) + 1
    "half_the_rows": (
        lambda x: np.ones((len(x) // 2, 3), np.float32),
        [(_floats(7, 4),), (_floats(1, 4),)],
    ),
    # x.masked_fill(mask, -1e9).softmax(-1)
    "masked_softmax": (
        lambda x, mask: _softmax(np.where(mask, np.float32(-1e9), x)),
        [(_floats(3, 5), _floats(3, 5) > 0), (_floats(3, 1), _floats(1, 1) > 0)],
    ),
    # x[i]
    "rows": (lambda x, i: x[i], [(_floats(6, 4), np.array([5, 0, 3, 3, 1]))]),
    # x[1:-1, 1:] + 1
    "slice": (lambda x: x[1:-1, 1:] + 1, [(_floats(9, 4),), (_floats(2, 4),)]),
    # torch.cat([x, x]).reshape(2 * x.shape[0], 2, 2).sum(0)
    "twice_the_rows": (
        lambda x: 2 * x.reshape(-1, 2, 2).sum(0),
        [(_floats(5, 4),), (_floats(0, 4),)],
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_pytorch_modules(name: str) -> None:
    reference, cases = PROGRAMS[name]
    source = PYTORCH / f"{name}.mlir"
    for arrays in cases:
        wanted = reference(*arrays)
        (result,) = mlir_fp8.compile(source, shapes=arrays)(*arrays)
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=2e-6, atol=2e-6)


def test_every_engine_takes_pytorch_modules() -> None:
    x = _floats(3, 4)
    wanted = x + np.arange(3, dtype=np.float32)[:, None]
    module = mlir_fp8.load(PYTORCH / "arange.mlir")
    np.testing.assert_array_equal(mlir_fp8.interpret(module, x)[0], wanted)
    verdict = mlir_fp8.compare(module, x, judges=("llvm", "interpreter"))
    assert verdict.is_comparison
    assert verdict.is_good
    (report,) = mlir_fp8.report(module, x).values[-1:]
    assert report is not None


def test_a_convolution_of_open_height() -> None:
    """torch's AdaptiveAvgPool2d(1) after a convolution and a ReLU; by the interpreter, too."""
    x = _floats(2, 3, 6, 8)
    module = mlir_fp8.load(PYTORCH / "convolution.mlir")
    (result,) = mlir_fp8.compile(module, shapes=[x])(x)
    assert result.shape == (2, 4, 1, 1)
    np.testing.assert_allclose(result, mlir_fp8.interpret(module, x)[0], rtol=1e-6)


def _result(source: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the only result, for arguments of `shapes`."""
    _, (spec,) = entry_signature(with_shapes(mlir_fp8.load(source.encode()), "main", shapes))
    return spec.shape


ARITH = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xi64> {{
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : i64
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %p = arith.index_cast %m : index to i64
  %q = arith.index_cast %n : index to i64
  %a = arith.subi %p, %c10 : i64
  %b = arith.subi %q, %c10 : i64
  {op}
  %s = tensor.from_elements %r : tensor<1xi64>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}}"""


def _as_truth(op: str) -> str:
    return f"%t = {op} : i64\n  %r = arith.extui %t : i1 to i64"


def _as_floats(op: str) -> str:
    return f"""%f = arith.sitofp %a : i64 to f64
  %g = arith.sitofp %b : i64 to f64
  %h = {op} : f64
  %r = arith.fptosi %h : f64 to i64"""


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("op", "a", "b", "wanted"),
    [
        ("%r = arith.addi %a, %b : i64", 5, -2, 3),
        ("%r = arith.subi %a, %b : i64", 5, -2, 7),
        ("%r = arith.muli %a, %b : i64", -5, -2, 10),
        ("%r = arith.divsi %a, %b : i64", -7, -2, 3),
        ("%r = arith.floordivsi %a, %b : i64", -7, -2, 3),
        ("%r = arith.floordivsi %a, %b : i64", 7, 2, 3),
        ("%r = arith.ceildivsi %a, %b : i64", 7, 2, 4),
        ("%r = arith.ceildivsi %a, %b : i64", -7, -2, 4),
        ("%r = arith.ceildivsi %a, %b : i64", -1, 2, 0),
        ("%r = arith.ceildivui %a, %b : i64", 7, 2, 4),
        ("%r = arith.divui %a, %b : i64", -2, -4, 1),  # of 2^64 - 2 and 2^64 - 4
        ("%r = arith.divui %a, %b : i64", 3, -4, 0),
        ("%r = arith.remsi %a, %b : i64", 7, -4, 3),
        ("%r = arith.remui %a, %b : i64", -2, -4, 2),
        ("%r = arith.maxsi %a, %b : i64", -3, 2, 2),
        ("%r = arith.minui %a, %b : i64", -3, 2, 2),
        ("%r = arith.minsi %a, %b : i64", 4, 3, 3),
        ("%r = arith.andi %a, %b : i64", 6, -4, 4),
        ("%r = arith.shli %a, %b : i64", 3, 2, 12),
        ("%r = arith.shrsi %a, %b : i64", 9, 1, 4),
        (_as_truth("arith.cmpi slt, %a, %b"), -3, 2, 1),
        (_as_truth("arith.cmpi ult, %a, %b"), -3, 2, 0),
        ("%t = arith.cmpi sge, %a, %b : i64\n  %r = arith.select %t, %a, %b : i64", 4, 3, 4),
        ("%t = arith.trunci %a : i64 to i1\n  %r = arith.extui %t : i1 to i64", 6, 0, 0),
        (
            "%t = arith.trunci %a : i64 to i1\n  %u = arith.extsi %t : i1 to i64\n"
            "  %r = arith.muli %u, %b : i64",
            7,
            -3,
            3,
        ),
        ("%t = arith.trunci %a : i64 to i8\n  %r = arith.extui %t : i8 to i64", -3, 0, 253),
        (_as_floats("arith.divf %f, %g"), 9, 2, 4),
        (_as_floats("arith.mulf %f, %g"), 4, 2, 8),
        (
            _as_floats("arith.divf %f, %g : f64\n  %i = math.ceil %h").replace(
                "%h : f64 to", "%i : f64 to"
            ),
            9,
            2,
            5,
        ),
    ],
)
def test_arithmetic_of_sizes(op: str, a: int, b: int, wanted: int) -> None:
    """Of both signs: sizes less 10."""
    assert _result(ARITH.format(op=op), (a + 10,), (b + 10,)) == (wanted,)


SHAPES = """
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xi64> {{
  %c1 = arith.constant 1 : index
  %a = shape.shape_of %x : tensor<?x?xf32> -> tensor<2xindex>
  %b = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %k = shape.const_shape [4] : tensor<1xindex>
  {op}
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xindex>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}}"""
ONE = "%s = tensor.from_elements %r : tensor<1xindex>"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        (f"%r = shape.num_elements %a : tensor<2xindex> -> index\n  {ONE}", 6),
        (f"%r = shape.get_extent %a, %c1 : tensor<2xindex>, index -> index\n  {ONE}", 3),
        (f"%r = shape.rank %a : tensor<2xindex> -> index\n  {ONE}", 2),
        (f"%r = tensor.extract %a[%c1] : tensor<2xindex>\n  {ONE}", 3),
        (f"%r = shape.dim %x, %c1 : tensor<?x?xf32>, index -> index\n  {ONE}", 3),
        (
            "%w = shape.broadcast %a, %b : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>\n"
            f"  %r = shape.num_elements %w : tensor<2xindex> -> index\n  {ONE}",
            6,
        ),
        ("%s = shape.broadcast %b, %k : tensor<1xindex>, tensor<1xindex> -> tensor<1xindex>", 4),
        (
            "%t = shape.is_broadcastable %a, %k : tensor<2xindex>, tensor<1xindex>\n"
            f"  %r = arith.index_castui %t : i1 to index\n  {ONE}",
            0,
        ),
        (
            "%t = shape.shape_eq %b, %k : tensor<1xindex>, tensor<1xindex>\n"
            f"  %r = arith.index_castui %t : i1 to index\n  {ONE}",
            0,
        ),
        (
            "%e = shape.from_extents %c1, %c1 : index, index\n"
            "  %t = shape.to_extent_tensor %e : !shape.shape -> tensor<2xindex>\n"
            f"  %r = shape.num_elements %t : tensor<2xindex> -> index\n  {ONE}",
            1,
        ),
        ("%d = tensor.cast %k : tensor<1xindex> to tensor<?xindex>\n"
         "  %s = tensor.cast %d : tensor<?xindex> to tensor<1xindex>", 4),
    ],
)  # fmt: skip
def test_shapes_of_shapes(op: str, wanted: int) -> None:
    """x is 2x3, y has one element."""
    assert _result(SHAPES.format(op=op), (2, 3), (1,)) == (wanted,)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            "%w = shape.cstr_broadcastable %a, %k : tensor<2xindex>, tensor<1xindex>",
            "required broadcastable shapes: [2, 3] and [4]",
        ),
        (
            "%w = shape.cstr_eq %b, %k : tensor<1xindex>, tensor<1xindex>",
            "required equal shapes: [1] and [4]",
        ),
        (
            "%t = shape.shape_eq %b, %k : tensor<1xindex>, tensor<1xindex>\n"
            '  %w = shape.cstr_require %t, "four of y"',
            "four of y",
        ),
        (
            "%w = shape.const_witness false %u = shape.assuming %w -> (tensor<1xindex>) {"
            " shape.assuming_yield %k : tensor<1xindex> }",
            "the witness does not hold",
        ),
        (
            "%t = shape.shape_eq %b, %k : tensor<1xindex>, tensor<1xindex>\n"
            '  cf.assert %t, "y has four"',
            "y has four",
        ),
    ],
)
def test_assertions_that_fail(op: str, message: str) -> None:
    """The message is the whole error, after the place."""
    size = "%u" if "%u" in op else "%b"
    cast = f"%s = tensor.cast {size} : tensor<1xindex> to tensor<1xindex>"
    source = SHAPES.format(op=f"{op}\n  {cast}")
    with pytest.raises(Fp8Error) as error:
        mlir_fp8.compile(source, shapes=[(2, 3), (1,)])
    place = 8 if op.startswith("%t") else 7
    assert str(error.value).split(": ", 1)[1] == message
    assert str(error.value).startswith(f"-:{place}:")


def test_shapes_that_pytorch_does_not_broadcast() -> None:
    """Said by the assertion, before what upstream's refinement says of its consequences."""
    with pytest.raises(Fp8Error, match=r"required broadcastable shapes: \[4, 5\] and \[3, 5\]$"):
        mlir_fp8.compile(PYTORCH / "masked_softmax.mlir", shapes=[(3, 5), (4, 5)])


def test_assertions_of_data_are_refused() -> None:
    """What fails at run time would end the process."""
    source = """
      func.func @main(%x: tensor<1xi1>) -> tensor<1xi1> {
        %c0 = arith.constant 0 : index
        %p = tensor.extract %x[%c0] : tensor<1xi1>
        cf.assert %p, "must hold"
        return %x : tensor<1xi1>
      }"""
    with pytest.raises(Fp8Error, match=r"known at run time alone \('must hold'\)"):
        mlir_fp8.compile(source)


def test_sizes_serialize_once_they_are_stablehlo() -> None:
    from mlir_fp8.passes.pass_pipeline import run_pipeline

    module = mlir_fp8.load(PYTORCH / "arange.mlir")
    run_pipeline(module, ["legalize-sizes-to-stablehlo"])
    artifact = mlir_fp8.serialize(module)
    x = _floats(3, 4)
    (result,) = mlir_fp8.compile(artifact, shapes=[x])(x)
    np.testing.assert_array_equal(result, x + np.arange(3, dtype=np.float32)[:, None])


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (3, "shapes is 3: give a list of one for each argument"),
        ([3], "shape 0 is 3: give a tuple of sizes, or an array"),
        ([(2.5,)], "shape 0 is .*: give a tuple of sizes, or an array"),
        ([(-1,)], "shape 0 is .*: a size is from 0 to 2.31 - 1"),
        ([(2**31,)], "shape 0 is .*: a size is from 0 to 2.31 - 1"),
    ],
)
def test_shapes_that_are_none(shapes: Any, message: str) -> None:
    source = "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n return %a : tensor<?xf32>\n}"
    with pytest.raises(Fp8Error, match=message):
        mlir_fp8.compile(source, shapes=shapes)


def test_tokens_and_tuples_beside_open_sizes() -> None:
    compiled = mlir_fp8.compile(
        """
      func.func @main(%t: !stablehlo.token, %p: tuple<tensor<?xf32>, tensor<i32>>)
          -> (!stablehlo.token, tuple<tensor<?xf32>>) {
        %a = stablehlo.get_tuple_element %p[0]
          : (tuple<tensor<?xf32>, tensor<i32>>) -> tensor<?xf32>
        %0 = stablehlo.add %a, %a : tensor<?xf32>
        %1 = stablehlo.after_all %t : !stablehlo.token
        %2 = stablehlo.tuple %0 : tuple<tensor<?xf32>>
        return %1, %2 : !stablehlo.token, tuple<tensor<?xf32>>
      }""",
        shapes=[(3,), ()],
    )
    assert compiled(np.ones(3, np.float32), np.int32(0))[0].tolist() == [2.0] * 3
