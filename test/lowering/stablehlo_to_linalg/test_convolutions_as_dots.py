"""Values of convolutions that become products, against the sum over all places in numpy."""

import itertools
from typing import Any

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.lowering.stablehlo_to_linalg import stablehlo_convolution_to_dot
from mlir_fp8.passes.pass_pipeline import run_pipeline

# Image [n, c, ...], filter [o, c, ...], then strides, padding, dilations of image and of filter,
# and which dimensions are reversed.
FORMS: dict[str, tuple[Any, ...]] = {
    "windows": ((2, 32, 9, 8), (33, 32, 2, 3), (1, 1), ((1, 1), (0, 2)), (1, 1), (1, 1), (0, 0)),
    "strides": ((1, 32, 11, 13), (40, 32, 3, 2), (2, 3), ((1, 1), (0, 1)), (1, 1), (2, 1), (0, 0)),
    "negative padding": ((2, 32, 9, 9), (32, 32, 2, 2), (1, 1), ((-1, 1), (2, -2)), (1, 1), (1, 1),
                         (0, 0)),
    "reversed": ((1, 32, 9, 8), (32, 32, 3, 2), (1, 1), ((1, 1), (1, 0)), (2, 1), (1, 1), (1, 0)),
    "few windows": ((32, 33, 10, 9), (32, 33, 9, 8), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1),
                    (0, 0)),
    "filter of patches": ((3, 2, 24, 20), (40, 2, 6, 5), (1, 1), ((0, 0), (0, 0)), (1, 1), (4, 4),
                          (0, 0)),
    "image of patches": ((2, 40, 6, 5), (3, 40, 4, 3), (1, 1), ((3, 3), (2, 2)), (4, 3), (1, 1),
                         (0, 0)),
    "image of patches, reversed": ((2, 40, 6, 5), (3, 40, 4, 3), (1, 1), ((3, 3), (2, 2)), (4, 3),
                                   (1, 1), (1, 1)),
    "along one dimension": ((2, 40, 96), (32, 40, 1), (1,), ((0, 0),), (1,), (1,), (0,)),
    "of volumes": ((1, 40, 4, 5, 6), (32, 40, 2, 2, 2), (1, 1, 1), ((1, 1), (1, 1), (1, 1)),
                   (2, 2, 2), (1, 1, 1), (0, 0, 0)),
}  # fmt: skip


def reference(image: Any, filter_: Any, form: tuple[Any, ...]) -> np.ndarray:
    _, _, strides, padding, of_image, of_filter, flips = form
    axes = tuple(2 + d for d, flip in enumerate(flips) if flip)
    filter_ = np.flip(filter_, axes)
    spread = [(size - 1) * step + 1 for size, step in zip(image.shape[2:], of_image, strict=True)]
    wide = np.zeros((*image.shape[:2], *spread))
    wide[(..., *(slice(None, None, step) for step in of_image))] = image
    positive = [(max(low, 0), max(high, 0)) for low, high in padding]
    wide = np.pad(wide, [(0, 0), (0, 0), *positive])
    cut = [slice(max(-low, 0), size - max(-high, 0)) for (low, high), size in
           zip(padding, wide.shape[2:], strict=True)]  # fmt: skip
    wide = wide[(..., *cut)]
    counts = [(size - (window - 1) * step - 1) // stride + 1 for size, window, step, stride in
              zip(wide.shape[2:], filter_.shape[2:], of_filter, strides, strict=True)]  # fmt: skip
    out = np.zeros((image.shape[0], filter_.shape[0], *counts))
    for place in itertools.product(*map(range, filter_.shape[2:])):
        part = [slice(at * step, at * step + (count - 1) * stride + 1, stride)
                for at, step, count, stride in
                zip(place, of_filter, counts, strides, strict=True)]  # fmt: skip
        out += np.einsum("nc...,oc->no...", wide[(..., *part)], filter_[(..., *place)])
    return out


@pytest.mark.parametrize("element", ["f32", "f8E4M3FN"])
@pytest.mark.parametrize("name", FORMS)
def test_values(name: str, element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stablehlo_convolution_to_dot, "_LEAST_WORK", 0)
    form = FORMS[name]
    shapes, (strides, padding, of_image, of_filter, flips) = form[:2], form[2:]
    generator = np.random.default_rng(1)
    image, filter_ = (generator.integers(-3, 4, shape).astype(np.float32) for shape in shapes)
    want = reference(image, filter_, form)
    spatial = ", ".join(map(str, range(len(strides))))
    types = [f"tensor<{'x'.join(map(str, shape))}x{element}>" for shape in shapes]
    out = f"tensor<{'x'.join(map(str, want.shape))}xf32>"
    text = f"""func.func @main(%a: {types[0]}, %b: {types[1]}) -> {out} {{
      %0 = stablehlo.convolution(%a, %b)
        dim_numbers = [b, f, {spatial}]x[o, i, {spatial}]->[b, f, {spatial}],
        window = {{stride = {list(strides)}, pad = {[list(each) for each in padding]},
          lhs_dilate = {list(of_image)}, rhs_dilate = {list(of_filter)},
          reverse = {str([bool(each) for each in flips]).lower()}}}
        {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : ({", ".join(types)}) -> {out}
      return %0 : {out}
    }}"""
    module = mlir_fp8.load(text)
    run_pipeline(module, ["stablehlo-convolution-to-dot"])
    assert "stablehlo.dot_general" in str(module)
    compiled = mlir_fp8.compile(text, cache=False)
    arrays = [
        each.astype(spec.dtype)
        for each, spec in zip((image, filter_), compiled.arguments, strict=True)
    ]
    np.testing.assert_array_equal(compiled(*arrays)[0], want)
