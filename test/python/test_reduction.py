"""A module that judges differ on, cut down: by real engines, and by ones with a fault put in."""

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.judging import judges
from mlir_fp8.judging.judges import Engine
from mlir_fp8.reduction.delta import minimized
from mlir_fp8.reduction.reduce import Reduction

PAIR = ("llvm", "interpreter")
ARITHMETIC: dict[str, Callable[..., np.ndarray]] = {
    "stablehlo.add": np.add,
    "stablehlo.subtract": np.subtract,
    "stablehlo.multiply": np.multiply,
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.negate": np.negative,
}
LOOP = """\
func.func @main(%x: tensor<8xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<8xf8E4M3FN>
    cond {
      %t = stablehlo.compare LT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %n = stablehlo.add %i, %c1 : tensor<i32>
      %w = stablehlo.negate %v : tensor<8xf8E4M3FN>
      %p = stablehlo.compare EQ, %i, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %q = "stablehlo.if"(%p) ({
        stablehlo.return %w : tensor<8xf8E4M3FN>
      }, {
        %l = stablehlo.logistic %w : tensor<8xf8E4M3FN>
        stablehlo.return %l : tensor<8xf8E4M3FN>
      }) : (tensor<i1>) -> tensor<8xf8E4M3FN>
      stablehlo.return %n, %q : tensor<i32>, tensor<8xf8E4M3FN>
    }
  return %r#1 : tensor<8xf8E4M3FN>
}
"""
SUM = """\
func.func @main(%x: tensor<4x12xbf16>) -> tensor<4xbf16> {
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [1]
    : (tensor<4x12xbf16>, tensor<bf16>) -> tensor<4xbf16>
    reducer(%p: tensor<bf16>, %q: tensor<bf16>) {
      %a = stablehlo.abs %q : tensor<bf16>
      %s = stablehlo.add %p, %a : tensor<bf16>
      stablehlo.return %s : tensor<bf16>
    }
  %1 = stablehlo.negate %0 : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}
"""


OPEN = """\
func.func @main(%x: tensor<?x8xf8E4M3FN>, %y: tensor<?xf8E4M3FN>)
    -> (tensor<?x8xf8E4M3FN>, tensor<?xf8E4M3FN>) {
  %0 = stablehlo.negate %x : tensor<?x8xf8E4M3FN>
  %1 = stablehlo.logistic %0 : tensor<?x8xf8E4M3FN>
  %2 = stablehlo.abs %1 : tensor<?x8xf8E4M3FN>
  %3 = stablehlo.add %y, %y : tensor<?xf8E4M3FN>
  return %2, %3 : tensor<?x8xf8E4M3FN>, tensor<?xf8E4M3FN>
}
"""


def chain(ops: Sequence[str], tensor: str = "tensor<4x8xf32>") -> str:
    """Every op is given what the one before made, and the second argument."""
    lines, last = [], "%a"
    for number, op in enumerate(ops):
        operands = last if op == "negate" else f"{last}, %b"
        lines.append(f"%{number} = stablehlo.{op} {operands} : {tensor}")
        last = f"%{number}"
    body = "\n".join(lines)
    return (
        f"func.func @main(%a: {tensor}, %b: {tensor}) -> {tensor} {{\n"
        f"{body}\nreturn {last} : {tensor} }}"
    )


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def names(module: ir.Module) -> list[str]:
    """Inner ops first."""
    found: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("stablehlo.") and op.name != "stablehlo.return":
            found.append(op.name.removeprefix("stablehlo."))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def main_ops(module: ir.Module) -> list[ir.Operation]:
    (function,) = module.body.operations
    return [op.operation for op in function.operation.regions[0].blocks[0].operations]


def made_by(value: ir.Value) -> str:
    return "" if isinstance(value.owner, ir.Block) else value.owner.operation.name


def numpy_engine(fault: Callable[[ir.Operation], float], needs: str = "") -> Engine:
    """Arithmetic by numpy, off by what `fault` says of an op, for modules with an op `needs`."""

    def run(module: ir.Module, arrays: Sequence[np.ndarray], entry: str) -> tuple[np.ndarray, ...]:
        *ops, end = main_ops(module)
        if needs and needs not in names(module):
            raise mlir_fp8.Fp8Error(f"a module without {needs}")
        (block,) = module.body.operations[0].operation.regions[0].blocks
        values: list[tuple[ir.Value, np.ndarray]] = [*zip(block.arguments, arrays, strict=True)]

        def known(value: ir.Value) -> np.ndarray:
            return next(array for each, array in values if each == value)

        for op in ops:
            if op.name == "stablehlo.constant":
                shape = ir.RankedTensorType(op.results[0].type).shape
                values.append((op.results[0], np.full(shape, 2, np.float32)))
                continue
            result = ARITHMETIC[op.name](*(known(value) for value in op.operands))
            values.append((op.results[0], result + np.float32(fault(op))))
        return tuple(known(value) for value in end.operands)

    return run


