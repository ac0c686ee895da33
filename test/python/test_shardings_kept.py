"""What passes and other dialects leave of shardings, of Shardy's and of GSPMD's on ops."""

import re
from typing import Any

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.shardings import Gspmd, Shardy, read_sharding, shardy_of
from mlir_fp8.passes.lost_shardings import shardings_in, tell_lost
from mlir_fp8.passes.pass_pipeline import run_pipeline

ROWS, COLUMNS, WHOLE = range(3)
SHARDY = ['[{"x"}, {}]', '[{}, {"x"}]', "[{}, {}]"]
GSPMD = ["{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}", "{replicated}"]
PROGRAM = """module attributes {{mhlo.num_partitions = 4 : i32}} {{
  {mesh}
  func.func public @main(%a: tensor<32x64xbf16> {{{rows}}}, %b: tensor<64x16xbf16> {{{columns}}})
      -> (tensor<32x16xbf16> {{{rows}}}) {{
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {{{of_dot}}}
      : (tensor<32x64xbf16>, tensor<64x16xbf16>) -> tensor<32x16xbf16>
    return %0 : tensor<32x16xbf16>
  }}
}}"""


def program(kind: str) -> str:
    if kind == "gspmd":
        rows, columns = (f'mhlo.sharding = "{GSPMD[which]}"' for which in (ROWS, COLUMNS))
        return PROGRAM.format(mesh="", rows=rows, columns=columns, of_dot=rows)
    rows, columns = (
        f"sdy.sharding = #sdy.sharding<@mesh, {SHARDY[which]}>" for which in (ROWS, COLUMNS)
    )
    of_dot = f"sdy.sharding = #sdy.sharding_per_value<[<@mesh, {SHARDY[ROWS]}>]>"
    mesh = 'sdy.mesh @mesh = <["x"=4]>'
    return PROGRAM.format(mesh=mesh, rows=rows, columns=columns, of_dot=of_dot)


def made(kind: str, *passes: str) -> ir.Module:
    module = mlir_fp8.load(program(kind))
    run_pipeline(module, list(passes))
    return module


def said(module: ir.Module, name: str) -> list[str]:
    """The shardings of all ops `name`, that of Shardy without its mesh."""
    found: list[str] = []

    def visit(op: Any) -> ir.WalkResult:
        if op.name == name:
            found.append(str(read_sharding(op.attributes)).removeprefix("<@mesh, "))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return [each.removesuffix(">") for each in found]


@pytest.mark.parametrize(("kind", "texts"), [("sdy", SHARDY), ("gspmd", GSPMD)])
def test_codes_scales_and_dots(kind: str, texts: list[str], capfd: Any) -> None:
    module = made(kind, "fp8-quantize-dots{recipe=current}")
    assert said(module, "fp8.quantize") == [texts[ROWS], texts[COLUMNS]]
    assert said(module, "fp8.scaled_dot") == [texts[ROWS]]
    whole = "[]" if kind == "sdy" else texts[WHOLE]
    assert said(module, "fp8.update_scale") == [whole, whole] == said(module, "stablehlo.reduce")
    run_pipeline(module, ["fp8-legalize-to-stablehlo"])
    assert said(module, "stablehlo.convert").count(texts[ROWS]) == 2  # codes, and the result
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("kind", "texts"), [("sdy", SHARDY), ("gspmd", GSPMD)])
def test_scales_of_rows_are_as_their_rows(kind: str, texts: list[str]) -> None:
    module = made(kind, "fp8-quantize-dots{recipe=current per=row}")
    of_scales = [each for each in said(module, "stablehlo.select") if each != "None"]
    assert of_scales == [texts[ROWS], texts[COLUMNS]]


