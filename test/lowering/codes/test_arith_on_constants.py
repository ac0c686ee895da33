"""`arith` and `math` ops on small floats: constants give what arguments give.

Upstream's folders are wrong there; constants reach them by themselves, through calls, and on the
way of refined sizes.
"""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.dialects.float_formats import SMALL_FLOATS

COUNT = 64
NUMBERS = np.resize([-2, 0, -0.0, 1, np.nan, np.inf, -np.inf, 2.5, 464, 465, 1e30, 7, 0.3], COUNT)
INTEGERS = np.resize([-2, 0, 1, 3, 17, 448, 1000, -5, 2**31 - 1], COUNT)
# The op on %a, %b (A is their type, R the result's), with the element types of both.
OPS = [
    ("arith.extf %a : A to R", "F", "f32"),
    ("arith.extf %a : A to R", "F", "f64"),
    ("arith.extf %a : A to R", "F", "bf16"),
    ("arith.truncf %a : A to R", "f32", "F"),
    ("arith.truncf %a : A to R", "f64", "F"),
    ("arith.sitofp %a : A to R", "i32", "F"),
    ("arith.uitofp %a : A to R", "i32", "F"),
    ("arith.fptosi %a : A to R", "F", "i32"),
    ("arith.negf %a : A", "F", "F"),
    *((f"arith.{op} %a, %b : A", "F", "F") for op in ("addf", "subf", "mulf", "divf", "remf")),
    *((f"arith.{op} %a, %b : A", "F", "F") for op in ("maxnumf", "minnumf", "maximumf")),
    *((f"arith.cmpf {op}, %a, %b : A", "F", "i1") for op in ("olt", "une", "ord")),
    *((f"math.{op} %a : A", "F", "F") for op in ("absf", "floor", "roundeven", "exp", "tanh")),
]
# What formats without negative numbers, or without NaN, refuse.
UNSIGNED, NEVER_NAN = {"arith.negf"}, {"arith.divf", "arith.remf"}


