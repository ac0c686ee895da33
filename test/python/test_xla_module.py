"""`mlir_fp8.compile(..., backend="xla")`: what is copied, what is refused, what stays in flight."""

import gc

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.xla import compilation
from mlir_fp8.xla.device_array import DeviceArray

jax = pytest.importorskip("jax")

STEP = """\
func.func @main(%x: tensor<64xf8E4M3FN> {mlir_fp8.name = "x"},
                %n: tensor<2x64xi64> {mlir_fp8.name = "count"}, %s: tensor<f32>)
    -> (tensor<64xf32>, tensor<2x64xi64>) {
  %0 = stablehlo.convert %x : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<64xf32>
  %3 = stablehlo.add %n, %n : tensor<2x64xi64>
  return %2, %3 : tensor<64xf32>, tensor<2x64xi64>
}
"""
# 2^40 does not fit into 32 bits, to which JAX narrows by default.
LARGE = 1 << 40


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy of `array` at an address that XLA takes without another one."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def codes() -> np.ndarray:
    return aligned(np.arange(64).astype(ml_dtypes.float8_e4m3fn))


def counts() -> np.ndarray:
    return aligned(np.full((2, 64), LARGE, np.int64))


@pytest.fixture(scope="module")
def step() -> compilation.XlaModule:
    return mlir_fp8.compile(STEP, backend="xla")


@pytest.fixture(scope="module")
def donating() -> compilation.XlaModule:
    return mlir_fp8.compile(STEP, backend="xla", donate=["count"])


def test_results_stay_on_the_device(step: compilation.XlaModule) -> None:
    scaled, doubled = step(codes(), counts(), 0.5)
    assert isinstance(scaled, DeviceArray) and (scaled.device, scaled.shape) == ("cpu:0", (64,))
    assert scaled.to_numpy().tolist() == (codes().astype(np.float32) / 2).tolist()
    assert np.asarray(doubled).tolist() == np.full((2, 64), 2 * LARGE).tolist()
    assert scaled.__array__(np.float64).dtype == np.float64
    assert scaled.block_until_ready().is_ready()


@pytest.mark.parametrize("backend", ["llvm", "xla"])
def test_native_code_gives_the_same(backend: str, step: compilation.XlaModule) -> None:
    native = mlir_fp8.compile(STEP)(codes(), counts(), 0.5)
    for got, want in zip(step(codes(), counts(), 0.5, as_="numpy"), native, strict=True):
        np.testing.assert_array_equal(got, want)


def test_results_are_arguments_without_a_copy(step: compilation.XlaModule) -> None:
    _, doubled = step(codes(), counts(), 1.0)
    address = doubled.jax.unsafe_buffer_pointer()
    _, again = step(codes(), doubled, 1.0)
    assert doubled.jax.unsafe_buffer_pointer() == address
    assert np.asarray(again)[0, 0] == 4 * LARGE


def test_numpy_arrays_are_read_before_the_call_returns(step: compilation.XlaModule) -> None:
    given = counts()
    _, doubled = step(codes(), given, 1.0)
    given[...] = 0
    assert np.asarray(doubled)[1, 63] == 2 * LARGE


def test_jax_arrays_give_jax_arrays(step: compilation.XlaModule) -> None:
    scaled, _ = step(jax.numpy.asarray(codes()), counts(), 2.0)
    assert isinstance(scaled, jax.Array) and float(scaled[3]) == 6.0


def test_torch_tensors_give_tensors_of_the_results_memory(step: compilation.XlaModule) -> None:
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(codes().view(np.uint8)).view(torch.float8_e4m3fn)
    scaled, doubled = step(x, torch.full((2, 64), LARGE), 2.0)
    assert scaled.dtype == torch.float32 and scaled[3] == 6.0
    assert doubled.dtype == torch.int64 and doubled[0, 0] == 2 * LARGE
    result = step(x, counts(), 2.0, as_="device")[0]
    shared = torch.from_dlpack(result)
    assert shared.data_ptr() == result.jax.unsafe_buffer_pointer()


def test_what_is_donated_is_gone(donating: compilation.XlaModule) -> None:
    assert donating.donated == ((1, 1),)
    _, first = donating(codes(), counts(), 1.0)
    address = first.jax.unsafe_buffer_pointer()
    _, second = donating(codes(), first, 1.0)
    assert second.jax.unsafe_buffer_pointer() == address
    with pytest.raises(mlir_fp8.Fp8Error, match=r"tensor<2x64xi64> on cpu:0> was donated"):
        first.to_numpy()
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^argument 1 was deleted, or donated"):
        donating(codes(), first, 1.0)


