"""fft of all four types as native code, against numpy in f64."""

import numpy as np
import pytest

import mlir_fp8

SHAPES = [
    ((2, 6), 1), ((3, 1), 1), ((5, 2), 1), ((2, 3, 4), 2), ((2, 3, 5), 3), ((37,), 1),
    ((2, 96), 1), ((1, 263), 1), ((0, 4), 1),
]  # fmt: skip


def _tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


@pytest.mark.sampled(7)
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize(("shape", "rank"), SHAPES)
def test_against_numpy(shape: tuple[int, ...], rank: int, kind: str) -> None:
    """`shape` is that of the signal; in f32 and f64 in one module."""
    axes = range(-rank, 0)
    lengths = list(shape[-rank:])
    generator = np.random.default_rng(3)
    signal = generator.standard_normal(shape)
    if kind in ("FFT", "IFFT"):
        signal = signal + 1j * generator.standard_normal(shape)
    transform = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn}.get(kind)
    given = signal
    if kind == "IRFFT":
        given = (
            np.fft.rfftn(signal, axes=axes) if signal.size else np.zeros((*shape[:-1], 3), complex)
        )
        # What a real signal cannot have is ignored.
        given[..., 0] += 1j if rank == 1 else 0
    lines, arguments, results = [], [], []
    for element in ("f32", "f64"):
        types = [f"complex<{element}>", f"complex<{element}>"]
        types[0] = element if kind == "RFFT" else types[0]
        types[1] = element if kind == "IRFFT" else types[1]
        gives = shape if kind != "RFFT" else (*shape[:-1], shape[-1] // 2 + 1)
        arguments.append(_tensor(given.shape, types[0]))
        results.append(_tensor(gives, types[1]))
        lines.append(
            f"%r{element} = stablehlo.fft %{element}, type = {kind},"
            f" length = {lengths} : ({arguments[-1]}) -> {results[-1]}"
        )
    body = "\n".join(lines)
    compiled = mlir_fp8.compile(f"""
      func.func @main(%f32: {arguments[0]}, %f64: {arguments[1]}) -> ({", ".join(results)}) {{
        {body}
        return %rf32, %rf64 : {", ".join(results)}
      }}""")
    inputs = [given.astype(spec.dtype) for spec in compiled.arguments]
    for array, got, bound in zip(inputs, compiled(*inputs), (1e-6, 1e-14), strict=True):
        if not array.size:
            continue
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        want = (
            np.fft.irfftn(wide, s=lengths, axes=axes)
            if transform is None
            else transform(wide, axes=axes)
        )
        assert np.linalg.norm(got - want) <= bound * np.linalg.norm(want)
