"""The lowering pipelines: the passes of each stage, in order.

Each stage is a function that returns pass names with options, as `fp8-opt --pass-pipeline` takes
them. `PIPELINES` are the stages under the names that users type; each holds those before it.
"""

from collections.abc import Callable

from mlir_fp8 import xla_gpu_pipeline

NEAREST_EVEN = "nearest-even"  # where nothing else is asked for
STOCHASTIC = "stochastic"


def to_stablehlo() -> list[str]:
    """MHLO, CHLO and the `fp8` dialect to StableHLO."""
    return [
        "hlo-legalize-to-stablehlo",
        "arith-constant-to-stablehlo",
        "fp8-legalize-to-stablehlo",
        "chlo-broadcast-select-expander",
        "func.func(chlo-legalize-to-stablehlo)",
    ]


def to_stablehlo_of_artifacts() -> list[str]:
    """As `to_stablehlo`, but ragged dots stay, which artifacts hold as composites."""
    return [
        "ragged-dot-to-composite",
        *to_stablehlo(),
        "composite-to-ragged-dot",
        "symbol-dce",
    ]


def to_rounded_stablehlo(*, rounding: str, seed: int, saturate: bool) -> list[str]:
    """StableHLO that rounds to small floats by the given mode in every engine."""
    exact = _to_exact_stablehlo(seed, saturate=saturate)
    return [*exact, _rounding_pass(rounding, seed, saturate)]


def _rounding_pass(rounding: str, seed: int, saturate: bool) -> str:
    options = f"rounding={rounding} seed={seed} saturate={str(saturate).lower()}"
    return f"round-small-floats{{{options}}}"


def _to_exact_stablehlo(
    seed: int,
    functions: tuple[str, ...] = (),
    *,
    saturate: bool,
    layers: tuple[str, ...] = (),
    devices: tuple[int, int] | None = None,
) -> list[str]:
    """StableHLO whose narrow floats compute in f32: all rounding to them is in converts.

    `seed` is that of `rng`; `functions` are passes that expand some f32 functions more accurately
    than CHLO's decompositions; `layers` those that outline layers; `devices` as in `to_linalg`.
    """
    grid = "" if devices is None else "{{replicas={} partitions={}}}".format(*devices)
    codes = small_floats_as_codes(saturate=saturate)
    return [
        "hlo-legalize-to-stablehlo",
        "symbol-dce",  # unreachable functions need not be compilable
        "quant-legalize-to-fp8",  # before its casts are folded
        "arith-expand-minnum",
        "math-expand-classes",
        codes,
        "composite-to-ragged-dot",
        "composite-to-fp8",  # its erfc is more accurate than that of the decompositions
        "block-scaled-dot-to-fp8",
        "fp8-pack-constants{of-products=true}",
        "fp8-keep-packed",
        "fp8-legalize-to-stablehlo",
        "verify-convertible",
        "func.func(stablehlo-legalize-composite-to-call)",
        "legalize-sizes-to-stablehlo",  # before failing witnesses are folded away
        "inline",
        "symbol-dce",
        "arith-constant-to-stablehlo",
        "stablehlo-flatten-signatures",
        "stablehlo-refine-dynamism",
        "math-expand-classes",
        codes,  # sizes are constant now
        "stablehlo-update-slices-in-place",
        *layers,
        *([f"stablehlo-legalize-manual-computations{grid}"] if grid else []),
        "stablehlo-expand-custom-calls",
        "stablehlo-legalize-quantized-ops",
        *([f"stablehlo-simulate-devices{grid}"] if grid else []),
        "stablehlo-legalize-for-one-device",
        f"stablehlo-rng-expander{{seed={seed}}}",
        "stablehlo-einsum-to-dot-general",
        "chlo-ragged-dot-to-while",
        # CHLO's own decompositions refuse f8, and make arithmetic in narrow floats of bf16 and f16.
        "accumulate-in-f32",
        "float-normalization",
        *functions,
        "chlo-broadcast-select-expander",
        "func.func(chlo-legalize-to-stablehlo)",
        "stablehlo-refine-dynamism",  # chlo.scan uses sizes
        "accumulate-in-f32",
        "float-normalization",
    ]


