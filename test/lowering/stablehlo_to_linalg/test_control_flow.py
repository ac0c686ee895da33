"""Compiled loops, branches and maps against the reference interpreter and numpy."""

import resource
import sys

import numpy as np
import pytest
from indexed_cases import random_values, tensor_type
from loop_programs import SHAPE, module_text
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.pipelines import PIPELINES

ELEMENTS = (
    *("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"),
    *FORMATS,
    *("complex<f32>", "complex<f64>"),
)
RNG = np.random.default_rng(0)

WHILE = """
  %r:{count} = stablehlo.while({inits}) : {types}
    cond {{
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }} do {{
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      {body}
      stablehlo.return %j, {carried} : {types}
    }}
"""


def loop(arguments: dict[str, str], body: str, carried: str) -> str:
    """`main` runs `body` while %i < %n on `arguments` (name to type), and returns what it carries.

    `carried` lists the next values; the arguments themselves are carried under upper-case names.
    """
    names = ["i", *(name.upper() for name in arguments)]
    inits = ["%zero", *(f"%{name}" for name in arguments)]
    loop = WHILE.format(
        count=len(names),
        inits=", ".join(f"%{name} = {init}" for name, init in zip(names, inits, strict=True)),
        types=", ".join(["tensor<i32>", *arguments.values()]),
        body=body,
        carried=carried,
    )
    results = ", ".join(arguments.values())
    returned = ", ".join(f"%r#{place + 1}" for place in range(len(arguments)))
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    return f"""func.func @main(%n: tensor<i32>, {parameters}) -> ({results}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  {loop}
  return {returned} : {results}
}}"""


def bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def assert_as_interpreted(text: str, *arguments: np.ndarray) -> None:
    module = mlir_fp8.load(text)
    results = mlir_fp8.compile(module)(*arguments)
    wanted = mlir_fp8.interpret(module, *arguments)
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert bits(got) == bits(want)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ELEMENTS)
def test_a_loop_carries_any_type(element: str) -> None:
    """A swap, a transposed tensor, a scalar, and empty tensors: bits stay as they are."""
    shapes = {"x": (3, 5), "y": (3, 5), "z": (7,), "s": (), "e": (0, 2)}
    types = {name: tensor_type(shape, element) for name, shape in shapes.items()}
    body = f"%t = stablehlo.reverse %Z, dims = [0] : {types['z']}"
    compiled = mlir_fp8.compile(loop(types, body, "%Y, %X, %t, %S, %E"))
    x, y, z, s, e = (random_values(RNG, shape, element) for shape in shapes.values())
    for turns in (0, 1, 2, 5):
        results = compiled(np.array(turns, np.int32), x, y, z, s, e)
        wanted = (y, x, z[::-1], s, e) if turns % 2 else (x, y, z, s, e)
        for got, want in zip(results, wanted, strict=True):
            assert (got.dtype, got.shape, bits(got)) == (want.dtype, want.shape, bits(want))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ELEMENTS)
def test_branches_give_any_type(element: str) -> None:
    """By `if` and by `case`; an index out of range takes the last branch."""
    x, y, z = (tensor_type((2, 3), element), tensor_type((), element), tensor_type((0,), element))
    kinds = f"{x}, {y}, {z}"
    given = [f"%{name}{place}" for place in range(3) for name in "xyz"]
    sides = [", ".join(given[place : place + 3]) for place in (0, 3, 6)]
    first, second, last = (f"{{ stablehlo.return {side} : {kinds} }}" for side in sides)
    parameters = ", ".join(
        f"{name}: {type_}" for name, type_ in zip(given, [x, y, z] * 3, strict=True)
    )
    compiled = mlir_fp8.compile(f"""
    func.func @main(%i: tensor<i32>, {parameters}) -> ({kinds}, {kinds}) {{
      %c:3 = "stablehlo.case"(%i) ({first}, {second}, {last}) : (tensor<i32>) -> ({kinds})
      %one = stablehlo.constant dense<1> : tensor<i32>
      %p = stablehlo.compare EQ, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %b:3 = "stablehlo.if"(%p) ({first}, {second}) : (tensor<i1>) -> ({kinds})
      return %c#0, %c#1, %c#2, %b#0, %b#1, %b#2 : {kinds}, {kinds}
    }}""")
    values = [random_values(RNG, shape, element) for _ in range(3) for shape in ((2, 3), (), (0,))]
    for index in (0, 1, 2, 3, -1, 2**31 - 1, -(2**31)):
        results = compiled(np.array(index, np.int32), *values)
        case, branch = index if index in (0, 1) else 2, int(index != 1)
        wanted = values[3 * case : 3 * case + 3] + values[3 * branch : 3 * branch + 3]
        assert [bits(got) for got in results] == [bits(want) for want in wanted]


