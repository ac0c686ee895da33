"""Two products of one matrix, SiLU of one times the other, maybe quantized, that are timed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_fp8.tuning.pieces import STD, Operand, specs_of, text_of, type_of


@dataclass(frozen=True)
class GatedWork:
    """D[m, n] = silu(A[m, k] Wg[n, k]^T) (A Wu[n, k]^T), in `type`.

    `joined`: both weights are one matrix of 2 n rows. `quantized`: D is f8E4M3FN by a scale.
    """

    m: int
    n: int
    k: int
    a_type: str = "f8E4M3FN"
    b_type: str = "f8E4M3FN"
    type: str = "bf16"
    joined: bool = False
    quantized: bool = False
    fast_accum: bool = True
    copies: int = 1

    def __str__(self) -> str:
        flags = {"joined": self.joined, "quantized": self.quantized, "exact": not self.fast_accum}
        words = [f"{self.m}x{self.n}x{self.k}", f"{self.a_type} {self.b_type} gated {self.type}"]
        return " ".join([*words, *(word for word, holds in flags.items() if holds)])

    @property
    def _weights(self) -> list[int]:
        return [(1 + self.joined) * self.n, self.k]

    def operands(self) -> list[Operand]:
        weights: Operand = (self._weights, self.b_type, "codes")
        found: list[Operand] = [([self.m, self.k], self.a_type, "codes"), weights]
        found += [weights] * (not self.joined)
        scales = 2 + (not self.joined) + self.quantized
        return [*found, *[([], "f32", "scale")] * scales]

    def results(self) -> list[str]:
        return [type_of([self.m, self.n], "f8E4M3FN" if self.quantized else self.type)]

    def text(self) -> str:
        return text_of([self] * self.copies)

    def arguments(self) -> list[dict[str, Any]]:
        made = specs_of(self.operands())
        if self.quantized:
            made[-1]["value"] = self.k / STD
        return made * self.copies

    def lines(self, copy: int, names: Sequence[str]) -> tuple[Iterator[str], list[str]]:
        return self._lines(copy, names), [f"%q{copy}" if self.quantized else f"%y{copy}"]

    def _lines(self, copy: int, names: Sequence[str]) -> Iterator[str]:
        type_ = type_of([self.m, self.n], self.type)
        wide = type_of([self.m, self.n], "f32")
        if self.joined:
            a, b, a_scale, b_scale = names[:4]
            whole = type_of([self.m, 2 * self.n], self.type)
            yield self._dot(f"%w{copy}", (a, b, a_scale, b_scale), whole)
            for name, start in (("g", 0), ("u", self.n)):
                at = f"[0:{self.m}, {start}:{start + self.n}]"
                yield f"%{name}{copy} = stablehlo.slice %w{copy} {at} : ({whole}) -> {type_}"
        else:
            a, gate, up, a_scale, gate_scale, up_scale = names[:6]
            yield self._dot(f"%g{copy}", (a, gate, a_scale, gate_scale), type_)
            yield self._dot(f"%u{copy}", (a, up, a_scale, up_scale), type_)
        yield f"%l{copy} = stablehlo.logistic %g{copy} : {type_}"
        yield f"%s{copy} = stablehlo.multiply %g{copy}, %l{copy} : {type_}"
        yield f"%y{copy} = stablehlo.multiply %s{copy}, %u{copy} : {type_}"
        if not self.quantized:
            return
        y = f"%y{copy}"
        if self.type != "f32":
            y = f"%f{copy}"
            yield f"{y} = stablehlo.convert %y{copy} : ({type_}) -> {wide}"
        codes = self.results()[0]
        quantize = f'"fp8.quantize"({y}, {names[-1]}) {{saturate}}'
        yield f"%q{copy} = {quantize} : ({wide}, tensor<f32>) -> {codes}"

    def _dot(self, name: str, operands: Sequence[str], result: str) -> str:
        """Rounded to `type` as it is stored."""
        a, b = type_of([self.m, self.k], self.a_type), type_of(self._weights, self.b_type)
        flags = ", fast_accum" if self.fast_accum else ""
        return (
            f'{name} = "fp8.scaled_dot"({", ".join(operands)}) {{dot_dimension_numbers = '
            "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, "
            f"operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>{flags}}} : "
            f"({a}, {b}, tensor<f32>, tensor<f32>) -> {result}"
        )
