"""`fp8.attention` in StableHLO: two dots, and a softmax in f32 between them."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attention_parts import AttentionParts, attention_parts
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, number, rescale, to_element, with_shape
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, splat, with_element

_ROWS = [0, 1, 2]
"""The dimensions of scores, but for the keys."""


def attention(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.attention` on `operands`, at the current insertion point."""
    parts = attention_parts(op, operands)
    p, lse = _softmax(_masked(parts, _scores(parts)), is_safe=parts.zero_masked_rows)
    return [_weighed(parts, _rounded(parts, p)), *([lse()] if parts.lse else [])]


def _scores(parts: AttentionParts) -> ir.Value:
    """In f32, [B, H, T, S], scaled and biased."""
    f32 = ir.F32Type.get()
    scales = [parts.q_scale, parts.k_scale]
    early = [None, None] if parts.scale_scores else scales
    q, k = _operands(parts.qk_type, (parts.q, early[0]), (parts.k, early[1]))
    x = _product(parts, q, k, contracted=3)
    if parts.scale_scores:
        for scale in (parts.q_scale, _keys_last(parts.k_scale)):
            x = x if scale is None else rescale(x, scale, divide=False)
    x = convert(convert(x, parts.score_type), f32)
    if parts.scale is not None:
        x = build("multiply", x.type, [x, number(x.type, parts.scale)])
    if parts.bias is not None:
        bias = broadcast(convert(parts.bias, f32), x.type, range(4))
        x = build("add", x.type, [x, bias])
    return x


def _operands(
    step: ir.Type | None, *sides: tuple[ir.Value, ir.Value | None]
) -> tuple[ir.Value, ir.Value]:
    """Two factors of a dot: dequantized to `step`, or small and of one type."""
    if step is not None:
        wide = [convert(data, step) for data, _ in sides]
        scales = [scale for _, scale in sides]
        a, b = (
            each if scale is None else rescale(each, scale, divide=False)
            for each, scale in zip(wide, scales, strict=True)
        )
        return a, b
    (a, _), (b, _) = sides
    if element_type(a) != element_type(b):  # StableHLO multiplies no two formats
        a, b = convert(a, ir.F32Type.get()), convert(b, ir.F32Type.get())
    return a, b


def _keys_last(scale: ir.Value | None) -> ir.Value | None:
    """A scale of k or v, which has size 1 along D or E, as one of the scores."""
    if scale is None or ir.RankedTensorType(scale.type).rank == 0:
        return scale
    batch, heads, keys, _ = ir.RankedTensorType(scale.type).shape
    return reshaped(scale, [batch, heads, 1, keys])