def to_linalg(
    *,
    rounding: str = NEAREST_EVEN,
    seed: int = 0,
    saturate: bool = False,
    allow_excess_precision: bool = False,
    outline_layers: bool = True,
    devices: tuple[int, int] | None = None,
) -> list[str]:
    """StableHLO to linalg on tensors; narrow floats compute in f32 from here on, rounded once.

    The code is one device's of `devices`, so many replicas of so many partitions, which meet in
    collectives; without them there is only one.
    """
    layers = ["stablehlo-outline-layers"] if outline_layers else []
    functions = ["chlo-legalize-to-math"]
    if not allow_excess_precision:  # which would keep their results in f32
        functions.insert(0, "bf16-functions-to-math")
    # What changes numbers across the borders of layers, or by the place of an op, comes before.
    is_late = allow_excess_precision or rounding == STOCHASTIC
    early = () if is_late else tuple(layers)
    exact = _to_exact_stablehlo(
        seed, tuple(functions), saturate=saturate, layers=early, devices=devices
    )
    if allow_excess_precision:
        exact.append("simplify-fp-conversions")
    if rounding != NEAREST_EVEN:  # that is lowered below, on codes
        exact.append(_rounding_pass(rounding, seed, saturate))
    return [
        *exact,
        *(layers if is_late else ()),
        *([] if devices is None else ["stablehlo-exchanges-to-calls"]),
        "stablehlo-lapack-to-calls",
        "stablehlo-unpack-to-calls",
        "stablehlo-atan2-expander",
        "stablehlo-batch-norm-expander",
        "stablehlo-cbrt-expander",
        "stablehlo-complex-bitcast-expander",
        "stablehlo-complex-order-expander",
        "stablehlo-cholesky-expander",
        "stablehlo-fft-expander",
        "stablehlo-triangular-solve-expander",
        "stablehlo-inline-map",
        "stablehlo-reduce-to-scf",
        "stablehlo-select-and-scatter-to-scf",
        "stablehlo-power-to-linalg",
        "stablehlo-sort-to-scf",
        "stablehlo-control-flow-to-scf",
        "stablehlo-fold-empty",
        "stablehlo-convolution-to-dot",
        "stablehlo-fold-identity",
        "stablehlo-fold-transposes",
        "signed-slice-indices",
        "stablehlo-gather-to-scf",
        "stablehlo-scatter-to-scf",
        "stablehlo-concatenate-to-tensor",
        "boolean-add-to-or",
        "widen-integer-products",
        "stablehlo-swap-dot-operands",
        "stablehlo-legalize-to-linalg",
        "convert-unsigned-to-signless",
        "verify-lowered{to=linalg}",
    ]


def small_floats_as_codes(*, saturate: bool) -> str:
    """The pass before the first one that constant-folds ops of dialects other than StableHLO."""
    return f"arith-expand-small-floats{{saturate={str(saturate).lower()}}}"


def to_llvm(*, saturate: bool = False, threads: int = 1, kernels: str = "host") -> list[str]:
    """linalg to the LLVM dialect, f8 as i8, one bare pointer per argument and result.

    Up to `threads` threads run parallel loops and products, 0 for as many as the pool has
    (threads.py). `kernels` is the target of `linalg-contract-to-kernels` and
    `linalg-convolution-to-kernels`.
    """
    return [
        *to_kernels(saturate=saturate, threads=threads, kernels=kernels),
        *kernels_to_loops(threads=threads),
        *loops_to_llvm(threads=threads),
    ]


def to_kernels(*, saturate: bool, threads: int, kernels: str, apart: bool = False) -> list[str]:
    """The first part of `to_llvm`, after which kernels only have to be lowered.

    With `apart` the module may only declare them: see python/compiling/native/functions_apart.py.
    """
    parallel = str(threads != 1).lower()
    options = f"target={kernels} apart={str(apart).lower()}"
    return [
        *_tensors(saturate),
        *_buffers(),
        f"linalg-convolution-to-kernels{{{options} parallel={parallel}}}",
        f"linalg-contract-to-kernels{{{options} threads={threads}}}",
    ]


def kernels_to_loops(*, threads: int, huge_pages: bool = False) -> list[str]:
    """The second part of `to_llvm`, after which all loops are outlined."""
    memory = f"plan-static-memory{{huge-pages={str(huge_pages).lower()}}}"
    return [*_allocations(), *_loops(threads), memory]


