"""`chlo-ragged-dot-to-while`: the products of groups of rows, as a loop over tiles of rows.

Upstream's decomposition multiplies every row by every group's matrix. Here a tile is of one group:
of the least size that holds what is left of it, so that a group of few rows takes little more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend._tensor_text import INDEX, Tensor
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape, narrow_format
from mlir_fp8.lowering.rewriting.text_expansion import replace_by

_TILES = (8, 32, 64, 96, 128)
"""Rows of tiles: kernels read the matrix in place for the first, and pack it for each other."""


@dataclass(frozen=True)
class ChloRaggedDotToWhile(ModulePass):
    """Replace `chlo.ragged_dot` of a ragged matrix by groups' matrices, or by a ragged matrix.

    Those with batches, or of more dimensions, are left to `chlo-legalize-to-stablehlo`.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, RAGGED_DOT):
            if all(has_static_shape(each) for each in (*op.operands, *op.results)):
                lhs, rhs = map(_source, list(op.operands)[:2])
                values = {"lhs": lhs, "rhs": rhs}
                text = _program(op, values)
                if text is not None:
                    operands = [value for value, _ in values.values()]
                    replace_by(op, text, [*operands, op.operands[2]])


_Operands = dict[str, tuple[ir.Value, list[int]]]
"""lhs and rhs: each with where its dimensions are in the operand of the `chlo.ragged_dot`."""


def _source(value: ir.Value) -> tuple[ir.Value, list[int]]:
    """What is transposed and decoded to `value`, and which of its dimensions each of `value` is.

    f8 becomes wider in each tile, where kernels decode it: no wide copy of all experts is made.
    """
    dims = list(range(ir.RankedTensorType(value.type).rank))
    while (maker := producer(value)) is not None:
        if maker.name == "stablehlo.transpose":
            order = list(ir.DenseI64ArrayAttr(maker.attributes["permutation"]))
            dims = [order[dim] for dim in dims]
        elif maker.name != "stablehlo.convert" or not _decodes(maker):
            break
        value = maker.operands[0]
    return value, dims


def _decodes(op: ir.Operation) -> bool:
    """Whether the convert `op` makes a wider float of f8: of no other narrow one."""
    before, after = (str(element_type(value)) for value in (op.operands[0], op.results[0]))
    return before.startswith("f8") and after in ("f32", "bf16", "f16")


def _program(op: ir.Operation, values: _Operands) -> str | None:
    """The function that stands for `op`, of `values`; None where it is of another form."""
    dims = {
        name: [values[name[:3]][1][each] for each in numbers]
        for name, numbers in ragged_numbers(op).items()
    }
    left, right = (Tensor.of(value) for value, _ in values.values())
    wide = (str(element_type(op.operands[0])), str(element_type(op.operands[1])))
    sizes = Tensor.of(op.operands[2])
    out = Tensor.of(op.results[0])
    summed = [dims["lhs_contracting"], dims["rhs_contracting"]]
    is_small = not all(prod(each.shape) for each in (left, right, out))
    if is_small or len(left.shape) != 2 or len(sizes.shape) != 1 or [*map(len, summed)] != [1, 1]:
        return None
    (left_summed,), (right_summed,) = summed
    (ragged,) = dims["lhs_ragged"]
    group = dims["rhs_group"]
    if len(right.shape) == 3 and len(group) == 1 and ragged != left_summed:
        rows = _Rows(left, right, out, (left_summed, right_summed), group[0], wide)
        return _loop((left, right, sizes, out), out, left.shape[ragged], rows.tile)
    if len(right.shape) == 2 and not group and ragged == left_summed:
        narrow = out.element in ("bf16", "f16") or narrow_format(op.results[0]) is not None
        sums = out.of_element("f32") if narrow else out
        tile = _Sums(left, right, sums, (left_summed, right_summed), wide).tile
        return _loop((left, right, sizes, out), sums, left.shape[ragged], tile)
    return None