def with_fault(
    monkeypatch: pytest.MonkeyPatch, fault: Callable[[ir.Operation], float], needs: str = ""
) -> None:
    monkeypatch.setitem(judges.ENGINES, "llvm", numpy_engine(lambda _: 0.0))
    monkeypatch.setitem(judges.ENGINES, "interpreter", numpy_engine(fault, needs))


def fused(op: ir.Operation) -> float:
    """A fault that an op has only where it adds what was multiplied."""
    products = [value for value in op.operands if made_by(value) == "stablehlo.multiply"]
    return 1.0 if op.name == "stablehlo.add" and products else 0.0


def check(reduction: Reduction, expected: list[str]) -> None:
    assert names(reduction.module) == expected
    assert reduction.ops_after == len(expected)
    assert reduction.verdict.is_comparison
    assert not reduction.verdict.is_good
    again = mlir_fp8.compare(str(reduction.module), *reduction.arrays, judges=PAIR)
    assert [each.relative for each in again.agreements] == [
        each.relative for each in reduction.verdict.agreements
    ]


def test_one_op_of_forty() -> None:
    # The interpreter computes logistic in several steps of f8.
    ops = ["add", "multiply", "subtract", "add"] * 5
    before = chain(ops[:18]).replace("return %17 : tensor<4x8xf32> }", "")
    after = "\n".join(
        f"%y{number + 1} = stablehlo.{op} %y{number}, %b : tensor<4x8xf32>"
        for number, op in enumerate(ops)
    )
    module = mlir_fp8.load(
        f"""{before}
        %q = stablehlo.convert %17 : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FN>
        %l = stablehlo.logistic %q : tensor<4x8xf8E4M3FN>
        %y0 = stablehlo.convert %l : (tensor<4x8xf8E4M3FN>) -> tensor<4x8xf32>
        {after}
        return %y20 : tensor<4x8xf32> }}"""
    )
    text = str(module)
    reduction = mlir_fp8.reduce(module, *normal(2, 4, 8), judges=PAIR)
    assert reduction.ops_before == 41
    check(reduction, ["logistic"])
    assert [array.shape for array in reduction.arrays] == [(1,)]
    assert str(module) == text


def test_a_sum_keeps_few_summands() -> None:
    # The interpreter rounds it at every step.
    reduction = mlir_fp8.reduce(SUM, normal(4, 12, dtype=ml_dtypes.bfloat16), judges=PAIR)
    check(reduction, ["add", "reduce"])
    shapes = sorted(array.shape for array in reduction.arrays)
    assert shapes[0] == ()
    assert shapes[1][0] == 1
    assert shapes[1][1] < 8


@pytest.mark.exhaustive
def test_a_dot_keeps_one_row_and_one_column() -> None:
    dot = """
      func.func @main(%a: tensor<2x2x6xbf16>) -> tensor<2x2x2xbf16> {
        %0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0],
          contracting_dims = [2] x [2]
          : (tensor<2x2x6xbf16>, tensor<2x2x6xbf16>) -> tensor<2x2x2xbf16>
        return %0 : tensor<2x2x2xbf16> }"""
    reduction = mlir_fp8.reduce(dot, normal(2, 2, 6, dtype=ml_dtypes.bfloat16), judges=PAIR)
    check(reduction, ["dot_general"])
    assert [array.shape[:2] for array in reduction.arrays] == [(1, 1), (1, 1)]
    assert max(array.shape[2] for array in reduction.arrays) < 6


@pytest.mark.exhaustive
def test_the_branch_of_the_iteration_that_differs() -> None:
    given = normal(8, dtype=ml_dtypes.float8_e4m3fn)
    check(mlir_fp8.reduce(LOOP, given, judges=PAIR), ["logistic"])


def test_calls_other_entries_and_results() -> None:
    tensor = "tensor<8xf8E4M3FN>"
    source = f"""
      func.func private @f(%x: {tensor}) -> {tensor} {{
        %0 = stablehlo.logistic %x : {tensor}
        return %0 : {tensor} }}
      func.func @main() {{ return }}
      func.func @go(%x: {tensor}) -> ({tensor}, {tensor}) {{
        %0 = stablehlo.negate %x : {tensor}
        %1 = call @f(%0) : ({tensor}) -> {tensor}
        return %0, %1 : {tensor}, {tensor} }}"""
    given = normal(8, dtype=ml_dtypes.float8_e4m3fn)
    reduction = mlir_fp8.reduce(source, given, judges=PAIR, entry="go")
    assert reduction.ops_before == 3
    check(reduction, ["logistic"])


