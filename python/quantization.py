"""Scaled FP8 made of a module in wide floats: `mlir_fp8.quantize`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_unpack import SHORT
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.smoothing import Smoothing, smoothing_factors
from mlir_fp8.lowering.fp8.caches.find import TOKEN, check_scales
from mlir_fp8.lowering.fp8.caches.names import QuantizedCache
from mlir_fp8.lowering.fp8.caches.names import caches_of as find_caches_of
from mlir_fp8.lowering.fp8.caches.quantize import quantize_caches
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockFormatRecipe
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, OpDecision
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling
from mlir_fp8.lowering.fp8.scaling.operations import quantize_operations
from mlir_fp8.lowering.fp8.scaling.products import quantize_products
from mlir_fp8.lowering.fp8.scaling.recipes import (
    INT8,
    MX,
    NVFP4,
    WEIGHT_ONLY,
    Recipe,
    WeightOnly,
    recipe_named,
)
from mlir_fp8.lowering.fp8.scaling.selection import Selection
from mlir_fp8.lowering.fp8.weights.decisions import WeightDecision
from mlir_fp8.lowering.fp8.weights.layouts import check_layout
from mlir_fp8.lowering.fp8.weights.names import as_pattern, own_names
from mlir_fp8.lowering.fp8.weights.quantize import quantize_weights
from mlir_fp8.lowering.fp8.weights.wide import DEFAULT
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.lowering.kernels.packed_weights.packing import PackingDecision
from mlir_fp8.lowering.kernels.packed_weights.packing import pack_weights as packed_in
from mlir_fp8.lowering.kernels.vector_code.target import HOST
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.quantized import Quantized, initial_state
from mlir_fp8.reading.loader import loaded
from mlir_fp8.xla_gpu_pipeline import (
    FUSED,
    TARGET,
    attention_quantization,
    canonicalization,
    to_xla_gpu,
)


@public
def quantize(
    module: ir.Module | str | Path | bytes,
    recipe: Recipe | WeightOnly | str | None = None,
    *,
    entry: str = "main",
    min_size: int = 0,
    skip_first: int = 0,
    skip_last: int = 0,
    skip_batched: bool = False,
    ops: Sequence[str] | str = (),
    weights: Sequence[str] | str = (),
    scales: str = "channel",
    wide: Sequence[str] | str = DEFAULT,
    smoothing: Smoothing | Mapping[str, Any] | None = None,
    cache: Sequence[str] | str = (),
    cache_scales: str = TOKEN,
    packed: bool | str = False,
    target: str | None = None,
    allow_reassociation: bool = False,
    allow_excess_precision: bool = False,
    kernels: str = "",
    attention: bool = False,
) -> Quantized:
    """Make the dots and convolutions of `entry` scaled FP8; the module itself is left as it is.

    `module` is a module or whatever `mlir_fp8.load` takes. `recipe` is a `DelayedScaling` or
    `CurrentScaling`, or the name of one with its defaults: "delayed" or "flax", which is the
    default, "transformer_engine", "current"; "int8" gives integers. What is left out: ops with the
    attribute `mlir_fp8.skip`; products with fewer rows, columns or summands than `min_size`; the
    `skip_first` and `skip_last` forward products with their derivatives; with `skip_batched`, dots
    with batching dimensions, as in attention.

    With `ops`, names of ops (or one text with commas between, or "all"), those ops are surrounded
    by quantizers instead: each works in its wide type on what its scaled FP8 operands stand for;
    its result is scaled FP8.

    With `weights`, names of arguments or patterns with `*` and `?`, or "constants", those become f8
    arguments with `scales`, of layout "tensor", "channel", "block" (128x128), "group32", "group64"
    or "group128", which `Quantized.prepare` computes once; constants become f8 constants. Products
    with one of them are scaled FP8, with the recipe "weight_only" products of the wide operand by
    the codes; others stay as they are. `wide` are weights that stay wide, by default routers, and
    where there are three layers or more what the first and last multiply (docs/inference.md).
    `smoothing`, a `mlir_fp8.Smoothing` that was run or factors by the names of weights, shifts
    scale from activations to weights; that of a `StaticScaling`'s calibration needs no naming.

    With `cache`, names of arguments or patterns, those KV caches become f8, in the recipe's format:
    rows are quantized as they are written, dots read codes. `cache_scales` is "token", a scale for
    each head and token, written beside the rows, or "head", an argument with one for each head,
    which the caller knows. Without weights, caches are all that changes.

    With `packed`, what `weights` matches are arguments in the panels that kernels of this processor
    read in place, or of the one that is named, see `pack_weights`; f4 and f6 are bit-packed.

    With `target` "xla-gpu" the module is then StableHLO that XLA:GPU runs as FP8 (docs/xla_gpu.md),
    as by `quantize-for-xla-gpu-pipeline`: what is FP8 already is fused too, and a recipe that is
    given by name has scales that are powers of two. `allow_reassociation` and
    `allow_excess_precision` are the options of `fp8-canonicalize-for-xla-gpu`. With `kernels`,
    "h100" or "h200", `fp8-kernels-for-xla-gpu` puts our kernels in where they win on that card: the
    module then runs on NVIDIA's GPUs alone. With `attention` beside it what `fp8-fuse-attention`
    finds, in wide floats or f8, is computed in f8 by one kernel, and gradients that
    `fp8-fuse-attention-gradients` finds by two, in the type of the program.

    docs/scaling.md has it all. Raises `Fp8Error` for what cannot be done.
    """
    selection = Selection(min_size, skip_first, skip_last, skip_batched)
    named = ops.split(",") if isinstance(ops, str) else list(ops)
    if named and selection != Selection():
        raise Fp8Error("ops are named and dots selected: give the attribute mlir_fp8.skip to ops")
    patterns = [weights] if isinstance(weights, str) else list(weights)
    if target not in (None, TARGET):
        raise Fp8Error(f"target is '{target}': it is '{TARGET}', or None for the fp8 dialect")
    if target is None and (allow_reassociation or allow_excess_precision or kernels):
        given = "allow_reassociation, allow_excess_precision and kernels"
        raise Fp8Error(f"{given} go with target='{TARGET}'")
    if attention and not kernels:
        raise Fp8Error("attention is computed by the kernel of a card: give kernels='h200'")
    is_for_xla = target is not None
    caches = [cache] if isinstance(cache, str) else list(cache)
    if caches and not patterns and (recipe is not None or named):
        raise Fp8Error("caches are named, and no weights: give no recipe and no ops, or weights")
    if packed and is_for_xla:
        raise Fp8Error("packed is the order of our own kernels: leave it out with a target")
    recipe = "delayed" if recipe is None else recipe
    recipe = WeightOnly() if recipe == WEIGHT_ONLY else recipe
    if isinstance(recipe, str):
        rounded = {} if recipe in (MX, NVFP4, INT8) else {"power_of_two": is_for_xla}
        scaling = recipe_named(recipe, **rounded)
    else:
        scaling = recipe
    if isinstance(scaling, WeightOnly) and not patterns:
        raise Fp8Error("recipe is weight_only: name weights")
    if packed and not patterns:
        raise Fp8Error("weights are to be packed: name weights, or use pack_weights")
    if named and patterns:
        raise Fp8Error("ops and weights are named: quantize weights, then ops")
    check_layout(scales)
    check_scales(cache_scales)
    if isinstance(scaling, BlockFormatRecipe) and scales != "channel":
        raise Fp8Error("the recipe has scales of blocks of its own: drop scales")
    if isinstance(scaling, BlockFormatRecipe) and caches:
        raise Fp8Error("cache is for scales in f32: drop it, or take another recipe")
    if isinstance(scaling, BlockFormatRecipe) and packed and scaling.forward not in SHORT:
        raise Fp8Error("packed is for scales in f32, or f4 and f6: drop it, or take another recipe")
    if isinstance(scaling, Int8Scaling) and (packed or caches or is_for_xla):
        raise Fp8Error("the recipe is int8, which gives StableHLO: drop packed, cache and target")
    if isinstance(scaling, Int8Scaling) and scales not in ("tensor", "channel"):
        raise Fp8Error(f"the recipe is int8, which has no scales of {scales}: take channel, tensor")
    kept = [wide] if isinstance(wide, str) else list(wide)
    if not isinstance(scaling, Recipe | WeightOnly):
        raise Fp8Error(f"recipe is a {type(recipe).__name__}: give a DelayedScaling or its name")
    factors = smoothing_factors(smoothing, scaling)
    if factors and not patterns:
        raise Fp8Error("smoothing shifts scale to weights: name weights")
    quantized = dense_copy(loaded(module), make_context(), "module")
    operation = quantized.operation
    ArithConstantToStablehlo().run(operation)
    if is_for_xla:
        run_pipeline(quantized, list(FUSED if attention else FUSED[-1:]))
    decisions: Sequence[Decision | OpDecision] = ()
    of_weights: Sequence[WeightDecision] = ()
    of_caches: list[QuantizedCache] = []
    wide_caches: dict[str, str] = {}
    if caches:
        function = find_entry(operation, entry)
        arguments = zip(own_names(function), function.regions[0].blocks[0].arguments, strict=True)
        types = {name: str(argument.type) for name, argument in arguments}
        # Before weights, whose patterns may match caches too.
        of_caches = quantize_caches(operation, entry, caches, cache_scales, scaling.forward)
        wide_caches = {each.name: types[each.name] for each in of_caches}
    if patterns:
        decisions, of_weights = quantize_weights(
            operation, scaling, selection, entry, patterns, scales, kept, factors
        )
        own = {name for each in of_caches for name in (each.name, each.scale_name)}
        of_weights = [each for each in of_weights if each.name not in own]
    elif not caches:
        assert not isinstance(scaling, WeightOnly)
        decisions = (
            quantize_operations(operation, scaling, named, entry)
            if named
            else quantize_products(operation, scaling, selection, entry)
        )
    packing = _packed(operation, [each.name for each in of_weights], entry, packed)
    saved = {each.name: each.saved for each in packing}
    of_weights = [
        replace(each, bytes_after=each.bytes_after - saved.get(each.name, 0)) for each in of_weights
    ]
    if is_for_xla:
        # Those of attention are per tensor; block formats say nothing of them.
        is_power = isinstance(scaling, BlockFormatRecipe) or (
            isinstance(scaling, Recipe)
            and not isinstance(scaling, Int8Scaling)
            and scaling.power_of_two
        )
        canonicalize = canonicalization(
            allow_reassociation=allow_reassociation, allow_excess_precision=allow_excess_precision
        )
        fused = FUSED[-1:] if named else ()
        softmax = attention_quantization(power_of_two=is_power) if attention else ""
        run_pipeline(quantized, [*fused, *to_xla_gpu(canonicalize, kernels, softmax)])
    return Quantized(
        quantized,
        initial_state(quantized, entry),
        tuple(decisions),
        entry,
        tuple(of_weights),
        packing,
        recipe=scaling if patterns or not caches else None,
        caches=tuple(find_caches_of(find_entry(operation, entry)) if caches else ()),
        _wide_caches=wide_caches,
    )


@public
def pack_weights(
    module: ir.Module | str | Path | bytes,
    weights: Sequence[str] | str,
    *,
    entry: str = "main",
    target: str = HOST,
) -> Quantized:
    """Let `entry` take `weights`, names of arguments or patterns, packed; nothing is quantized.

    `Quantized.prepare` of what is given packs arrays of f32, bf16 or f8 in panels; of f4 and f6 it
    makes uint8 without gaps between codes, two of a byte or four of three. `target` is a name of
    `python -m mlir_fp8.target`, or "host": its kernels read such arrays in place, those of others
    pack them again in each call, with the same results. `Quantized.packing` says of each weight how
    it is packed, or why not. `module` is as in `quantize`. Raises `Fp8Error` for what no argument
    is named, and for an unknown target.
    """
    packed = dense_copy(loaded(module), make_context(), "module")
    ArithConstantToStablehlo().run(packed.operation)
    names = [weights] if isinstance(weights, str) else list(weights)
    decisions = tuple(packed_in(packed.operation, names, target, entry))
    return Quantized(packed, initial_state(packed, entry), (), entry, (), decisions)


def _packed(
    module: ir.Operation, weights: Sequence[str], entry: str, target: bool | str
) -> tuple[PackingDecision, ...]:
    """What became of the arguments among `weights`; constants are packed as code is made."""
    own = own_names(find_entry(module, entry))
    named = [as_pattern(each) for each in weights if each in own]
    if not target or not named:
        return ()
    return tuple(packed_in(module, named, HOST if target is True else str(target), entry))