def _mask(name: str, tile: Tensor, dimension: int) -> str:
    """%name: which elements of a tile, whose rows are along a dimension, are of this turn."""
    rows = tile.shape[dimension]
    index, line = Tensor((rows,), "i32"), Tensor((rows,), "i1")
    compared = f"({index}, {index}) -> {line}"
    return f"""
          %{name}_i = stablehlo.iota dim = 0 : {index}
          %{name}_from = stablehlo.broadcast_in_dim %from, dims = [] : ({INDEX}) -> {index}
          %{name}_row = stablehlo.broadcast_in_dim %row, dims = [] : ({INDEX}) -> {index}
          %{name}_stop = stablehlo.broadcast_in_dim %stop, dims = [] : ({INDEX}) -> {index}
          %{name}_at = stablehlo.add %{name}_i, %{name}_from : {index}
          %{name}_begun = stablehlo.compare GE, %{name}_at, %{name}_row : {compared}
          %{name}_lasts = stablehlo.compare LT, %{name}_at, %{name}_stop : {compared}
          %{name}_line = stablehlo.and %{name}_begun, %{name}_lasts : {line}
          %{name} = stablehlo.broadcast_in_dim %{name}_line, dims = [{dimension}]
            : ({line}) -> {tile.of_element("i1")}"""


@dataclass(frozen=True)
class _Rows:
    """Rows of the left operand by the matrix of their group."""

    left: Tensor
    right: Tensor
    out: Tensor
    summed: tuple[int, int]
    group: int
    wide: tuple[str, str]
    """The element types that are multiplied."""

    def tile(self, rows: int) -> str:
        ragged = 1 - self.summed[0]
        part = self.left.part(ragged, rows)
        whole, tile = self.right.part(self.group, 1), self.out.part(0, rows)
        matrix = whole.without(self.group)
        right_summed = self.summed[1] - (self.summed[1] > self.group)
        decode_left, a, left = part.decoded("part", self.wide[0])
        decode_right, b, right = matrix.decoded("matrix", self.wide[1])
        return f"""
          %part = {self.left.sliced("%left", (ragged, "%from"), part)}
          %whole = {self.right.sliced("%right", (self.group, "%group"), whole)}
          %matrix = stablehlo.reshape %whole : ({whole}) -> {matrix}
          {decode_left}
          {decode_right}
          %product = stablehlo.dot_general {a}, {b},
            contracting_dims = [{self.summed[0]}] x [{right_summed}]
            : ({left}, {right}) -> {tile}
          {_mask("mask", tile, 0)}
          %before = {self.out.sliced("%out", (0, "%from"), tile)}
          %tile = stablehlo.select %mask, %product, %before : {tile.of_element("i1")}, {tile}
          %new = {self.out.updated("%out", "%tile", (0, "%from"), tile)}"""


@dataclass(frozen=True)
class _Sums:
    """A matrix for each group: the product of the parts of both operands."""

    left: Tensor
    right: Tensor
    out: Tensor
    summed: tuple[int, int]
    wide: tuple[str, str]

    def tile(self, rows: int) -> str:
        lines, parts = "", []
        for name, operand, dimension, element in zip(
            ("left", "right"), (self.left, self.right), self.summed, self.wide, strict=True
        ):
            codes = operand.part(dimension, rows)
            decode, of_rows, part = codes.decoded(f"{name}_rows", element)
            parts.append(part)
            lines += f"""
          %{name}_rows = {operand.sliced(f"%{name}", (dimension, "%from"), codes)}
          {decode}
          %{name}_zeros = {part.zeros}
          {_mask(f"{name}_mask", part, dimension)}
          %{name}_part = stablehlo.select %{name}_mask, {of_rows}, %{name}_zeros
            : {part.of_element("i1")}, {part}"""
        place = self.out.part(0, 1)
        product = place.without(0)
        return f"""{lines}
          %product = stablehlo.dot_general %left_part, %right_part,
            contracting_dims = [{self.summed[0]}] x [{self.summed[1]}]
            : ({parts[0]}, {parts[1]}) -> {product}
          %added = stablehlo.reshape %product : ({product}) -> {place}
          %before = {self.out.sliced("%out", (0, "%group"), place)}
          %tile = stablehlo.add %before, %added : {place}
          %new = {self.out.updated("%out", "%tile", (0, "%group"), place)}"""