@pytest.mark.parametrize(("kind", "texts"), [("sdy", SHARDY), ("gspmd", GSPMD)])
def test_block_scales_are_as_their_rows(kind: str, texts: list[str]) -> None:
    module = made(kind, "fp8-quantize-dots{recipe=mx}")
    of_scales = [each for each in said(module, "stablehlo.bitcast_convert") if each != "None"]
    assert of_scales == [texts[ROWS], texts[COLUMNS]] == said(module, "fp8.quantize")
    module = made(kind, "fp8-quantize-dots{recipe=nvfp4}")
    whole = "[]" if kind == "sdy" else texts[WHOLE]
    assert said(module, "stablehlo.select") == [whole, whole]  # numbers of tensors


@pytest.mark.parametrize(("kind", "whole"), [("sdy", "@mesh, []"), ("gspmd", "{replicated}")])
def test_state_is_on_all_devices(kind: str, whole: str) -> None:
    text = str(made(kind, "fp8-quantize-dots{history=4}"))
    head = text[text.index("@main(") : text.index(") -> (")]
    arguments = re.split(r"%arg\d+: ", head)[1:]
    assert ["mlir_fp8.state" in each for each in arguments] == [False] * 2 + [True] * 4
    assert all(whole.replace("[]", "[") in each for each in arguments[2:])
    count = 1 + 4 if kind == "sdy" else 0
    assert text.count("xla.sdy.FuncResultSharding") == count
    assert kind == "sdy" or text.count('mhlo.sharding = "{replicated}", mlir_fp8.state') == 4


@pytest.mark.parametrize("kind", ["sdy", "gspmd"])
@pytest.mark.parametrize(
    "passes",
    [
        (),
        ("fp8-quantize-dots{recipe=current}", "fp8-legalize-to-stablehlo"),
        ("fp8-quantize-dots{recipe=current}", "fp8-to-composite"),
        ("fp8-quantize-dots{recipe=current}", "fp8-canonicalize-for-xla-gpu",
         "fp8-legalize-to-stablehlo"),
        ("fp8-quantize-collectives{min-bytes=0}", "fp8-legalize-to-stablehlo"),
    ],
)  # fmt: skip
def test_artifacts_and_mhlo_there_and_back(kind: str, passes: tuple[str, ...]) -> None:
    module = made(kind, *passes)
    again = mlir_fp8.load(mlir_fp8.serialize(module))
    kept = sorted(counts(module))
    assert len(kept) >= 4 and sorted(counts(again)) == kept
    if "fp8-to-composite" in passes:
        return
    run_pipeline(again, ["stablehlo-legalize-to-hlo"])
    assert "mhlo.dot" in str(again)
    run_pipeline(again, ["hlo-legalize-to-stablehlo"])
    assert sorted(counts(again)) == kept


def counts(module: ir.Module) -> list[str]:
    """All texts of shardings in a module."""
    text = str(module)
    return re.findall(r'(?:xla\.sdy\.sharding|mhlo\.sharding) = "[^"]*"', text)


def test_what_is_lost_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    module = mlir_fp8.load(program("gspmd"))
    before = shardings_in(module.operation)
    tell_lost(before, module.operation, "a-pass")
    assert capsys.readouterr().err == ""
    dot = next(
        op.operation
        for op in module.body.operations[0].regions[0].blocks[0].operations
        if op.operation.name == "stablehlo.dot_general"
    )
    del dot.attributes["mhlo.sharding"]
    tell_lost(before, module.operation, "a-pass")
    line = "-:5:10: remark: a-pass does not keep the sharding {devices=[4,1]<=[4]} of "
    assert capsys.readouterr().err.startswith(line)


@pytest.mark.parametrize(
    ("text", "kept", "want"),
    [
        ('<@m, [{"x"}, {"y", ?}p1], replicated={"z"}>', (False, True), '[{}, {"y", ?}p1]'),
        ('<mesh<["x"=2, "y"=4]>, [{"x":(1)2}, {}]>', (True, True), '[{"x":(1)2}, {}]'),
    ],
)
def test_shardy_by_dimension(text: str, kept: tuple[bool, ...], want: str) -> None:
    sharding = shardy_of(f"#sdy.sharding_per_value<[{text}]>")
    assert isinstance(sharding, Shardy) and str(sharding) == text
    assert want in str(sharding.along(kept))


