"""Ops whose declared type has no code for what they give: exactly those are refused."""

from collections.abc import Sequence

import numpy as np
import pytest
from float_cases import assert_codes, call, code_dtype, compile_ops, nearest, numbers, tensor
from native_code import elementwise

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.lowering.arithmetic.float_normalization import ARITHMETIC, LEFT_TO_CHLO
from mlir_fp8.lowering.codec.missing_codes import GIVES_NAN, GIVES_NAN_ON_SCALARS
from mlir_fp8.lowering.rewriting.stablehlo import names
from mlir_fp8.passes.pass_pipeline import run_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy on inf and NaN

WITHOUT_NAN = [fmt for fmt in SMALL_FLOATS.values() if not fmt.has_nan]
E8M0 = FORMATS["f8E8M0FNU"]

BINARY = names(
    "stablehlo", "add atan2 divide maximum minimum multiply power remainder subtract"
) | names("chlo", "broadcast_polygamma broadcast_zeta polygamma zeta")
BATCH_NORM = "<{epsilon = 0.0 : f32, feature_index = 1 : i64}>"
SOLVE = """<{left_side = true, lower = true, unit_diagonal = false,
  transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>"""
COMPOUND = names(
    "stablehlo",
    "batch_norm_grad batch_norm_inference batch_norm_training cholesky triangular_solve",
)
# Of other arguments, or of other results than the operands' type: see the tests below.
OTHER = COMPOUND | names("stablehlo", "clamp imag is_finite real reduce_precision")
OTHER |= names("chlo", "conj is_inf is_neg_inf is_pos_inf")
UNARY = ARITHMETIC - BINARY - OTHER
# CHLO ops that become one StableHLO op each.
BROADCASTING = LEFT_TO_CHLO - {"chlo.broadcast_compare"}

lacks_nan = pytest.mark.parametrize("fmt", WITHOUT_NAN, ids=lambda fmt: fmt.name)


def run_on_f32(fmt: FloatFormat, ops: Sequence[str], count: int) -> dict[str, np.ndarray]:
    """The f32 results of `ops` on all `count`-tuples of the numbers of `fmt`."""
    values = numbers(fmt).astype(np.float32)
    grids = [grid.reshape(-1) for grid in np.meshgrid(*[values] * count, indexing="ij")]
    type_ = tensor([len(grids[0])], "f32")
    compiled = compile_ops([type_] * count, [call(op, [type_] * count, type_) for op in ops])
    return dict(zip(ops, compiled(*grids), strict=True))


@pytest.mark.sampled(2)
@lacks_nan
def test_refused_are_the_ops_that_give_nan(fmt: FloatFormat) -> None:
    unary, binary = sorted(UNARY), sorted(BINARY | BROADCASTING)
    results = run_on_f32(fmt, unary, 1) | run_on_f32(fmt, binary, 2)
    give_nan = {op for op, result in results.items() if np.isnan(result).any()}
    assert give_nan == GIVES_NAN - COMPOUND


@pytest.mark.sampled(4)
@lacks_nan
@pytest.mark.parametrize("op", sorted(GIVES_NAN - COMPOUND))
def test_what_gives_nan_is_refused(fmt: FloatFormat, op: str) -> None:
    types = [tensor([4], fmt.name)] * (2 if op in BINARY | BROADCASTING else 1)
    with pytest.raises(Fp8Error, match=rf"'{op}' can give NaN, which {fmt.name} has no code for;"):
        compile_ops(types, [call(op, types, types[0])])


@pytest.mark.sampled(2)
@lacks_nan
def test_what_gives_none_is_compiled(fmt: FloatFormat) -> None:
    type_ = tensor([4], fmt.name)
    ops = [call(op, [type_], type_) for op in sorted(UNARY - GIVES_NAN)]
    ops += [call(op, [type_] * 2, type_) for op in sorted((BINARY | BROADCASTING) - GIVES_NAN)]
    assert len(compile_ops([type_] * 2, ops)(*[np.ones(4, fmt.dtype)] * 2)) == len(ops)


@pytest.mark.parametrize("op", sorted(COMPOUND))
def test_compound_ops_are_refused(op: str) -> None:
    """A variance or a diagonal, which is an operand, may be negative or zero."""
    x, one = tensor([1, 1], "f4E2M1FN"), tensor([1], "f4E2M1FN")
    operands, results, attributes = {
        "stablehlo.batch_norm_grad": ([x, one, one, one, x], [x, one, one], BATCH_NORM),
        "stablehlo.batch_norm_inference": ([x, one, one, one, one], [x], BATCH_NORM),
        "stablehlo.batch_norm_training": ([x, one, one], [x, one, one], BATCH_NORM),
        "stablehlo.cholesky": ([x], [x], "<{lower = true}>"),
        "stablehlo.triangular_solve": ([x, x], [x], SOLVE),
    }[op]
    text, _ = call(op, operands, f"({', '.join(results)})", attributes)
    signature = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(operands))
    module = f"func.func @main({signature}) {{\n %r:{len(results)} = {text}\n return\n}}"
    with pytest.raises(Fp8Error, match=f"'{op}' can give NaN, which f4E2M1FN has no code for"):
        run_pipeline(mlir_fp8.load(module), ["float-normalization"])