def _loop(types: Sequence[Tensor], sums: Tensor, size: int, tile: Callable[[int], str]) -> str:
    """The function: of both operands, groups' sizes and the result; `sums` is what is looped over.

    `size` is that of the ragged dimension. `tile` gives the ops that make %new of %out, of as many
    rows from %from on as it is asked for; those from %row to %stop count.
    """
    left, right, sizes, out = types
    counts = sizes.of_element("i32")
    tiles = [*(rows for rows in _TILES if rows < size), min(size, _TILES[-1])]
    tiles = sorted(set(tiles))
    state = f"{INDEX}, {INDEX}, {INDEX}, {sums}"
    branches = "}, {".join(_branch(rows, state, tile(rows)) for rows in tiles)
    larger = "".join(_counted(number, rows) for number, rows in enumerate([0, *tiles[:-1]]))
    result = "%end#3" if sums == out else "%narrow"
    narrowed = "" if sums == out else f"%narrow = stablehlo.convert %end#3 : ({sums}) -> {out}"
    return f"""
    func.func @ragged(%left: {left}, %right: {right}, %sizes: {sizes}) -> {out} {{
      %zero = stablehlo.constant dense<0> : {INDEX}
      %one = stablehlo.constant dense<1> : {INDEX}
      %groups = stablehlo.constant dense<{sizes.shape[0]}> : {INDEX}
      %size = stablehlo.constant dense<{size}> : {INDEX}
      %most = stablehlo.constant dense<{size}> : {sizes}
      %least = stablehlo.constant dense<0> : {sizes}
      %limited = stablehlo.clamp %least, %sizes, %most : {sizes}
      %counts = stablehlo.convert %limited : ({sizes}) -> {counts}
      %nothing = {sums.zeros}
      %end:4 = stablehlo.while(%group = %zero, %begin = %zero, %row = %zero, %out = %nothing)
        : {state}
      cond {{
        %more = stablehlo.compare LT, %group, %groups : ({INDEX}, {INDEX}) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      }} do {{
        %count_1 = stablehlo.dynamic_slice %counts, %group, sizes = [1]
          : ({counts}, {INDEX}) -> tensor<1xi32>
        %count = stablehlo.reshape %count_1 : (tensor<1xi32>) -> {INDEX}
        %after = stablehlo.add %begin, %count : {INDEX}
        %stop_of_group = stablehlo.minimum %after, %size : {INDEX}
        %rest = stablehlo.subtract %stop_of_group, %row : {INDEX}
        %kind_0 = stablehlo.constant dense<0> : {INDEX}
        {larger}
        %next:4 = "stablehlo.case"(%kind_{len(tiles)}) ({{
          %following = stablehlo.add %group, %one : {INDEX}
          stablehlo.return %following, %stop_of_group, %stop_of_group, %out : {state}
        }}, {{{branches}}}) : ({INDEX}) -> ({state})
        stablehlo.return %next#0, %next#1, %next#2, %next#3 : {state}
      }}
      {narrowed}
      return {result} : {out}
    }}"""


def _counted(number: int, rows: int) -> str:
    """Which branch: one more where more than `rows` are left."""
    return f"""
        %limit_{number} = stablehlo.constant dense<{rows}> : {INDEX}
        %is_{number} = stablehlo.compare GT, %rest, %limit_{number}
          : ({INDEX}, {INDEX}) -> tensor<i1>
        %more_{number} = stablehlo.convert %is_{number} : (tensor<i1>) -> {INDEX}
        %kind_{number + 1} = stablehlo.add %kind_{number}, %more_{number} : {INDEX}"""


def _branch(rows: int, state: str, tile: str) -> str:
    return f"""
          %rows = stablehlo.constant dense<{rows}> : {INDEX}
          %last = stablehlo.subtract %size, %rows : {INDEX}
          %from = stablehlo.minimum %row, %last : {INDEX}
          %beyond = stablehlo.add %row, %rows : {INDEX}
          %stop = stablehlo.minimum %beyond, %stop_of_group : {INDEX}
          {tile}
          stablehlo.return %group, %begin, %stop, %new : {state}
        """
