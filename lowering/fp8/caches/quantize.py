"""A function whose KV caches are f8: `quantize_caches`."""

import fnmatch
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op, terminator
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.caches.find import TOKEN, blocks_of, check_scales, find_cache
from mlir_fp8.lowering.fp8.caches.names import CACHE, QuantizedCache, caches_of
from mlir_fp8.lowering.fp8.caches.replace import replace_cache
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.state import STATE
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, scale_shape
from mlir_fp8.lowering.fp8.weights.names import NAME, SCALE_BLOCK, described, own_names, scale_name
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.frontend.stablehlo_update_slices_in_place import (
    StablehloUpdateSlicesInPlace,
)
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries
from mlir_fp8.lowering.rewriting.shardings import scale_argument
from mlir_fp8.lowering.rewriting.stablehlo import with_element

_ALIASING = "tf.aliasing_output"
_DONOR = "jax.buffer_donor"


def quantize_caches(
    module: ir.Operation, entry: str, patterns: Sequence[str], per: str, format_: str
) -> list[QuantizedCache]:
    """Let `entry` take and give the caches that `patterns` name as codes of `format_`.

    Scales are arguments after all others, of f32: with `per` "token" one for each head and token,
    which are results too, after all others; with "head" one for each head, which the caller knows.
    Raises `Fp8Error` for what is no cache, and for what cannot be in f8.
    """
    check_scales(per)
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        _check_stateless(function)
        drop_invariant_carries(function)
        StablehloUpdateSlicesInPlace().run(module)
        _fold_identities(function)
        names = own_names(function)
        for number in _matching(function, names, patterns):
            value = function.regions[0].blocks[0].arguments[number]
            cache = find_cache(function, names[number], value)
            blocks = blocks_of(cache, per)
            if per == TOKEN and not any(blocks):
                raise op_error(
                    function, f"cache '{cache.name}' has no tokens: leave it out of cache"
                )
            if scale_name(cache.name) in names:
                reason = f"has an argument '{scale_name(cache.name)}' already"
                raise op_error(function, f"{reason}: leave '{cache.name}' out of cache")
            scale = _scale(function, cache.name, number, cache.shape, blocks)
            value.set_type(with_element(value.type, ir.Type.parse(format_)))
            scaled = Scaled(value, scale, blocks, cache.name)
            replace_cache(cache, scaled, format_, is_written=per == TOKEN)
            _describe(function, number, cache.results[0], is_written=per == TOKEN)
    return caches_of(function)


def _matching(function: ir.Operation, names: Sequence[str], patterns: Sequence[str]) -> list[int]:
    """The arguments that `patterns` name."""
    found: set[int] = set()
    for pattern in patterns:
        own = {number for number, name in enumerate(names) if name == pattern}
        if not own:
            own = {n for n, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)}
        elif len(own) > 1:
            raise op_error(function, f"has {len(own)} arguments '{pattern}': rename one of them")
        if not own:
            known = ", ".join(names) or "none"
            raise op_error(function, f"has no argument '{pattern}' (arguments: {known})")
        found |= own
    return sorted(found)


def _check_stateless(function: ir.Operation) -> None:
    count = len(function.regions[0].blocks[0].arguments)
    if any(STATE in each for each in described(function, "arg_attrs", count)):
        raise op_error(function, "has the state of delayed scaling: quantize caches before")


def _fold_identities(function: ir.Operation) -> None:
    """Replace moves and converts that change nothing by what they take."""
    for op in operations(
        function, "stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.convert"
    ):
        if op.operands[0].type != op.results[0].type:
            continue
        if op.name == "stablehlo.broadcast_in_dim":
            places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            if places != sorted(places):
                continue
        replace_op(op, [op.operands[0]])


def _scale(
    function: ir.Operation, name: str, number: int, shape: Sequence[int], blocks: Blocks
) -> ir.Value:
    """A new last argument, the scale of argument `number`, called `name`; notes it on both."""
    block = function.regions[0].blocks[0]
    attributes = described(function, "arg_attrs", len(block.arguments))
    own = {each.name: each.attr for each in attributes[number]}
    own[NAME] = ir.StringAttr.get(name)
    own[CACHE] = ir.StringAttr.get(scale_name(name))
    own[SCALE_BLOCK] = ir.DenseI64ArrayAttr.get(list(blocks))
    attributes[number] = ir.DictAttr.get(own)
    placed = scale_argument(attributes[number], scale_shape(shape, blocks), shape)
    added = ir.DictAttr.get({NAME: ir.StringAttr.get(scale_name(name)), **placed})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*attributes, added])
    type_ = ir.RankedTensorType.get(scale_shape(shape, blocks), ir.F32Type.get())
    return block.add_argument(type_, block.arguments[number].location)


def _describe(function: ir.Operation, argument: int, result: int, *, is_written: bool) -> None:
    """Note on results which argument each updates; a donated cache has a donated scale."""
    block = function.regions[0].blocks[0]
    end = terminator(block)
    arguments = described(function, "arg_attrs", len(block.arguments))
    before = len(end.operands) - is_written
    results = described(function, "res_attrs", before)
    name, scale = (arguments[argument][key] for key in (NAME, CACHE))
    results[result] = _with(results[result], {CACHE: name})
    if is_written:
        results.append(ir.DictAttr.get({NAME: scale, CACHE: scale}))
        if _ALIASING in arguments[argument]:
            number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), before)
            arguments[-1] = _with(arguments[-1], {_ALIASING: number})
        elif _DONOR in arguments[argument]:
            arguments[-1] = _with(arguments[-1], {_DONOR: arguments[argument][_DONOR]})
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(arguments)
    function.attributes["res_attrs"] = ir.ArrayAttr.get(results)
    types = ([each.type for each in block.arguments], [each.type for each in end.operands])
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))


def _with(attributes: ir.DictAttr, added: dict[str, ir.Attribute]) -> ir.DictAttr:
    return ir.DictAttr.get({**{each.name: each.attr for each in attributes}, **added})
