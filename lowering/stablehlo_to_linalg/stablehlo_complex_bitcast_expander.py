"""`stablehlo-complex-bitcast-expander`: the bits of complex numbers, by way of their parts."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import element_type
from mlir_fp8.lowering.rewriting.text_expansion import expand


@dataclass(frozen=True)
class StablehloComplexBitcastExpander(ModulePass):
    """Replace `bitcast_convert` of complex numbers, which the specification has among themselves.

    To the same type it is the operand. A complex<f64> is two complex<f32>, along a last dimension:
    the real part and the imaginary part, each as its low word and its high word.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "stablehlo.bitcast_convert", inner_first=True):
            source, target = (element_type(value) for value in (*op.operands, *op.results))
            if not isinstance(source, ir.ComplexType):
                continue
            if source == target:
                replace_op(op, [op.operands[0]])
            else:
                is_split = isinstance(source.element_type, ir.F64Type)
                expand(op, _to_words if is_split else _from_words)


def _to_words(op: ir.Operation) -> str:
    wide, words = op.operands[0].type, op.results[0].type
    part, half = _tensor(wide.shape, "f64"), _tensor(words.shape, "f32")
    single, pair = (_tensor([*wide.shape, *sizes], "f32") for sizes in ([1, 2], [2, 2]))
    halves = "\n".join(
        f"""%{name}_words = stablehlo.bitcast_convert %{name} : ({part}) -> {half}
      %{name}_row = stablehlo.reshape %{name}_words : ({half}) -> {single}"""
        for name in ("real", "imag")
    )
    rank = len(wide.shape)
    return f"""func.func @to_words(%z: {wide}) -> {words} {{
      %real = stablehlo.real %z : ({wide}) -> {part}
      %imag = stablehlo.imag %z : ({wide}) -> {part}
      {halves}
      %both = stablehlo.concatenate %real_row, %imag_row, dim = {rank}
        : ({single}, {single}) -> {pair}
      {_column("low", "both", 0, pair, half)}
      {_column("high", "both", 1, pair, half)}
      %result = stablehlo.complex %low, %high : {words}
      return %result : {words}
    }}"""


def _from_words(op: ir.Operation) -> str:
    words, wide = op.operands[0].type, op.results[0].type
    half, part = _tensor(words.shape, "f32"), _tensor(wide.shape, "f64")
    single, pair = (_tensor([*words.shape, size], "f32") for size in (1, 2))
    doubles = _tensor(words.shape, "f64")
    return f"""func.func @from_words(%z: {words}) -> {wide} {{
      %low = stablehlo.real %z : ({words}) -> {half}
      %high = stablehlo.imag %z : ({words}) -> {half}
      %low_column = stablehlo.reshape %low : ({half}) -> {single}
      %high_column = stablehlo.reshape %high : ({half}) -> {single}
      %both = stablehlo.concatenate %low_column, %high_column, dim = {len(words.shape)}
        : ({single}, {single}) -> {pair}
      %doubles = stablehlo.bitcast_convert %both : ({pair}) -> {doubles}
      {_column("real", "doubles", 0, doubles, part)}
      {_column("imag", "doubles", 1, doubles, part)}
      %result = stablehlo.complex %real, %imag : {wide}
      return %result : {wide}
    }}"""


def _column(name: str, pairs: str, place: int, type_: str, result: str) -> str:
    """One of two along the last dimension of `pairs`, without that dimension."""
    *sizes, element = type_.removeprefix("tensor<").removesuffix(">").split("x")
    kept = ", ".join(f"0:{size}" for size in sizes[:-1])
    cut = _tensor([*map(int, sizes[:-1]), 1], element)
    bounds = f"{kept}{', ' if kept else ''}{place}:{place + 1}"
    return f"""%{name}_cut = stablehlo.slice %{pairs} [{bounds}] : ({type_}) -> {cut}
      %{name} = stablehlo.reshape %{name}_cut : ({cut}) -> {result}"""


def _tensor(sizes: list[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"
