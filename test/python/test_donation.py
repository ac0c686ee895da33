"""`compile(donate=)`: the right values in the memory that was given, and no other argument's."""

import ctypes
import mmap
import sys
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.compiling.compiled_module import CompiledModule

N = 70
"""Rows and columns: enough for kernels of products."""
X = f"tensor<{N}x{N}xf32>"
LOOP = """%n = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w, %u, %v = stablehlo.while(%it = %zero, %p = %a, %q = %b) : tensor<i32>, $X, $X
    cond {
      %less = stablehlo.compare LT, %it, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %it, %one : tensor<i32>
      %body
    }"""
ROW = f"tensor<1x{N}xf32>"

# What a function of %a, %b, %i makes: ops that end in %r and %s.
PROGRAMS = {
    "identity": "return %a, %b : $X, $X",
    "swap": "return %b, %a : $X, $X",
    "both": "return %a, %a : $X, $X",
    "second": "return %b, %b : $X, $X",
    "elementwise": """%r = stablehlo.add %a, %b : $X
  %s = stablehlo.multiply %a, %b : $X
  return %r, %s : $X, $X""",
    "chain": """%r = stablehlo.tanh %a : $X
  %s = stablehlo.add %r, %b : $X
  %t = stablehlo.multiply %s, %a : $X
  return %s, %t : $X, $X""",
    "transposed": """%r = stablehlo.transpose %a, dims = [1, 0] : ($X) -> $X
  %s = stablehlo.reverse %b, dims = [0] : $X
  return %r, %s : $X, $X""",
    "dot": """%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ($X, $X) -> $X
  %s = stablehlo.dot_general %r, %a, contracting_dims = [1] x [0] : ($X, $X) -> $X
  return %r, %s : $X, $X""",
    "dot-after-update": """%z = stablehlo.constant dense<0> : tensor<i32>
  %row = stablehlo.slice %b [3:4, 0:70] : ($X) -> $ROW
  %r = stablehlo.dynamic_update_slice %a, %row, %i, %z : ($X, $ROW, tensor<i32>, tensor<i32>) -> $X
  %s = stablehlo.dot_general %b, %r, contracting_dims = [1] x [1] : ($X, $X) -> $X
  return %r, %s : $X, $X""",
    "read-before-update": """%z = stablehlo.constant dense<0> : tensor<i32>
  %row = stablehlo.slice %b [3:4, 0:70] : ($X) -> $ROW
  %r = stablehlo.dynamic_update_slice %a, %row, %i, %z : ($X, $ROW, tensor<i32>, tensor<i32>) -> $X
  %s = stablehlo.subtract %r, %a : $X
  return %r, %s : $X, $X""",
    "shifted": """%u = stablehlo.slice %a [1:70, 0:70] : ($X) -> tensor<69x70xf32>
  %v = stablehlo.slice %b [0:1, 0:70] : ($X) -> $ROW
  %r = stablehlo.concatenate %u, %v, dim = 0 : (tensor<69x70xf32>, $ROW) -> $X
  return %r, %a : $X, $X""",
    "loop": LOOP.replace(
        "%body",
        """%f = stablehlo.add %p, %q : $X
      stablehlo.return %next, %q, %f : tensor<i32>, $X, $X""",
    )
    + "\n  return %v, %u : $X, $X",
    "loop-of-updates": LOOP.replace(
        "%body",
        """%row = stablehlo.dynamic_slice %q, %it, %zero, sizes = [1, 70]
        : ($X, tensor<i32>, tensor<i32>) -> $ROW
      %f = stablehlo.dynamic_update_slice %p, %row, %next, %zero
        : ($X, $ROW, tensor<i32>, tensor<i32>) -> $X
      stablehlo.return %next, %f, %q : tensor<i32>, $X, $X""",
    )
    + "\n  return %u, %a : $X, $X",
    "branch": """%z = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%c) ({
    %t = stablehlo.add %a, %b : $X
    stablehlo.return %t : $X
  }, {
    stablehlo.return %a : $X
  }) : (tensor<i1>) -> $X
  return %r, %a : $X, $X""",
    "branch-of-arguments": """%z = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r:2 = "stablehlo.if"(%c) ({
    stablehlo.return %b, %a : $X, $X
  }, {
    stablehlo.return %a, %b : $X, $X
  }) : (tensor<i1>) -> ($X, $X)
  return %r#0, %r#1 : $X, $X""",
    "sum": """%z = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1]
    : ($X, tensor<f32>) -> tensor<70xf32>
  %u = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<70xf32>) -> $X
  %r = stablehlo.divide %a, %u : $X
  return %r, %u : $X, $X""",
    "constant": """%r = stablehlo.constant dense<1.0> : $X
  return %r, %r : $X, $X""",
}
CHOICES: list[dict[int | str, int | str]] = [{0: 0}, {0: 1}, {1: 0}, {0: 0, 1: 1}, {0: 1, 1: 0}]