def _product(parts: AttentionParts, a: ir.Value, b: ir.Value, contracted: int) -> ir.Value:
    """`a` [B, H, T, X] by `b` [B, Hk, ...], over X and dimension `contracted` of `b`, in f32.

    The query heads that share a head of `b` are rows of one matrix.
    """
    batch, heads, rows, inner = ir.RankedTensorType(a.type).shape
    shape = ir.RankedTensorType(b.type).shape
    shared, columns = shape[1], shape[5 - contracted]
    together = [batch, shared, heads // max(shared, 1) * rows]
    precision = "DEFAULT" if parts.fast_accum else "HIGHEST"
    x = product_of_heads(reshaped(a, [*together, inner]), b, (3, contracted), precision)
    return reshaped(x, [batch, heads, rows, columns])


def product_of_heads(
    a: ir.Value, b: ir.Value, over: tuple[int, int], precision: str = "HIGHEST"
) -> ir.Value:
    """Of matrices [B, Hk, ...], summed `over` a dimension of `a` and one of `b`, in f32."""
    sizes, others = (list(ir.RankedTensorType(each.type).shape) for each in (a, b))
    shape = [*sizes[:2], sizes[5 - over[0]], others[5 - over[1]]]
    numbers = (
        "#stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], "
        f"lhs_contracting_dimensions = [{over[0]}], rhs_contracting_dimensions = [{over[1]}]>"
    )
    attributes = {
        "dot_dimension_numbers": ir.Attribute.parse(numbers),
        "precision_config": ir.Attribute.parse(
            f"[{', '.join([f'#stablehlo<precision {precision}>'] * 2)}]"
        ),
    }
    result = ir.RankedTensorType.get(shape, ir.F32Type.get())
    return build("dot_general", result, [a, b], attributes)


def _masked(parts: AttentionParts, x: ir.Value) -> ir.Value:
    """`x` with the mask's value where a key is hidden."""
    flags = with_element(x.type, ir.IntegerType.get_signless(1))
    seen = [*_in_sight(parts, flags)]
    if parts.mask is not None:
        seen.append(broadcast(parts.mask, flags, range(4)))
    if not seen:
        return x
    shown = seen[0]
    for each in seen[1:]:
        shown = build("and", flags, [shown, each])
    return build("select", x.type, [shown, x, number(x.type, parts.mask_value)])


def _in_sight(parts: AttentionParts, flags: ir.Type) -> list[ir.Value]:
    """Which keys are in the places that a query at its place sees."""
    if not parts.causal and parts.window is None:
        return []
    i32 = ir.IntegerType.get_signless(32)
    element = i32 if parts.offset is None else element_type(parts.offset)
    assert element is not None
    places = with_element(flags, element)
    rows, keys = _positions(places)
    if parts.offset is not None:
        dims = range(ir.RankedTensorType(parts.offset.type).rank)
        rows = build("add", places, [rows, broadcast(parts.offset, places, list(dims))])
    seen = []
    if parts.causal:
        seen.append(_compare("LE", keys, rows, flags))
    if parts.window is not None:
        last = build("subtract", places, [rows, splat(places, parts.window)])
        seen.append(_compare("GT", keys, last, flags))
    return seen


def before_or_at(x: ir.Type) -> ir.Value:
    """Of scores of type `x`, which are of a key that is not behind its query."""
    rows, keys = _positions(with_element(x, ir.IntegerType.get_signless(32)))
    return _compare("LE", keys, rows, with_element(x, ir.IntegerType.get_signless(1)))


def _positions(places: ir.Type) -> tuple[ir.Value, ir.Value]:
    """Of queries, and of keys."""
    i64 = ir.IntegerType.get_signless(64)
    rows, keys = (
        build("iota", places, [], {"iota_dimension": ir.IntegerAttr.get(i64, dim)})
        for dim in (2, 3)
    )
    return rows, keys


def _compare(direction: str, a: ir.Value, b: ir.Value, flags: ir.Type) -> ir.Value:
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return build("compare", flags, [a, b], {"comparison_direction": attribute})


def _softmax(x: ir.Value, *, is_safe: bool) -> tuple[ir.Value, Callable[[], ir.Value]]:
    """The probabilities, and what builds their lse."""

    m = reduced("maximum", x, float("-inf"))
    if is_safe:
        m = _replaced(m, float("-inf"), 0.0)
    e = build("subtract", x.type, [x, broadcast(m, x.type, _ROWS)])
    e = build("exponential", x.type, [e])
    total = reduced("add", e, 0.0)
    if is_safe:
        total = _replaced(total, 0.0, 1.0)

    def lse() -> ir.Value:
        return build("add", m.type, [m, build("log", total.type, [total])])

    return build("divide", x.type, [e, broadcast(total, x.type, _ROWS)]), lse


def _replaced(x: ir.Value, old: float, new: float) -> ir.Value:
    flags = with_element(x.type, ir.IntegerType.get_signless(1))
    is_old = _compare("EQ", x, number(x.type, old), flags)
    return build("select", x.type, [is_old, number(x.type, new), x])


def reduced(name: str, x: ir.Value, start: float) -> ir.Value:
    """Over the keys."""
    scalar = with_shape(x, [])
    op = ir.Operation.create(
        "stablehlo.reduce",
        results=[with_shape(x, ir.RankedTensorType(x.type).shape[:3])],
        operands=[x, number(scalar, start)],
        attributes={"dimensions": ir.DenseI64ArrayAttr.get([3])},
        regions=1,
    )
    location = ir.Location.current
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        ir.Operation.create(
            "stablehlo.return", operands=[build(name, scalar, list(body.arguments))]
        )
    return op.results[0]


def _rounded(parts: AttentionParts, p: ir.Value) -> ir.Value:
    """The probabilities in `p_type`."""
    assert parts.p_type is not None
    if parts.scale_p:
        scale = _keys_last(parts.v_scale)
        assert scale is not None
        p = rescale(p, scale, divide=False)
    if parts.p_scale is not None:
        name = "multiply" if parts.p_inverse else "divide"
        p = build(name, p.type, [p, number(p.type, parts.p_scale)])
    return to_element(p, parts.p_type, saturate=parts.p_saturate)


def _weighed(parts: AttentionParts, p: ir.Value) -> ir.Value:
    """The values, weighed by probabilities: the result."""
    f32 = ir.F32Type.get()
    factor = None
    if parts.p_factor is not None:
        factor = number(ir.RankedTensorType.get([], f32), parts.p_factor)
    scales = [factor, None if parts.scale_p else parts.v_scale]
    early = [None, None] if parts.scale_out else scales
    p, v = _operands(parts.pv_type, (p, early[0]), (parts.v, early[1]))
    x = _product(parts, p, v, contracted=2)
    if parts.scale_out:
        for scale in scales:
            x = x if scale is None else rescale(x, scale, divide=False)
    return convert(x, ir.RankedTensorType(parts.op.results[0].type).element_type)


def reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    type_ = ir.RankedTensorType(value.type)
    if list(type_.shape) == list(shape):
        return value
    return build("reshape", with_shape(value, shape), [value])