@pytest.mark.parametrize(
    ("text", "tiles", "first", "transposed"),
    [
        ("{devices=[2,4]<=[8]}", (2, 4), "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
         "{devices=[4,2]0,4,1,5,2,6,3,7}"),
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", (2, 1),
         "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
         "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}"),
        ("{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", (1, 4), "{replicated}",
         "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"),
        ("{replicated}", (), "{replicated}", "{replicated}"),
    ],
)  # fmt: skip
def test_gspmd_by_dimension(text: str, tiles: tuple[int, ...], first: str, transposed: str) -> None:
    sharding = Gspmd(text)
    module = ir.Module.parse("module {}", ir.Context()).operation
    assert sharding.tiles(module) == tiles
    assert str(sharding.along((True, False))) == first
    assert str(sharding.transposed((1, 0))) == transposed


@pytest.mark.parametrize(("kind", "texts"), [("sdy", SHARDY), ("gspmd", GSPMD)])
def test_codes_and_scales_that_are_arguments(kind: str, texts: list[str]) -> None:
    text = str(made(kind, "fp8-quantize-weights{weights=arg1}"))
    head = text[text.index("@main(") : text.index(") -> (" if kind == "gspmd" else ") -> tensor")]
    codes, scales = re.split(r"%arg\d+: ", head)[2:]
    assert codes.startswith("tensor<64x16xf8E4M3FN>") and scales.startswith("tensor<1x16xf32>")
    columns = texts[COLUMNS].replace('"', r"\22")
    assert columns in codes and columns in scales


def test_kernels_are_left_out_where_xla_splits_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    text = program("gspmd").replace("32x", "4096x").replace("64x16", "4096x4096")
    text = text.replace("x64xbf16", "x4096xbf16").replace("x16xbf16", "x4096xbf16")
    module = mlir_fp8.load(text)
    run_pipeline(module, ["fp8-quantize-dots{recipe=current}"])
    run_pipeline(module, ["fp8-kernels-for-xla-gpu{products=true remarks}"])
    assert "custom_call @__gpu" not in str(module)
    assert "is left to XLA: XLA splits its tensors over devices" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "count"), [("", 2), (" margin=1", 3), (" power-of-two", 3)])
def test_pairs_cancel_where_their_scales_are_the_same(options: str, count: int) -> None:
    module = mlir_fp8.load("examples/fsdp.mlir")
    dots = f"fp8-quantize-dots{{recipe=current{options}}}"
    run_pipeline(module, [dots, "fp8-quantize-collectives"])
    assert str(module).count('"fp8.quantize"') == count
    assert str(module).count('"fp8.dequantize"') == count - 2


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ("current shards=all", 2),
        ("current shards=each", 0),
        ("block", 0),
        ("mx", 0),
        ("nvfp4", 2),
        ("int8", 2),
    ],
)
def test_amax_in_bodies_is_that_of_all_shards_or_of_each(options: str, count: int) -> None:
    for hadamard in ("", " hadamard=16") if options == "nvfp4" else ("",):
        module = mlir_fp8.load("examples/fsdp.mlir")
        run_pipeline(module, [f"fp8-quantize-dots{{recipe={options}{hadamard}}}"])
        assert str(module).count("stablehlo.all_reduce") == count
        product = "xi32>\n" if options == "int8" else '"fp8.scaled_dot"'
        assert str(module).count(product) == 1
        assert "call @xla.sdy.manual_computation_body(" in str(module)


def test_what_travelled_in_fp8_is_quantized_anew_in_blocks() -> None:
    module = mlir_fp8.load("examples/fsdp.mlir")
    run_pipeline(module, ["fp8-quantize-collectives", "fp8-quantize-dots{recipe=mx}"])
    (dot,) = [line for line in str(module).splitlines() if '"fp8.scaled_dot"' in line]
    assert dot.count("xf8E8M0FNU>") == 2