def program(body: str) -> str:
    text = f"func.func @main(%a: $X, %b: $X, %i: tensor<i32>) -> ($X, $X) {{\n  {body}\n}}"
    return text.replace("$X", X).replace("$ROW", ROW)


def arguments(seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    made = [random.standard_normal((N, N)).astype(np.float32) for _ in range(2)]
    return [*made, np.array(seed, np.int32)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_results_are_those_without_donation(name: str, choice: dict[int | str, int | str]) -> None:
    text = program(PROGRAMS[name])
    plain, step = mlir_fp8.compile(text), mlir_fp8.compile(text, donate=choice)
    assert step.donated == tuple(choice.items())
    for seed in (1, 3):
        wanted = plain(*arguments(seed))
        given, kept = arguments(seed), arguments(seed)
        got = step(*given)
        for argument, array in enumerate(given):
            if argument in choice:
                assert got[int(choice[argument])] is array
            else:
                assert array.tobytes() == kept[argument].tobytes()
        for mine, other in zip(got, wanted, strict=True):
            assert mine.tobytes() == other.tobytes(), seed


CACHE = """
func.func @main(%cache: tensor<512x64xf8E4M3FN> {mlir_fp8.name = "cache"},
                %row: tensor<1x64xf8E4M3FN>, %at: tensor<i32>)
    -> (tensor<f32>, tensor<512x64xf8E4M3FN> {mlir_fp8.name = "next"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %cache, %row, %at, %zero
    : (tensor<512x64xf8E4M3FN>, tensor<1x64xf8E4M3FN>, tensor<i32>, tensor<i32>)
    -> tensor<512x64xf8E4M3FN>
  %one = stablehlo.slice %0 [5:6, 0:1] : (tensor<512x64xf8E4M3FN>) -> tensor<1x1xf8E4M3FN>
  %f = stablehlo.convert %one : (tensor<1x1xf8E4M3FN>) -> tensor<1x1xf32>
  %r = stablehlo.reshape %f : (tensor<1x1xf32>) -> tensor<f32>
  return %r, %0 : tensor<f32>, tensor<512x64xf8E4M3FN>
}"""
F8 = ml_dtypes.float8_e4m3fn


@pytest.mark.parametrize("donate", [[0], ["cache"], {"cache": "next"}, {0: 1}])
def test_a_cache_is_updated_where_it_is(donate: Any) -> None:
    step = mlir_fp8.compile(CACHE, donate=donate)
    cache = np.zeros((512, 64), F8)
    for at in range(5, 8):
        first, updated = step(cache, np.full((1, 64), at, F8), at)
        assert updated is cache and first == 5
    wanted = np.zeros((512, 64), np.float32)
    wanted[5:8] = [[5], [6], [7]]
    assert cache.astype(np.float32).tolist() == wanted.tolist()


@pytest.fixture
def half_protected() -> Iterator[np.ndarray]:
    """A cache [512, 64] of which only the first 64 rows can be written: more ends the process."""
    libc: Any = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    size, page = ctypes.c_size_t(512 * 64), 4096
    address = libc.mmap(None, size, 3, 0x22, -1, ctypes.c_long(0))
    memory: Any = (ctypes.c_char * size.value).from_address(address)
    rest = ctypes.c_size_t(size.value - page)
    assert libc.mprotect(ctypes.c_void_p(address + page), rest, 1) == 0
    yield np.frombuffer(memory, np.uint8).view(F8).reshape(512, 64)
    libc.munmap(ctypes.c_void_p(address), size)


IN_MEMORY_OF_LINUX = pytest.mark.skipif(
    sys.platform != "linux" or mmap.PAGESIZE != 4096, reason="protects pages of 4096 bytes"
)


@IN_MEMORY_OF_LINUX
def test_only_the_row_is_written(half_protected: np.ndarray) -> None:
    step = mlir_fp8.compile(CACHE, donate=[0])
    first, updated = step(half_protected, np.full((1, 64), 3, F8), 5)
    assert first == 3 and updated is half_protected


STEPS = """
func.func @main(%cache: tensor<512x64xf8E4M3FN>, %x: tensor<1x64xf32>, %count: tensor<i32>)
    -> (tensor<512x64xf8E4M3FN>, tensor<1x64xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i, %c, %y = stablehlo.while(%at = %zero, %kept = %cache, %state = %x)
      : tensor<i32>, tensor<512x64xf8E4M3FN>, tensor<1x64xf32>
    cond {
      %less = stablehlo.compare LT, %at, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %row = stablehlo.convert %state : (tensor<1x64xf32>) -> tensor<1x64xf8E4M3FN>
      %0 = stablehlo.dynamic_update_slice %kept, %row, %at, %zero
        : (tensor<512x64xf8E4M3FN>, tensor<1x64xf8E4M3FN>, tensor<i32>, tensor<i32>)
        -> tensor<512x64xf8E4M3FN>
      %wide = stablehlo.convert %0 : (tensor<512x64xf8E4M3FN>) -> tensor<512x64xf32>
      %scores = stablehlo.dot_general %state, %wide, contracting_dims = [1] x [1]
        : (tensor<1x64xf32>, tensor<512x64xf32>) -> tensor<1x512xf32>
      %read = stablehlo.dot_general %scores, %wide, contracting_dims = [1] x [0]
        : (tensor<1x512xf32>, tensor<512x64xf32>) -> tensor<1x64xf32>
      %new = stablehlo.tanh %read : tensor<1x64xf32>
      %next = stablehlo.add %at, %one : tensor<i32>
      stablehlo.return %next, %0, %new
        : tensor<i32>, tensor<512x64xf8E4M3FN>, tensor<1x64xf32>
    }
  return %c, %y : tensor<512x64xf8E4M3FN>, tensor<1x64xf32>
}"""


@IN_MEMORY_OF_LINUX
def test_a_loop_of_steps_updates_one_cache(half_protected: np.ndarray) -> None:
    x = np.linspace(-1, 1, 64, dtype=np.float32)[None]
    cache, wanted = mlir_fp8.compile(STEPS)(np.zeros((512, 64), F8), x, 60)
    updated, y = mlir_fp8.compile(STEPS, donate=[0])(half_protected, x, 60)
    assert updated is half_protected and updated.tobytes() == cache.tobytes()
    assert y.tobytes() == wanted.tobytes()
    # By hand: steps one by one, in numpy.
    kept, state = np.zeros((512, 64), np.float32), x
    for at in range(60):
        kept[at] = state[0].astype(F8).astype(np.float32)
        state = np.tanh(state @ kept.T @ kept)
    np.testing.assert_allclose(y, state, rtol=1e-4, atol=1e-4)


def test_the_module_says_it() -> None:
    text = CACHE.replace('mlir_fp8.name = "cache"', "tf.aliasing_output = 1 : i32")
    assert mlir_fp8.compile(text, donate=True).donated == ((0, 1),)
    assert mlir_fp8.compile(text).donated == ()
    donor = CACHE.replace('mlir_fp8.name = "cache"', "jax.buffer_donor = true")
    assert mlir_fp8.compile(donor, donate=True).donated == ((0, 1),)


def test_what_jax_was_told() -> None:
    jax: Any = pytest.importorskip("jax")
    step = jax.jit(lambda x, y: (x + y, y * 2), donate_argnums=0)
    shape = jax.ShapeDtypeStruct((3,), np.float32)
    compiled = mlir_fp8.compile(step.lower(shape, shape).as_text(), donate=True)
    x, y = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    total, twice = compiled(x, y)
    assert total is x and x.tolist() == [5, 7, 9] and twice.tolist() == [8, 10, 12]


def test_code_from_the_cache_donates(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_FP8_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        step = mlir_fp8.compile(CACHE, donate=[0])
        assert step.donated == ((0, 1),)
    assert mlir_fp8.compile(CACHE).donated == ()


def test_an_array_without_elements() -> None:
    text = """func.func @main(%a: tensor<0x2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<0x2xf32>) {
  %0 = stablehlo.add %b, %b : tensor<2xf32>
  return %0, %a : tensor<2xf32>, tensor<0x2xf32>
}"""  # noqa: E501
    step = mlir_fp8.compile(text, donate=[0, 1])
    a, b = np.empty((0, 2), np.float32), np.array([1, 2], np.float32)
    got = step(a, b)
    assert got[1] is a and got[0] is b and b.tolist() == [2, 4]


ELEMENTS = "i1 i2 i4 ui4 i8 ui8 i64 bf16 f16 f64 complex<f32> f4E2M1FN f6E3M2FN f8E8M0FNU f8E3M4"


@pytest.mark.parametrize("element", ELEMENTS.split())
def test_every_type(element: str) -> None:
    """Two halves change places, which takes a copy of one."""
    half, whole = f"tensor<3x{element}>", f"tensor<6x{element}>"
    text = f"""func.func @main(%a: {whole}) -> {whole} {{
  %0 = stablehlo.slice %a [0:3] : ({whole}) -> {half}
  %1 = stablehlo.slice %a [3:6] : ({whole}) -> {half}
  %2 = stablehlo.concatenate %1, %0, dim = 0 : ({half}, {half}) -> {whole}
  return %2 : {whole}
}}"""
    step = mlir_fp8.compile(text, donate=[0])
    dtype = step.arguments[0].dtype
    a = np.array([0, 1, 1, 0, 1, 0]).astype(np.float32).astype(dtype)
    wanted = np.concatenate([a[3:], a[:3]]).tobytes()
    (got,) = step(a)
    assert got is a and a.tobytes() == wanted


def test_a_view_of_what_is_overwritten() -> None:
    text = """func.func @main(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %a, %b, %z, %z
    : (tensor<2x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  return %1, %0 : tensor<6xf32>, tensor<2x3xf32>
}"""  # noqa: E501
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    old, new = mlir_fp8.compile(text, donate={0: 1})(a, np.full((1, 3), 9, np.float32))
    assert new is a and a.tolist() == [[9, 9, 9], [3, 4, 5]]
    assert old.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_torch_tensor_is_overwritten() -> None:
    torch: Any = pytest.importorskip("torch", reason="pip install 'mlir-fp8[torch]'")
    step = mlir_fp8.compile(CACHE, donate=[0])
    cache = torch.zeros(512, 64).to(torch.float8_e4m3fn)
    version = cache._version
    row = torch.full((1, 64), 3.0).to(torch.float8_e4m3fn)
    first, updated = step(cache, row, 5)
    assert updated is cache and cache._version > version
    assert cache.float().count_nonzero() == 64 and first.item() == 3
    wide = torch.zeros(2, 3, requires_grad=True)
    negated = mlir_fp8.compile(
        """func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.negate %a : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}""",
        donate=[0],
    )
    refused = pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is donated, and requires gradi")
    with pytest.warns(mlir_fp8.DetachedWarning), refused:
        negated(wide)


def test_other_results_go_where_out_says() -> None:
    step = mlir_fp8.compile(CACHE, donate=[0])
    cache, out = np.zeros((512, 64), F8), np.empty((), np.float32)
    first, updated = step(cache, np.full((1, 64), 3, F8), 5, out=[out])
    assert first is out and out == 3 and updated is cache


def strided() -> np.ndarray:
    return np.zeros((64, 512), F8).T


def shared(step: CompiledModule) -> Any:
    cache = np.zeros((512, 64), F8)
    return step(cache, cache[3:4], 1)


def read_only(step: CompiledModule) -> Any:
    cache = np.zeros((512, 64), F8)
    cache.flags.writeable = False
    return step(cache, np.zeros((1, 64), F8), 1)


REFUSED_CALLS = {
    "strided": (
        lambda step: step(strided(), np.zeros((1, 64), F8), 1),
        "argument 0 is donated, and is not C-contiguous and aligned: donate a copy",
    ),
    "shared": (shared, "an argument is donated, and another argument has its memory"),
    "read-only": (read_only, "argument 0 is donated, and is read-only"),
}


@pytest.mark.parametrize("what", REFUSED_CALLS)
def test_calls_that_are_refused(what: str) -> None:
    call, message = REFUSED_CALLS[what]
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        call(mlir_fp8.compile(CACHE, donate=[0]))


REFUSED = {
    "other type": ({1: 1}, "argument 1 is tensor<1x64xf8E4M3FN>, result 1 is tensor<512x64xf8"),
    "no type": ([1], "argument 1 is tensor<1x64xf8E4M3FN>, and no result that is left is"),
    "number": ([3], "there is no argument 3: there are 3"),
    "negative": ([-1], "there is no argument -1: there are 3"),
    "result": ({0: 2}, "there is no result 2: there are 2"),
    "name": (["kv"], r"there is no one argument 'kv' \(cache\)"),
    "twice": ([0, "cache"], "argument 0 is tensor<512x64xf8E4M3FN>, and no result that is left"),
    "two for one": ({0: 1, "cache": 1}, "argument 0 is given twice"),
    "text": ("cache", "donate is 'cache': give arguments, or arguments with their results"),
    "float": ([0.5], r"donate is \[0.5\]: give arguments"),
    "not declared": (True, "donate=True, and no argument of the module says that it is donated"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_choices_that_are_refused(what: str) -> None:
    donate, message = REFUSED[what]
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        mlir_fp8.compile(CACHE, donate=donate, cache=False)