@pytest.mark.parametrize("seed", range(3))
def test_a_fault_that_two_ops_have_together(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, fused)
    random = np.random.default_rng(seed)
    others = [str(each) for each in random.choice(["negate", "subtract"], 38)]
    place = int(random.integers(1, 37))
    source = chain([*others[:place], "multiply", "add", *others[place:]])
    reductions = [mlir_fp8.reduce(source, *normal(2, 4, 8), judges=PAIR) for _ in range(2)]
    check(reductions[0], ["multiply", "add"])
    assert str(reductions[0].module) == str(reductions[1].module)
    assert [each.tolist() for each in reductions[0].arrays] == [
        each.tolist() for each in reductions[1].arrays
    ]


def test_a_refusal_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, lambda op: float(op.name == "stablehlo.add"), needs="multiply")
    source = chain(["subtract", "multiply", "maximum", "add", "negate"])
    reduction = mlir_fp8.reduce(source, *normal(2, 4, 8), judges=PAIR)
    check(reduction, ["multiply", "add"])


def test_a_fault_of_whole_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(op: ir.Operation) -> float:
        sizes = ir.RankedTensorType(op.results[0].type).shape
        return float(op.name == "stablehlo.add" and np.prod(sizes) % 8 == 0)

    with_fault(monkeypatch, fault)
    reduction = mlir_fp8.reduce(chain(["add", "negate"]), *normal(2, 4, 8), judges=PAIR)
    check(reduction, ["add"])
    assert [array.shape for array in reduction.arrays] == [(8,), (8,)]


def test_a_constant_that_the_fault_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(op: ir.Operation) -> float:
        return float("stablehlo.constant" in [made_by(value) for value in op.operands])

    with_fault(monkeypatch, fault)
    tensor = "tensor<4x8xf32>"
    source = f"""
      func.func @main(%a: {tensor}) -> {tensor} {{
        %0 = stablehlo.constant dense<2.0> : {tensor}
        %1 = stablehlo.negate %a : {tensor}
        %2 = stablehlo.add %1, %0 : {tensor}
        %3 = stablehlo.negate %2 : {tensor}
        return %3 : {tensor} }}"""
    reduction = mlir_fp8.reduce(source, normal(4, 8), judges=PAIR)
    check(reduction, ["constant", "add"])
    assert [array.shape for array in reduction.arrays] == [(1,)]


def test_a_module_without_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, lambda _: 0.0)
    monkeypatch.setitem(judges.ENGINES, "interpreter", lambda _, arrays, __: (arrays[0] + 1,))
    source = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    reduction = mlir_fp8.reduce(source, normal(2), judges=PAIR)
    check(reduction, [])
    assert [array.shape for array in reduction.arrays] == [(1,)]


def test_no_time_gives_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, fused)
    source = chain(["negate", "multiply", "add"])
    reduction = mlir_fp8.reduce(source, *normal(2, 4, 8), judges=PAIR, seconds=0)
    check(reduction, ["negate", "multiply", "add"])


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, fused)
    lines: list[str] = []
    source = chain(["negate", "multiply", "add"])
    mlir_fp8.reduce(source, *normal(2, 4, 8), judges=PAIR, on_progress=lines.append)
    assert lines[0] == "programs tried: 1, ops left: 3"
    assert lines[-1].endswith(", ops left: 2")


def test_judges_that_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, lambda _: 0.0)
    with pytest.raises(
        mlir_fp8.Fp8Error, match=r"^the judges agree within 0.1: nothing to reduce$"
    ):
        mlir_fp8.reduce(chain(["add"]), *normal(2, 4, 8), judges=PAIR, tolerance=0.1)


def test_fewer_than_two_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    with_fault(monkeypatch, fused, needs="maximum")
    message = r"fewer than two judges can run it: nothing to reduce \(interpreter: a module without"
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        mlir_fp8.reduce(chain(["multiply", "add"]), *normal(2, 4, 8), judges=PAIR)


@pytest.mark.parametrize(
    ("items", "needed"),
    [(1, {0}), (7, {3}), (20, {2, 17}), (33, {0, 1, 16, 32}), (5, set(range(5)))],
)
def test_delta_debugging(items: int, needed: set[int]) -> None:
    assert set(minimized(range(items), lambda part: needed <= set(part))) == needed


def test_delta_debugging_in_coarse_pieces() -> None:
    left = minimized(range(64), lambda part: {0, 63} <= set(part), most_pieces=2)
    assert left == tuple(range(64))


def test_open_sizes_are_those_of_the_arrays() -> None:
    x = np.arange(0x30, 0x50, dtype=np.uint8).reshape(4, 8).view(ml_dtypes.float8_e4m3fn)
    reduction = mlir_fp8.reduce(OPEN, x, x[:, 0], judges=PAIR)
    text = str(reduction.module)
    assert "stablehlo.logistic %arg0 : tensor<1xf8E4M3FN>" in text
    assert (reduction.ops_before, reduction.ops_after) == (4, 1)
    again = mlir_fp8.compare(reduction.module, *reduction.arrays, judges=PAIR)
    assert not again.is_good
