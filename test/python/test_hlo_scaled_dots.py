"""HLO's `scaled-dot`, in text and in protocol buffers, read, run and written again."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.reading.hlo import hlo_proto, hlo_text, parse_hlo_proto, parse_hlo_text
from mlir_fp8.reading.hlo_scaled_dots import calls_as_scaled_dots, scaled_dots_as_calls

MX = ("f8e4m3fn", "f8e8m0fnu", 32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu)
NVFP4 = ("f4e2m1fn", "f8e4m3fn", 16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn)
LAYOUTS = {
    "rows": ((8, 64), (4, 64), 1, 1, None, (8, 4)),
    "columns": ((64, 8), (64, 4), 0, 0, None, (8, 4)),
    "batches": ((3, 8, 64), (3, 64, 5), 2, 1, 0, (3, 8, 5)),
}


def text(kind: tuple, layout: tuple) -> str:
    """The dot's line has metadata, which is kept; scales have the data's rank."""
    element, scale_element, block, *_ = kind
    lhs, rhs, lhs_summed, rhs_summed, batch, result = layout

    def parameter(number: int, type_: str, sizes: tuple[int, ...]) -> str:
        return f"  p{number} = {type_}[{','.join(map(str, sizes))}] parameter({number})"

    def scales(sizes: tuple[int, ...], summed: int) -> tuple[int, ...]:
        return tuple(size // block if i == summed else size for i, size in enumerate(sizes))

    batching = "" if batch is None else f"lhs_batch_dims={{{batch}}}, rhs_batch_dims={{{batch}}}, "
    shape = ",".join(map(str, result))
    return "\n".join(
        (
            "HloModule m\n\nENTRY main {",
            parameter(0, element, lhs),
            parameter(1, element, rhs),
            parameter(2, scale_element, scales(lhs, lhs_summed)),
            parameter(3, scale_element, scales(rhs, rhs_summed)),
            f"  d = bf16[{shape}] scaled-dot(p0, p1, p2, p3), {batching}"
            f"lhs_contracting_dims={{{lhs_summed}}}, rhs_contracting_dims={{{rhs_summed}}}, "
            'metadata={op_name="mine"}',
            f"  ROOT r = f32[{shape}] convert(d)\n}}\n",
        )
    )


def arguments(kind: tuple, layout: tuple) -> tuple[list[np.ndarray], np.ndarray]:
    """Codes and scales whose sums are exact, and the sums."""
    *_, block, element, scale_element = kind
    lhs, rhs, lhs_summed, rhs_summed, *_ = layout
    random = np.random.default_rng(0)
    data, scales, wide = [], [], []
    for sizes, summed in ((lhs, lhs_summed), (rhs, rhs_summed)):
        counts = [size // block if i == summed else size for i, size in enumerate(sizes)]
        data.append(random.integers(-4, 5, sizes).astype(element))
        scales.append(np.exp2(random.integers(-1, 2, counts)).astype(scale_element))
        numbers = data[-1].astype(float) * scales[-1].astype(float).repeat(block, summed)
        wide.append(np.moveaxis(numbers, summed, -1))
    exact = wide[0] @ np.swapaxes(wide[1], -1, -2)
    return [*data, *scales], exact.astype(ml_dtypes.bfloat16).astype(np.float32)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
@pytest.mark.parametrize("kind", [MX, NVFP4], ids=["mxfp8", "nvfp4"])
def test_it_is_read_run_and_written(kind: tuple, layout: tuple) -> None:
    module = parse_hlo_text(text(kind, layout).encode(), "m")
    given, exact = arguments(kind, layout)
    np.testing.assert_array_equal(mlir_fp8.compile(module)(*given)[0], exact)
    written = hlo_text(module)
    assert " scaled-dot(" in written and "mine" in written
    proto = hlo_proto(module)
    assert b"scaled-dot" in proto and b"custom-call" not in proto
    for again in (parse_hlo_text(written.encode(), "m"), parse_hlo_proto(proto, "m")):
        assert str(again.body) == str(module.body)
        run_pipeline(again, ["block-scaled-dot-to-fp8"])
        assert '"fp8.scaled_dot"' in str(again)
        run_pipeline(again, ["fp8-to-block-scaled-dot{form=hlo}"])
        assert str(again.body) == str(module.body)


def test_explain_has_a_row_for_it(tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(text(MX, LAYOUTS["rows"]))
    (row,) = mlir_fp8.explain(mlir_fp8.load(file), "xla-gpu", compute_capability="10.0").rows
    assert row.answers[0].verdict == "fused"


def test_the_rest_of_a_module_stays_byte_for_byte() -> None:
    module = parse_hlo_text(text(MX, LAYOUTS["batches"]).encode(), "m")
    proto = hlo_proto(module)
    assert calls_as_scaled_dots(scaled_dots_as_calls(proto)) != b""
    plain = hlo_proto(mlir_fp8.load(Path(__file__).parents[2] / "examples/dot.mlir"))
    assert scaled_dots_as_calls(plain) is plain and calls_as_scaled_dots(plain) is plain


@pytest.mark.parametrize("config", ["none", "{}", '{\\"dimension_numbers\\": 3}'])
def test_a_call_without_dimension_numbers_is_refused(config: str) -> None:
    call = MODULE.replace("CONFIG", config.replace('\\"', "\\22"))
    with pytest.raises(Fp8Error, match=r"'xla\.scaled_dot' has no dimension_numbers"):
        hlo_text(mlir_fp8.load(call))


MODULE = """func.func @main(%a: tensor<8x64xf8E4M3FN>, %b: tensor<4x64xf8E4M3FN>,
    %s: tensor<8x2xf8E8M0FNU>, %t: tensor<4x2xf8E8M0FNU>) -> tensor<8x4xbf16> {
  %0 = stablehlo.custom_call @xla.scaled_dot(%a, %b, %s, %t) {backend_config = "CONFIG"}
    : (tensor<8x64xf8E4M3FN>, tensor<4x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>, tensor<4x2xf8E8M0FNU>)
    -> tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}"""


def test_a_broken_proto_is_one_line() -> None:
    with pytest.raises(Fp8Error, match=r"m: .*HloModuleProto"):
        parse_hlo_proto(b"\x1a\xff\xffscaled-dot", "m")
