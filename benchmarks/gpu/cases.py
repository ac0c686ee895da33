"""What is measured: programs of each case in their variants, as StableHLO, and their arguments."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mlir_fp8
from benchmarks.gpu import flax_fp8
from benchmarks.gpu.attention import codes_arguments, codes_text
from benchmarks.gpu.products import ProductCase, wide_text
from benchmarks.gpu.programs import (
    Program,
    Sizes,
    causal_attention,
    layer_step,
    lost_product,
    mlp_step,
    moe_step,
    training_step,
)
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.quantized import initial_state
from mlir_fp8.tuning.quantizers import QUANTIZERS, quantizer

WIDE = "bf16"
"""The variant that is plain JAX, which others are compared with."""
TODAYS = "today's form"
"""What the passes wrote before scales were powers of two and codes had a layout."""


@dataclass(frozen=True)
class Made:
    """A module, what it takes (as run.py makes it), and how many of that is state."""

    module: Any
    arguments: Sequence[Mapping[str, Any]]
    state: int = 0


@dataclass(frozen=True)
class Variant:
    """One form of a case; `bound` is how far, in relative L2, its results may be from WIDE's."""

    name: str
    make: Callable[[], Made]
    bound: float = 0.0


@dataclass(frozen=True)
class Case:
    """What is compared, at one size; `work` is in FLOP, or bytes for what is no product.

    `twin` is the same at a size that a CPU checks.
    """

    group: str
    name: str
    work: float
    variants: Sequence[Variant]
    twin: "Case | None" = None


def cases(*, quick: bool) -> Iterator[Case]:
    """All of them, or with `quick` one small size of each."""
    small = Sizes(2, 32, 64, 2, 128)
    mlp = (64, 64, 128)
    steps: list[tuple[str, Callable[[Any], Program], Any, Any, Callable[[Any], float]]] = [
        ("MLP step", lambda each: mlp_step(*each), (8192, 4096, 16384), mlp, _mlp_work),
        ("layer step", layer_step, Sizes(4, 2048, 4096, 32, 16384), small, _layer_work),
        ("training step", training_step, Sizes(4, 2048, 4096, 32, 16384, 12),
         replace(small, layers=3), _layer_work),
        ("MoE step", lambda each: moe_step([each[1]] * each[0], *each[2:]), (8, 2048, 4096, 4096),
         (4, 32, 64, 128), _moe_work),
    ]  # fmt: skip
    for name, make, large, tiny, work in steps:
        twin = _steps(name, make(tiny), work(tiny), _spelled(tiny))
        size = tiny if quick else large
        kernels = (*_KERNELS, *_WITH_ATTENTION) if isinstance(large, Sizes) else _KERNELS
        forms = _FORMS if quick else (*kernels, *_FORMS)
        case = _steps(name, make(size), work(size), _spelled(size), twin, forms)
        yield _with_flax(case, size, tiny) if name in _FLAX else case
    for index, sizes in enumerate(PRODUCTS_QUICK if quick else PRODUCTS):
        yield _products(ProductCase(*sizes), None if index else ProductCase(64, 128, 256))
    yield _lost(ProductCase(*(PRODUCTS_QUICK[0] if quick else (8192, 8192, 8192))))
    few = _attention((1, 64, 2, 64))
    yield few if quick else _attention((1, 8192, 32, 128), few)
    if not quick:
        yield _attention_of_codes((4, 8192, 32, 128))
    for kind in QUANTIZERS:
        yield _quantizer(kind, (256, 384) if quick else (8192, 8192), _quantizer(kind, (256, 384)))


PRODUCTS = [
    *((size, size, size) for size in (1024, 2048, 4096, 8192)),
    (4096, 14336, 4096),
    *((rows, 8192, 8192) for rows in (1, 16, 128)),
]
PRODUCTS_QUICK = [(64, 128, 256)]


def _spelled(sizes: Any) -> str:
    if isinstance(sizes, Sizes):
        text = f"{sizes.layers}x{sizes.batch}x{sizes.tokens}x{sizes.width}x{sizes.inner}"
        return text.removeprefix("1x")
    return "x".join(map(str, sizes))


def _mlp_work(sizes: Sequence[int]) -> float:
    tokens, width, inner = sizes
    return 6 * 2.0 * tokens * width * inner


def _moe_work(sizes: Sequence[int]) -> float:
    experts, *each = sizes
    return experts * _mlp_work(each)


