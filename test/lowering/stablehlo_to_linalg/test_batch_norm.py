"""batch_norm_* as native code, against the specification's formulas in numpy, f64."""

import numpy as np
import pytest

import mlir_fp8

SHAPES = [((2, 3, 4), 2), ((5, 3), 0), ((3,), 0), ((2, 1, 3, 2), 1)]
EPSILON = 0.125


def _compile(element: str, shape: tuple[int, ...], feature: int) -> mlir_fp8.CompiledModule:
    full = f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
    each = f"tensor<{shape[feature]}x{element}>"
    settings = f"{{epsilon = {EPSILON} : f32, feature_index = {feature} : i64}}"
    gives = f"{full}, {each}, {each}"
    return mlir_fp8.compile(f"""
      func.func @main(%x: {full}, %s: {each}, %o: {each}, %m: {each}, %v: {each}, %g: {full})
        -> ({full}, {gives}, {gives}) {{
        %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {settings}
          : ({full}, {each}, {each}, {each}, {each}) -> {full}
        %1:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {settings}
          : ({full}, {each}, {each}) -> ({gives})
        %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {settings}
          : ({full}, {each}, {each}, {each}, {full}) -> ({gives})
        return %0, %1#0, %1#1, %1#2, %2#0, %2#1, %2#2 : {full}, {gives}, {gives}
      }}""")


def _wanted(feature: int, *arrays: np.ndarray) -> list[np.ndarray]:
    x, scale, offset, mean, variance, grad = (array.astype(np.float64) for array in arrays)
    axes = tuple(axis for axis in range(x.ndim) if axis != feature)

    def spread(array: np.ndarray) -> np.ndarray:
        return array.reshape([-1 if axis == feature else 1 for axis in range(x.ndim)])

    def normalized(center: np.ndarray, width: np.ndarray) -> np.ndarray:
        return (x - spread(center)) / np.sqrt(spread(width) + EPSILON)

    count = x.size / x.shape[feature]
    own_mean, own_variance = x.mean(axes), x.var(axes)
    centered = x - spread(mean)
    parts = grad * count - spread(grad.sum(axes))
    parts -= spread((grad * centered).sum(axes)) * centered / (spread(variance) + EPSILON)
    slope = spread(scale / np.sqrt(variance + EPSILON) / count) * parts
    return [
        spread(scale) * normalized(mean, variance) + spread(offset),
        spread(scale) * normalized(own_mean, own_variance) + spread(offset),
        own_mean,
        own_variance,
        slope,
        (grad * normalized(mean, variance)).sum(axes),
        grad.sum(axes),
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("element", "bound"), [("f32", 2e-6), ("f64", 1e-14), ("bf16", 8e-3)])
@pytest.mark.parametrize(("shape", "feature"), SHAPES)
def test_against_formulas(shape: tuple[int, ...], feature: int, element: str, bound: float) -> None:
    compiled = _compile(element, shape, feature)
    generator = np.random.default_rng(1)
    arrays = [
        generator.standard_normal(spec.shape).astype(spec.dtype) for spec in compiled.arguments
    ]
    arrays[4] = np.abs(arrays[4].astype(np.float32)).astype(arrays[4].dtype)
    for got, want in zip(compiled(*arrays), _wanted(feature, *arrays), strict=True):
        scale = np.abs(want).max() + 1
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=0, atol=bound * scale)