def loops_to_llvm(*, threads: int) -> list[str]:
    """The third part of `to_llvm`, which lowers each function on its own."""
    return [
        "convert-scf-to-cf",
        "expand-strided-metadata",
        "lower-affine",
        "convert-complex-to-standard",
        "convert-complex-to-llvm",
        "math-expand-in-f64",
        "convert-vector-to-llvm{enable-x86=true}",
        "saturate-float-to-int",
        "expm1-log1p-to-libm",
        "convert-math-to-llvm",
        "convert-math-to-libm",
        "convert-arith-to-llvm",
        "convert-index-to-llvm",
        "convert-cf-to-llvm",
        "finalize-memref-to-llvm",
        "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true}",
        f"parallel-calls-to-llvm{{threads={threads}}}",
        "reconcile-unrealized-casts",
        "canonicalize",
        "cse",
        "verify-lowered{to=llvm}",
    ]


def kernels_to_llvm(*, threads: int) -> list[str]:
    """The second and third part for a module of kernels alone: the passes that change these."""
    return [*_allocations(), "canonicalize", *loops_to_llvm(threads=threads)]


def to_nvvm(*, saturate: bool = False) -> list[str]:
    """Kernels in `gpu.module` to functions of the NVVM dialect, one pointer for each argument.

    Of gpu, nvvm, vector, arith, scf and memref ops; memrefs have static sizes.
    """
    from mlir_fp8.lowering.gpu.ptx.passes import TO_NVVM

    options = f"{{saturate={str(saturate).lower()}}}"
    return [
        f"convert-f8-casts-to-nvvm{options}",
        f"convert-small-floats-to-int{options}",
        TO_NVVM,
        "gpu-module-to-functions",
        "verify-lowered{to=nvvm}",
    ]


def _tensors(saturate: bool) -> list[str]:
    return [
        "func.func(convert-elementwise-to-linalg)",
        "drop-empty-arguments",
        # Before any constant folding.
        "complex-freeze-operands",
        "convert-complex-to-standard",
        "math-freeze-constants",
        f"convert-small-floats-to-int{{saturate={str(saturate).lower()}}}",
        "linalg-detensorize",
        "canonicalize",
        "cse",
        "linalg-raise-to-contract",
        "linalg-inits-to-inputs",
        "linalg-fuse-elementwise-ops",
        "tensor-pad-to-insert-slice",
        "linalg-generalize-named-ops",
        "canonicalize",
        "cse",
        "linalg-split-codes",  # which fusion has put into one body with what decodes them
    ]


def _buffers() -> list[str]:
    return [
        "protect-arguments",
        "carry-in-place",
        "donate-arguments",
        "one-shot-bufferize-or-copy",
        # Before these: a loop's result is then the buffer of its init, which becomes the caller's.
        "canonicalize",
        # Of called functions alone: what they update in donated arguments is these in the caller.
        "drop-equivalent-buffer-results",
        "drop-donated-results",
        # First of the functions that others call, whose results these may return as their own.
        "buffer-results-to-out-params{hoist-static-allocs}",
        "buffer-results-to-out-params{hoist-static-allocs modify-public-functions}",
    ]


def _allocations() -> list[str]:
    return [
        "func.func(buffer-loop-hoisting)",
        "buffer-deallocation-pipeline",
        # Its helper function, whose arguments have no bare-pointer calling convention.
        "inline",
        "func.func(optimize-allocation-liveness)",
    ]


def _loops(threads: int) -> list[str]:
    is_parallel = str(threads != 1).lower()
    return [
        "memref-copy-to-linalg",
        "linalg-generalize-named-ops",
        "linalg-tabulate-functions",
        "linalg-reorder-reductions",
        "linalg-collapse-dims",
        "linalg-transpose-to-vector",
        "linalg-tile-transposes",
        "linalg-vectorize-sums",
        "linalg-vectorize-argmax",
        "linalg-block-sums",
        "func.func(convert-linalg-to-loops)",
        "canonicalize",
        "scf-for-loop-fusion",
        f"outline-loops{{parallel={is_parallel}}}",
    ]


PIPELINES: dict[str, Callable[..., list[str]]] = {
    "lower-to-stablehlo-pipeline": to_stablehlo,
    "lower-to-linalg-pipeline": to_linalg,
    "lower-to-llvm-pipeline": lambda: to_linalg() + to_llvm(),
    xla_gpu_pipeline.NAME: xla_gpu_pipeline.quantize_for_xla_gpu,
    "lower-to-nvvm-pipeline": to_nvvm,
}
WITH_OPTIONS = frozenset({xla_gpu_pipeline.NAME})  # which take what `parse_options` gives