def _layer_work(sizes: Sizes) -> float:
    rows = sizes.batch * sizes.tokens
    dots = sum(2.0 * rows * a * b for a, b in sizes.weights)
    attention = 2 * 2.0 * rows * sizes.tokens * sizes.width
    return 3 * sizes.layers * (dots + attention)


def _steps(
    name: str,
    program: Program,
    work: float,
    size: str,
    twin: Case | None = None,
    forms: Sequence[tuple[str, str, str]] | None = None,
) -> Case:
    text = program.text()
    arguments = _normal(program)

    def wide() -> Made:
        module = mlir_fp8.load(text)
        # XLA takes ragged dots as JAX has them.
        kept = ["ragged-dot-to-composite", "func.func(chlo-legalize-to-stablehlo)"]
        run_pipeline(module, kept if program.groups else ["lower-to-stablehlo-pipeline"])
        return Made(module, arguments)

    variants = [
        Variant(WIDE, wide),
        *(
            Variant(each, functools.partial(_quantized, text, arguments, recipe, options), 0.4)
            for each, recipe, options in forms or _FORMS
        ),
    ]
    return Case("steps", f"{name} {size}", work, variants, twin)


_FLAX: Mapping[str, Callable[[Any], tuple[Program, flax_fp8.State]]] = {
    "MLP step": lambda each: flax_fp8.mlp_step(*each),
    "layer step": flax_fp8.layer_step,
}


def _with_flax(case: Case, size: Any, tiny: Any) -> Case:
    """`case`, and its twin, with flax's products as one more variant."""

    def made(sizes: Any) -> Made:
        program, shapes = _FLAX[case.name.rpartition(" ")[0]](sizes)
        module = mlir_fp8.load(program.text(shapes))
        run_pipeline(module, ["lower-to-stablehlo-pipeline"])
        state = [
            {"shape": list(each), "dtype": "f32", "kind": "value", "value": 0.0 if each else 1.0}
            for each in shapes
        ]
        return Made(module, [*_normal(program), *state], len(state))

    def added(to: Case, sizes: Any) -> Sequence[Variant]:
        return [*to.variants, Variant(flax_fp8.NAME, functools.partial(made, sizes), 0.4)]

    assert case.twin is not None
    twin = replace(case.twin, variants=added(case.twin, tiny))
    return replace(case, variants=added(case, size), twin=twin)


def _normal(program: Program) -> list[Mapping[str, Any]]:
    made: list[Mapping[str, Any]] = [
        {"shape": list(shape), "dtype": "bf16", "kind": "normal", "std": std}
        for shape, std in zip(program.shapes, program.scales, strict=True)
    ]
    if groups := list(program.groups):
        made.append({"shape": [len(groups)], "dtype": "i32", "kind": "list", "values": groups})
    return made


_OLD = "layouts=false power-of-two=false allow-reassociation allow-excess-precision"
_FORMS = (
    ("current", "current", ""),
    ("delayed", "delayed", ""),
    ("transformer_engine", "transformer_engine", ""),
    (f"current, {TODAYS}", "current", _OLD),
    (f"delayed, {TODAYS}", "delayed", _OLD),
    ("current, f32 scales", "current",
     "power-of-two=false allow-reassociation allow-excess-precision"),
    ("delayed, gradients in E4M3", "delayed", "backward=f8E4M3FN"),
)  # fmt: skip

_KERNELS = (
    ("current, our kernels", "current", "kernels=h200"),
    ("delayed, our kernels", "delayed", "kernels=h200"),
)
"""Which no CPU runs: they give the bits of the same forms without."""
_WITH_ATTENTION = (
    ("current, our kernels, FP8 attention", "current", "kernels=h200 attention"),
    ("delayed, our kernels, FP8 attention", "delayed", "kernels=h200 attention"),
)
"""With gradients of attention in bf16, from probabilities that are computed again."""


def _quantized(
    text: str, arguments: Sequence[Mapping[str, Any]], recipe: str, options: str
) -> Made:
    module = mlir_fp8.load(text)
    form = f"recipe={recipe} skip-batched {options}"
    run_pipeline(module, [f"quantize-for-xla-gpu-pipeline{{{form}}}"])
    state = initial_state(module)
    kept = [
        {"shape": list(each.shape), "dtype": "f32", "kind": "value", "value": float(each.flat[0])}
        for each in state.values()
    ]
    return Made(module, [*arguments, *kept], len(kept))


def _attention_work(sizes: Sequence[int]) -> float:
    batch, tokens, heads, depth = sizes
    return 2 * 2.0 * batch * heads * tokens * tokens * depth / 2