@pytest.mark.sampled(4)
@lacks_nan
@pytest.mark.parametrize("op", sorted(GIVES_NAN_ON_SCALARS))
def test_below_stablehlo_too(fmt: FloatFormat, op: str) -> None:
    operands = "%x0, %x0" if op in ("arith.divf", "arith.remf", "math.powf") else "%x0"
    with pytest.raises(Fp8Error, match=rf"'{op}' can give NaN, which {fmt.name} has no code for"):
        elementwise([fmt.name], [f"%r0 = {op} {operands} : {fmt.name}"], [fmt.name], count=4)


@pytest.mark.parametrize("kind", ["reduce", "map"])
def test_bodies(kind: str) -> None:
    element, vector = tensor([], "f4E2M1FN"), tensor([4], "f4E2M1FN")
    body = f"""({{
    ^bb0(%x: {element}, %y: {element}):
      %q = stablehlo.divide %x, %y : {element}
      stablehlo.return %q : {element}
    }})"""
    op = (
        f'"stablehlo.reduce"(%0, %1) <{{dimensions = array<i64: 0>}}> {body}'
        f" : ({vector}, {element}) -> {element}"
        if kind == "reduce"
        else f'"stablehlo.map"(%0, %0) <{{dimensions = array<i64: 0>}}> {body}'
        f" : ({vector}, {vector}) -> {vector}"
    )
    with pytest.raises(Fp8Error, match=r"'stablehlo.divide' can give NaN, which f4E2M1FN has no"):
        compile_ops([vector, element], [(op, element if kind == "reduce" else vector)])


@lacks_nan
def test_converts_of_nan_give_the_other_zero(fmt: FloatFormat) -> None:
    """The way out that says how NaN is to be read: explicitly, as ml_dtypes and XLA do it."""
    values = np.array([np.nan, -np.nan, np.inf, -np.inf], np.float32)
    values.view(np.uint32)[:2] = 0x7FC00000, 0xFFC00000
    wide, narrow = tensor([4], "f32"), tensor([4], fmt.name)
    (got,) = compile_ops([wide], [call("stablehlo.convert", [wide], narrow)])(values)
    want = [fmt.sign_mask, 0, fmt.max_code, fmt.max_code | fmt.sign_mask]
    np.testing.assert_array_equal(got.view(np.uint8), want)


def test_e8m0_refuses_what_gives_no_number() -> None:
    """`negate` alone among the ops of one operand; and `iota`, whose first element is zero."""
    results = run_on_f32(E8M0, [*sorted(UNARY), "stablehlo.negate"], 1)
    for op, values in results.items():
        codes = nearest(E8M0, values.astype(np.float64))
        is_possible = (codes != E8M0.nan_code).any()
        assert is_possible == (op != "stablehlo.negate"), op
    type_ = tensor([4], E8M0.name)
    for op, arguments, reason in (
        ("stablehlo.negate", [type_], "is not possible on f8E8M0FNU, which has no sign"),
        ("stablehlo.iota", [], "counts from 0, which f8E8M0FNU has no code for"),
    ):
        attributes = "" if arguments else "<{iota_dimension = 0 : i64}>"
        with pytest.raises(Fp8Error, match=f"'{op}' {reason}"):
            compile_ops(arguments, [call(op, arguments, type_, attributes)])


def test_e8m0_gives_nan_for_the_rest() -> None:
    codes = np.arange(256, dtype=code_dtype(E8M0))
    type_ = tensor([256], E8M0.name)
    ops = ["stablehlo.log", "stablehlo.sine", "stablehlo.floor"]
    results = compile_ops([type_], [call(op, [type_], type_) for op in ops])(codes.view(E8M0.dtype))
    x = numbers(E8M0)
    for function, got in zip((np.log, np.sin, np.floor), results, strict=True):
        assert_codes(E8M0, got, nearest(E8M0, function(x).astype(np.float32).astype(np.float64)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", [f.name for f in SMALL_FLOATS.values() if not f.has_infinity])
def test_no_infinity_is_found_where_there_is_none(name: str) -> None:
    fmt = FORMATS[name]
    codes = np.arange(1 << fmt.bits, dtype=code_dtype(fmt))
    type_, predicate = tensor([len(codes)], name), tensor([len(codes)], "i1")
    ops = [call(f"chlo.{op}", [type_], predicate) for op in ("is_inf", "is_pos_inf", "is_neg_inf")]
    for got in compile_ops([type_], ops)(codes.view(fmt.dtype)):
        assert not got.any()
