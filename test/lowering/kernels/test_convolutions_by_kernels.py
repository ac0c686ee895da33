"""Convolutions by kernels for each target, in all forms, on integers: sums are exact."""

import numpy as np
import pytest
from convolution_reference import Convolution
from kernel_products import integers, native, targets, tensor

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.compiling.entry import copy_of, entry_function, signature
from mlir_fp8.compiling.execution import CompiledModule
from mlir_fp8.lowering.kernels.vector_code.target import TARGETS
from mlir_fp8.passes.pass_pipeline import run_pipeline

PASS = "linalg-convolution-to-kernels{"
IMAGES = ("b01f", "01io", "b01f")
SAME = ((1, 1), (1, 1))

FORMS = [
    Convolution("plain", (2, 7, 9, 5), (3, 3, 5, 20), IMAGES),
    Convolution("rows_fill_tiles", (1, 5, 18, 3), (2, 3, 3, 16), IMAGES),
    Convolution("padded", (2, 6, 7, 4), (3, 3, 4, 33), IMAGES, padding=SAME),
    Convolution("narrow", (2, 6, 8, 8), (3, 3, 8, 8), IMAGES, padding=SAME),
    Convolution("three_features", (1, 6, 8, 8), (3, 3, 8, 3), IMAGES),
    Convolution("twenty_features", (1, 6, 8, 2), (3, 3, 2, 20), IMAGES, padding=SAME),
    Convolution("strided", (1, 11, 12, 3), (3, 2, 3, 17), IMAGES, stride=(2, 3)),
    Convolution("dilated", (1, 11, 12, 3), (3, 2, 3, 9), IMAGES, rhs_dilation=(2, 3)),
    Convolution("of_a_gradient", (1, 4, 5, 6), (3, 3, 6, 9), IMAGES, (), SAME, (2, 2)),
    Convolution("reversed", (1, 6, 6, 3), (3, 2, 3, 16), IMAGES, reversal=(True, False)),
    Convolution("by_features", (2, 5, 8, 9), (18, 5, 3, 2), ("bf01", "oi01", "bf01")),
    Convolution("by_batch", (6, 7, 5, 4), (3, 3, 5, 10), ("01fb", "01io", "01fb")),
    Convolution("one_dimension", (3, 20, 7), (4, 7, 16), ("b0f", "0io", "b0f")),
    Convolution("volumes", (2, 4, 5, 6, 3), (2, 2, 3, 3, 9), ("b012f", "012io", "b012f")),
    Convolution("groups", (1, 5, 6, 8), (3, 3, 4, 6), IMAGES, feature_groups=2),
    Convolution("batch_groups", (4, 5, 6, 3), (3, 3, 3, 8), IMAGES, batch_groups=2),
    Convolution("points", (2, 3, 5, 21), (1, 1, 21, 12), IMAGES, stride=(1, 2)),
    Convolution("many_rows_of_sums", (1, 6, 14, 60), (3, 3, 60, 17), IMAGES, padding=SAME),
    Convolution("many_sums", (2, 3, 7, 401), (2, 1, 401, 9), IMAGES),
    Convolution("groups_of_blocks", (1, 9, 11, 401), (6, 7, 401, 9), IMAGES),
    Convolution("blocks_of_rows", (2, 40, 12, 30), (36, 10, 30, 17), IMAGES),
    Convolution("by_features_in_groups", (2, 5, 42, 12), (8, 5, 37, 9), ("bf01", "oi01", "bf01")),
]


def compiled(
    form: Convolution, elements: tuple[str, str], result: str, target: str
) -> CompiledModule:
    """The convolution with kernels for `target`, and no other loops that sum."""
    ones = np.zeros(form.lhs, np.int8), np.zeros(form.rhs, np.int8)
    shape = form(*ones).shape
    types = [tensor(form.lhs, elements[0]), tensor(form.rhs, elements[1]), tensor(shape, result)]
    text = (
        f"func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{"
        f' %0 = "stablehlo.convolution"(%a, %b) {{{form.attributes()}}}'
        f" : ({types[0]}, {types[1]}) -> {types[2]} return %0 : {types[2]} }}"
    )
    module = copy_of(mlir_fp8.load(text))
    with module.context:
        arguments, results = signature(entry_function(module, "main"))
    passes = [*pipelines.to_linalg(), *pipelines.to_llvm(threads=1)]
    (place,) = [index for index, each in enumerate(passes) if each.startswith(PASS)]
    run_pipeline(module, [*passes[:place], f"{PASS}target={target} min-size=1}}"])
    assert "call @convolution" in str(module)
    assert '"reduction"' not in str(module)
    run_pipeline(module, passes[place + 1 :])
    return native(module, arguments, results)


def assert_right(
    form: Convolution, elements: tuple[str, str] = ("f32", "f32"), *, target: str = "avx2"
) -> None:
    generator = np.random.default_rng(3)
    pair = [integers(generator, form.lhs, elements[0]), integers(generator, form.rhs, elements[1])]
    (got,) = compiled(form, elements, "f32", target)(*pair)
    want = form(*(array.astype(np.float64) for array in pair))
    np.testing.assert_array_equal(got, want)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_forms(form: Convolution) -> None:
    assert_right(form)


@pytest.mark.parametrize("target", targets(*TARGETS))
@pytest.mark.parametrize(
    "name", ["plain", "narrow", "twenty_features", "many_rows_of_sums", "groups_of_blocks"]
)
def test_targets(name: str, target: str) -> None:
    assert_right(next(form for form in FORMS if form.name == name), target=target)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["padded", "by_features"])
@pytest.mark.parametrize(
    "elements", [("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E5M2"), ("bf16", "bf16"), ("f16", "f16")]
)
def test_formats(elements: tuple[str, str], name: str) -> None:
    assert_right(next(form for form in FORMS if form.name == name), elements)


def test_threads_change_nothing() -> None:
    """Enough for two of them; the rows of one tile are never shared."""
    form = Convolution("big", (2, 24, 25, 40), (3, 3, 40, 40), IMAGES, padding=SAME)
    types = [tensor(form.lhs, "f32"), tensor(form.rhs, "f32"), tensor(form.lhs, "f32")]
    text = (
        f"func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{"
        f' %0 = "stablehlo.convolution"(%a, %b) {{{form.attributes()}}}'
        f" : ({types[0]}, {types[1]}) -> {types[2]} return %0 : {types[2]} }}"
    )
    generator = np.random.default_rng(5)
    pair = [generator.standard_normal(shape).astype(np.float32) for shape in (form.lhs, form.rhs)]
    (alone,) = mlir_fp8.compile(text, threads=1)(*pair)
    (shared,) = mlir_fp8.compile(text, threads=3)(*pair)
    np.testing.assert_array_equal(alone, shared)
    image = np.pad(pair[0].astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))
    want = np.einsum("nhwixy,xyio->nhwo", windows, pair[1].astype(np.float64))
    np.testing.assert_allclose(alone, want, rtol=0, atol=1e-4)