def _attention(sizes: tuple[int, int, int, int], twin: Case | None = None) -> Case:
    """Of bf16, in FP8 with its quantization."""
    program = causal_attention(*sizes)
    forms = (("current, our kernel", "current", "kernels=h200 attention"),)
    work = _attention_work(sizes)
    forms = _FORMS[:1] if twin is None else forms
    return _steps("attention", program, work, _spelled(sizes), twin, forms)


def _attention_of_codes(sizes: tuple[int, int, int, int]) -> Case:
    """Of what is f8 already: the kernel, and the transpose of V."""

    def make() -> Made:
        module = mlir_fp8.load(codes_text(*sizes))
        run_pipeline(module, ["fp8-kernels-for-xla-gpu{attention=true}"])
        return Made(module, codes_arguments(*sizes))

    name = f"attention of codes {_spelled(sizes)}"
    return Case("attention", name, _attention_work(sizes), [Variant("our kernel", make)])


_REASSOCIATED = "allow-reassociation"
_NARROW = f"{_REASSOCIATED} allow-excess-precision"
_PRODUCT_FORMS = (
    # Name, layout of the scales, whether the result is f8, options of the pass or None without it.
    ("tensor", "tensor", False, _NARROW),
    (f"tensor, {TODAYS}", "tensor", False, _REASSOCIATED),
    ("tensor to f8", "tensor", True, ""),
    ("row", "row", False, _NARROW),
    (f"row, {TODAYS}", "row", False, _REASSOCIATED),
    ("1x128 by 128x128", "block", False, None),
)


def _products(case: ProductCase, twin: ProductCase | None) -> Case:
    def wide() -> Made:
        shapes = ([case.rows, case.depth], [case.columns, case.depth])
        taken = [{"shape": each, "dtype": "bf16", "kind": "normal", "std": 1.0} for each in shapes]
        return Made(mlir_fp8.load(wide_text(case)), taken)

    variants = [
        Variant(WIDE, wide),
        *(
            Variant(name, functools.partial(_product, case, *form), 2.0**-4 if form[1] else 2.0**-7)
            for name, *form in _PRODUCT_FORMS
            if form[0] != "block" or case.columns % 128 == case.depth % 128 == 0
        ),
    ]
    small = None if twin is None else _products(twin, None)
    return Case("products", f"product {case}", case.work, variants, small)


def _product(case: ProductCase, layout: str, quantized: bool, options: str | None) -> Made:
    module = mlir_fp8.load(case.text(layout, quantized=quantized))
    passes = ["fp8-legalize-to-stablehlo"]
    if options is not None:
        passes.insert(0, f"fp8-canonicalize-for-xla-gpu{{{options}}}")
    run_pipeline(module, passes)
    return Made(module, case.arguments(layout, quantized=quantized))


def _lost(case: ProductCase) -> Case:
    """The product as JAX users write it, whose f8 operands XLA alone does not find."""
    text = lost_product(case.rows, case.columns, case.depth)

    def make(options: str | None) -> Made:
        module = mlir_fp8.load(text)
        passes = "lower-to-stablehlo-pipeline"
        if options is not None:
            passes = f"quantize-for-xla-gpu-pipeline{{{options}}}"
        run_pipeline(module, [passes])
        return Made(module, case.arguments("tensor", quantized=False))

    forms = (
        ("as it is", None),
        ("our passes", _REASSOCIATED),
        ("our passes, bf16 result", _NARROW),
    )
    variants = [Variant(name, functools.partial(make, options), 2.0**-7) for name, options in forms]
    return Case("products", f"dequantized {case}", case.work, variants)


def _quantizer(kind: str, shape: tuple[int, int], twin: Case | None = None) -> Case:
    size = shape[0] * shape[1]

    def make() -> Made:
        module = quantizer(kind, shape)
        run_pipeline(module, ["fp8-legalize-to-stablehlo"])
        taken: list[Mapping[str, Any]] = [
            {"shape": list(shape), "dtype": "bf16", "kind": "normal", "std": 1.0}
        ]
        if kind.startswith("delayed"):
            taken.append({"shape": [], "dtype": "f32", "kind": "value", "value": 2.0**-6})
        return Made(module, taken)

    # Read once, written once or twice: what a copy would take.
    work = size * (3.0 + kind.endswith(", transposed"))
    spelled = f"quantize {kind} {shape[0]}x{shape[1]}"
    return Case("quantizers", spelled, work, [Variant("XLA", make)], twin)