def operands(element: str) -> list[np.ndarray]:
    """Two, of all codes or of some of them."""
    fmt = SMALL_FLOATS.get(element)
    if fmt is None:
        dtype = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[element]
        return [(INTEGERS if element == "i32" else NUMBERS).astype(dtype)] * 2
    step = max(1, (1 << fmt.bits) // COUNT)
    codes = np.resize(np.arange(0, 1 << fmt.bits, step), COUNT).astype(np.uint8)
    codes[-1] = (1 << fmt.bits) - 1  # f8E8M0FNU's NaN
    return [codes.view(fmt.dtype), np.random.default_rng(0).permutation(codes).view(fmt.dtype)]


def programs(element: str) -> tuple[str, str, list[np.ndarray]]:
    """All ops on arguments, on constants that a call passes, and the arguments."""
    fmt = SMALL_FLOATS[element]
    ops, constants, parameters, arrays, targets = [], [], [], [], []
    for place, (op, *kinds) in enumerate(OPS):
        name = op.split()[0]
        if (name in UNSIGNED and not fmt.signed) or (name in NEVER_NAN and not fmt.has_nan):
            continue
        elements = [element if kind == "F" else kind for kind in kinds]
        source, target = (f"tensor<{COUNT}x{each}>" for each in elements)
        for side, array in zip("ab", operands(elements[0]), strict=True):
            bits = f'dense<"0x{array.tobytes().hex()}">'
            constants.append(f"%{side}{place} = arith.constant {bits} : {source}")
            parameters.append((f"%{side}{place}", source))
            arrays.append(array)
            op = op.replace(f"%{side}", f"%{side}{place}")
        ops.append(f"%r{place} = {op.replace(' A', f' {source}').replace(' R', f' {target}')}")
        targets.append((f"%r{place}", target))
    results = ", ".join(type_ for _, type_ in targets)
    taken = ", ".join(f"{name}: {type_}" for name, type_ in parameters)
    types, given = (", ".join(each[side] for each in parameters) for side in (1, 0))
    newline = "\n"
    helper = f"""func.func NAME({taken}) -> ({results}) {{
      {newline.join(ops)}
      return {", ".join(name for name, _ in targets)} : {results}
    }}"""
    of_constants = f"""{helper.replace("NAME", "private @ops")}
    func.func @main() -> ({results}) {{
      {newline.join(constants)}
      %r:{len(targets)} = call @ops({given}) : ({types}) -> ({results})
      return {", ".join(f"%r#{place}" for place in range(len(targets)))} : {results}
    }}"""
    return helper.replace("NAME", "@main"), of_constants, arrays


@pytest.mark.sampled(5)
@pytest.mark.parametrize("element", SMALL_FLOATS)
def test_constants_are_as_arguments(element: str) -> None:
    of_arguments, of_constants, arrays = programs(element)
    wanted, results = mlir_fp8.compile(of_arguments)(*arrays), mlir_fp8.compile(of_constants)()
    for place, (got, want) in enumerate(zip(results, wanted, strict=True)):
        with np.errstate(invalid="ignore"):  # of ml_dtypes, from signaling NaNs
            is_nan = np.isnan(want.astype(np.float64))
            assert np.array_equal(np.isnan(got.astype(np.float64)), is_nan), place
        assert got[~is_nan].tobytes() == want[~is_nan].tobytes(), place


EXTENDED = """
func.func @main(ARGUMENT) -> (tensor<1xf32>, tensor<2xf8E8M0FNU>, tensor<2xf8E4M3FN>) {
  %c = arith.constant dense<0xFF> : tensor<1xf8E8M0FNU>
  %0 = arith.extf %c : tensor<1xf8E8M0FNU> to tensor<1xf32>
  %d = arith.constant dense<[-2.0, 1000.0]> : tensor<2xf32>
  %1 = arith.truncf %d : tensor<2xf32> to tensor<2xf8E8M0FNU>
  %2 = arith.truncf %d : tensor<2xf32> to tensor<2xf8E4M3FN>
  return %0, %1, %2 : tensor<1xf32>, tensor<2xf8E8M0FNU>, tensor<2xf8E4M3FN>
}"""


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("saturate", [False, True])
def test_nan_and_what_no_format_holds(is_open: bool, saturate: bool) -> None:
    """NaN of f8E8M0FNU, which has no -2; 1000 is beyond f8E4M3FN's 448, and next to 2^10."""
    text = EXTENDED.replace("ARGUMENT", "%a: tensor<?xf32>" if is_open else "")
    compiled = mlir_fp8.compile(text, shapes=[(2,)] if is_open else None, saturate=saturate)
    wide, scale, small = compiled(*([np.ones(2, np.float32)] if is_open else []))
    assert np.isnan(wide).all()
    assert scale.view(np.uint8).tolist() == [0xFF, 127 + 10]
    assert small.astype(np.float32)[0] == -2
    last = small.astype(np.float32)[1]
    assert last == 448 if saturate else np.isnan(last)


def test_scalars_in_bodies_and_loops() -> None:
    """4 - 4 is 0, which f8E8M0FNU has no code for; the last loop has a trip count of 0."""
    text = """func.func @main(%turns: tensor<i32>) -> (tensor<2xf32>, tensor<f32>) {
      %nan = arith.constant 0xFF : f8E8M0FNU
      %four = arith.constant 4.0 : f8E8M0FNU
      %0 = arith.extf %nan : f8E8M0FNU to f32
      %1 = arith.subf %four, %four : f8E8M0FNU
      %2 = arith.extf %1 : f8E8M0FNU to f32
      %3 = tensor.from_elements %0, %2 : tensor<2xf32>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = tensor.extract %turns[] : tensor<i32>
      %last = arith.index_cast %n : i32 to index
      %4 = scf.for %i = %zero to %last step %one iter_args(%sum = %four) -> (f8E8M0FNU) {
        %5 = arith.addf %sum, %four : f8E8M0FNU
        scf.yield %5 : f8E8M0FNU
      }
      %6 = arith.extf %4 : f8E8M0FNU to f32
      %7 = tensor.from_elements %6 : tensor<f32>
      return %3, %7 : tensor<2xf32>, tensor<f32>
    }"""
    compiled = mlir_fp8.compile(text)
    for turns, total in ((0, 4), (1, 8), (2, 16)):  # 8 + 4 is half-way between 8 and 16: to even
        both, got = compiled(np.array(turns, np.int32))
        assert np.isnan(both).all()
        assert got == total