def test_arrays_of_jax_that_were_deleted_or_are_traced_are_refused() -> None:
    text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    compiled = mlir_fp8.compile(mlir_fp8.load(text), backend="xla")
    given = jax.numpy.ones(2)
    assert compiled(given)[0].tolist() == [1.0, 1.0]
    given.delete()
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^argument 0 was deleted, or donated"):
        compiled(given)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^argument 0 is traced by JAX"):
        jax.jit(compiled)(jax.numpy.ones(2))


def test_donated_arrays_of_others_stay(donating: compilation.XlaModule) -> None:
    given = counts()
    donating(codes(), given, 1.0)[1].block_until_ready()
    assert (given == LARGE).all()
    torch = pytest.importorskip("torch")
    tensor = torch.full((2, 64), LARGE)
    donating(codes(), tensor, 1.0)
    assert (tensor == LARGE).all()


def test_donation_that_the_module_says() -> None:
    module = STEP.replace('"count"}', '"count", tf.aliasing_output = 1 : i32}')
    assert mlir_fp8.compile(module, backend="xla", donate=True).donated == ((1, 1),)
    with pytest.raises(mlir_fp8.Fp8Error, match="no argument of the module says"):
        mlir_fp8.compile(STEP, backend="xla", donate=True)
    with pytest.raises(mlir_fp8.Fp8Error, match="only one type shares memory"):
        mlir_fp8.compile(STEP, backend="xla", donate={"x": 0})


def test_a_donated_array_is_given_once() -> None:
    module = mlir_fp8.compile(
        "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.add %a, %b : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}",
        backend="xla",
        donate=[0],
    )
    array = jax.numpy.ones(2)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is donated, and argument 1 is it too"):
        module(array, array)
    same = np.ones(2, np.float32)  # which is copied first
    assert module(same, same, as_="numpy")[0].tolist() == [2, 2] and same.tolist() == [1, 1]


def test_equal_modules_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = mlir_fp8.compile(STEP, backend="xla")
    monkeypatch.setattr(compilation, "_compiled", lambda *_: pytest.fail("compiled again"))
    assert mlir_fp8.compile(mlir_fp8.load(STEP), backend="xla") is first


def test_the_oldest_executables_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_compiled", lambda *_: object())
    monkeypatch.setattr(compilation, "KEPT", 2)
    monkeypatch.setattr(compilation, "_kept", compilation.OrderedDict())
    artifact = mlir_fp8.serialize(mlir_fp8.load(STEP), "1.0.0")
    made = [mlir_fp8.compile(artifact, backend="xla", donate=[n]) for n in (0, 1, 0, 2)]
    assert made[0] is made[2]
    assert len(compilation._kept) == 2
    assert mlir_fp8.compile(artifact, backend="xla", donate=[1]) is not made[1]
    gc.collect()


def test_several_calls_are_in_flight() -> None:
    """A slow call returns before it is done, and the next one takes what it will give."""
    slow = mlir_fp8.compile(
        "func.func @main(%x: tensor<700x700xf32>) -> tensor<700x700xf32> {\n"
        + "".join(
            f"  %{n} = stablehlo.dot_general %{n - 1 if n else 'x'}, %x, contracting_dims = [1] x"
            " [0] : (tensor<700x700xf32>, tensor<700x700xf32>) -> tensor<700x700xf32>\n"
            for n in range(20)
        )
        + "  return %19 : tensor<700x700xf32>\n}",
        backend="xla",
    )
    array = jax.numpy.eye(700)
    value = DeviceArray(array, slow.arguments[0], "cpu:0")
    was_ready = []
    for _ in range(3):
        (value,) = slow(value)
        was_ready.append(value.is_ready())
    assert not all(was_ready)
    np.testing.assert_array_equal(value.to_numpy(), np.eye(700, dtype=np.float32))


def test_rounding_and_saturation_are_ours() -> None:
    cast = """\
func.func @main(%x: tensor<3xf32>) -> tensor<3xf8E4M3FN> {
  %0 = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xf8E4M3FN>
  return %0 : tensor<3xf8E4M3FN>
}
"""
    given = np.array([1e6, 1.1875, -1.0], np.float32)  # beyond 448; between 1.125 and 1.25
    module = mlir_fp8.compile(cast, backend="xla", saturate=True, rounding="toward-zero")
    assert module(given, as_="numpy")[0].astype(float).tolist() == [448.0, 1.125, -1.0]
    nearest = mlir_fp8.compile(cast, backend="xla")(given, as_="numpy")[0].astype(float)
    assert np.isnan(nearest[0]) and nearest[1] == 1.25