NESTED = """
  %two = stablehlo.constant dense<2> : tensor<i32>
  %m = stablehlo.remainder %i, %two : tensor<i32>
  %q = stablehlo.compare EQ, %m, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %a:2 = "stablehlo.if"(%q) ({
    %w:2 = stablehlo.while(%k = %zero, %b = %X) : tensor<i32>, tensor<4x3xf32>
      cond {
        %l = stablehlo.compare LE, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
      } do {
        %c = "stablehlo.case"(%k) ({
          %d = stablehlo.add %b, %X : tensor<4x3xf32>
          stablehlo.return %d : tensor<4x3xf32>
        }, {
          %d = stablehlo.dynamic_update_slice %b, %u, %k, %i
            : (tensor<4x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
          stablehlo.return %d : tensor<4x3xf32>
        }, {
          stablehlo.return %X : tensor<4x3xf32>
        }) : (tensor<i32>) -> tensor<4x3xf32>
        %k1 = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %k1, %c : tensor<i32>, tensor<4x3xf32>
      }
    stablehlo.return %w#1, %U : tensor<4x3xf32>, tensor<1x2xf32>
  }, {
    %v = stablehlo.slice %X [2:3, 0:2] : (tensor<4x3xf32>) -> tensor<1x2xf32>
    "stablehlo.if"(%q) ({
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i1>) -> ()
    %t = stablehlo.reverse %X, dims = [0, 1] : tensor<4x3xf32>
    stablehlo.return %t, %v : tensor<4x3xf32>, tensor<1x2xf32>
  }) : (tensor<i1>) -> (tensor<4x3xf32>, tensor<1x2xf32>)
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 7, 12])
def test_nested(turns: int) -> None:
    types = {"x": "tensor<4x3xf32>", "u": "tensor<1x2xf32>"}
    arguments = (random_values(RNG, shape, "f32") for shape in ((4, 3), (1, 2)))
    assert_as_interpreted(loop(types, NESTED, "%a#0, %a#1"), np.array(turns, np.int32), *arguments)


VECTOR, ROWS, MATRIX = "tensor<64xf32>", "tensor<100x64xf32>", "tensor<64x64xf32>"
SHAPES = {VECTOR: (64,), ROWS: (100, 64), MATRIX: (64, 64)}
LOOPS = {
    "update": (
        {"x": ROWS, "u": VECTOR},
        f"""%v = stablehlo.reshape %U : ({VECTOR}) -> tensor<1x64xf32>
        %y = stablehlo.dynamic_update_slice %X, %v, %i, %zero
          : ({ROWS}, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> {ROWS}""",
        "%y, %U",
        1,
    ),
    "elementwise": (
        {"x": VECTOR, "y": VECTOR},
        f"""%a = stablehlo.add %X, %Y : {VECTOR}
        %b = stablehlo.multiply %a, %Y : {VECTOR}""",
        "%a, %b",
        0,
    ),
    "product": (
        {"x": VECTOR, "m": MATRIX},
        f"""%y = stablehlo.dot_general %M, %X, contracting_dims = [1] x [0]
          : ({MATRIX}, {VECTOR}) -> {VECTOR}
        %z = stablehlo.abs %y : {VECTOR}""",
        "%z, %M",
        0,
    ),
    "shift": ({"x": VECTOR, "y": VECTOR, "z": VECTOR}, "", "%z, %X, %Y", 3),
    "swap": ({"x": VECTOR, "y": VECTOR}, "", "%Y, %X", 3),
    "branch": (
        {"x": VECTOR},
        f"""%p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %y = "stablehlo.if"(%p) ({{
          %a = stablehlo.abs %X : {VECTOR}
          stablehlo.return %a : {VECTOR}
        }}, {{
          stablehlo.return %X : {VECTOR}
        }}) : (tensor<i1>) -> {VECTOR}""",
        "%y",
        0,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_copies_per_turn(name: str) -> None:
    """One of an updated slice, none for an in-place update, never an allocation."""
    types, body, carried, copies = LOOPS[name]
    road = PIPELINES["lower-to-llvm-pipeline"]()
    with make_context():
        module = ir.Module.parse(loop(types, body, carried))
        run_pipeline(module, road[: road.index("memref-copy-to-linalg")])
        (turns,) = [op for op in operations(module.operation) if op.name == "scf.while"]
        inside = [op.name for op in operations(turns)]
    assert inside.count("memref.copy") == copies
    assert "memref.alloc" not in inside


@pytest.mark.parametrize("name", LOOPS)
def test_values_of_loops_in_place(name: str) -> None:
    types, body, carried, _ = LOOPS[name]
    text = loop(types, body, carried)
    arguments = [RNG.integers(-1, 2, SHAPES[type_]).astype(np.float32) for type_ in types.values()]
    assert_as_interpreted(text, np.array(3, np.int32), *arguments)


def test_a_million_buffers_are_freed() -> None:
    """10^5 iterations, each with products and branches that yield one buffer or another."""
    types = {"x": VECTOR, "y": VECTOR, "m": MATRIX}
    body = f"""%v = stablehlo.dot_general %M, %X, contracting_dims = [1] x [0]
          : ({MATRIX}, {VECTOR}) -> {VECTOR}
        %half = stablehlo.constant dense<5.0e-01> : {VECTOR}
        %two = stablehlo.constant dense<2> : tensor<i32>
        %k = stablehlo.remainder %i, %two : tensor<i32>
        %a:2 = "stablehlo.case"(%k) ({{
          %b = stablehlo.multiply %v, %half : {VECTOR}
          %c = stablehlo.reverse %b, dims = [0] : {VECTOR}
          stablehlo.return %c, %Y : {VECTOR}, {VECTOR}
        }}, {{
          stablehlo.return %half, %X : {VECTOR}, {VECTOR}
        }}) : (tensor<i32>) -> ({VECTOR}, {VECTOR})
        %z = stablehlo.reverse %a#1, dims = [0] : {VECTOR}"""
    compiled = mlir_fp8.compile(loop(types, body, "%a#0, %z, %M"))
    arguments = [np.zeros(shape, np.float32) for shape in ((64,), (64,), (64, 64))]
    compiled(np.array(100, np.int32), *arguments)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    compiled(np.array(100_000, np.int32), *arguments)
    for _ in range(20_000):
        compiled(np.array(1, np.int32), *arguments)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    # In KiB, on macOS in bytes. One buffer per iteration would be 25 MiB.
    assert grown < 4 * (2**20 if sys.platform == "darwin" else 2**10)


def test_tokens_and_tuples() -> None:
    results = mlir_fp8.compile("""
    func.func private @pair(%x: tensor<2xf32>, %t: !stablehlo.token)
        -> (tuple<tensor<2xf32>, !stablehlo.token>, !stablehlo.token) {
      %p = stablehlo.tuple %x, %t : tuple<tensor<2xf32>, !stablehlo.token>
      return %p, %t : tuple<tensor<2xf32>, !stablehlo.token>, !stablehlo.token
    }
    func.func @main(%x: tensor<2xf32>, %q: tensor<i1>) -> tensor<2xf32> {
      %t = stablehlo.create_token : !stablehlo.token
      %p:2 = call @pair(%x, %t) : (tensor<2xf32>, !stablehlo.token)
        -> (tuple<tensor<2xf32>, !stablehlo.token>, !stablehlo.token)
      %u = stablehlo.get_tuple_element %p#0[1]
        : (tuple<tensor<2xf32>, !stablehlo.token>) -> !stablehlo.token
      %a = stablehlo.after_all %u, %p#1 : !stablehlo.token
      %b:2 = "stablehlo.if"(%q) ({
        %c = stablehlo.get_tuple_element %p#0[0]
          : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
        %d = stablehlo.negate %c : tensor<2xf32>
        stablehlo.return %a, %d : !stablehlo.token, tensor<2xf32>
      }, {
        stablehlo.return %u, %x : !stablehlo.token, tensor<2xf32>
      }) : (tensor<i1>) -> (!stablehlo.token, tensor<2xf32>)
      return %b#1 : tensor<2xf32>
    }""")(np.array([1, -2], np.float32), np.array(True))
    assert results[0].tolist() == [-1, 2]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("element", ["f8E4M3FN", "bf16", "f32", "f64", "i8", "ui8"])
def test_map(element: str) -> None:
    """Of whole tensors, with an `if` in it element by element, of rank 0 and of nothing."""
    texts = []
    for place, shape in enumerate(((2, 3, 5), (), (0, 4))):
        type_, scalar = tensor_type(shape, element), tensor_type((), element)
        dims = ", ".join(map(str, range(len(shape))))
        dimensions = f"dimensions = array<i64{': ' if dims else ''}{dims}>"
        texts.append(f"""
          %m{place} = "stablehlo.map"(%x{place}, %y{place}) <{{{dimensions}}}> ({{
          ^bb0(%a: {scalar}, %b: {scalar}):
            %two = stablehlo.constant dense<2> : tensor<i32>
            %c = stablehlo.convert %two : (tensor<i32>) -> {scalar}
            %d = stablehlo.multiply %a, %c : {scalar}
            %e = stablehlo.add %d, %b : {scalar}
            stablehlo.return %e : {scalar}
          }}) : ({type_}, {type_}) -> {type_}
          %n{place} = "stablehlo.map"(%m{place}) <{{{dimensions}}}> ({{
          ^bb0(%a: {scalar}):
            %b = stablehlo.multiply %a, %a : {scalar}
            %p = stablehlo.compare LT, %b, %a : ({scalar}, {scalar}) -> tensor<i1>
            %c = "stablehlo.if"(%p) ({{
              stablehlo.return %b : {scalar}
            }}, {{
              stablehlo.return %a : {scalar}
            }}) : (tensor<i1>) -> {scalar}
            stablehlo.return %c : {scalar}
          }}) : ({type_}) -> {type_}""")
    types = [tensor_type(shape, element) for shape in ((2, 3, 5), (), (0, 4))]
    parameters = ", ".join(f"%{name}{k}: {t}" for name in "xy" for k, t in enumerate(types))
    listed = ", ".join(types * 2)
    text = f"""func.func @main({parameters}) -> ({listed}) {{
      {"".join(texts)}
      return %m0, %m1, %m2, %n0, %n1, %n2 : {listed}
    }}"""
    shapes = ((2, 3, 5), (), (0, 4)) * 2
    assert_as_interpreted(text, *(random_values(RNG, shape, element) for shape in shapes))


@pytest.mark.sampled(50)
@pytest.mark.parametrize("first", [0, 20, 40])
def test_random_programs(first: int) -> None:
    """Buffers that branches yield and loops permute are never overwritten while live."""
    arguments = [RNG.integers(-9, 9, SHAPE, np.int32) for _ in range(4)]
    assert_as_interpreted(module_text(range(first, first + 20)), *arguments)
