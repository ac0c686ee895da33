"""`fp8-explain --wire`: what each device sends."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlir_fp8.tools import explain, opt

EXAMPLE = "examples/fsdp.mlir"
LOOP = """module attributes {mhlo.num_partitions = 4 : i32} {
func.func @main(%x: tensor<8x4xf32>, %n: tensor<i32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8x4xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = func.call @send(%y) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<8x4xf32>
  }
  %3:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2:2 = "stablehlo.all_reduce"(%y, %i) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %4 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    stablehlo.return %i, %2#0 : tensor<i32>, tensor<8x4xf32>
  }
  %5 = func.call @send(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0#1, %3#1 : tensor<8x4xf32>, tensor<8x4xf32>
}
func.func private @send(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}
""".replace("(%y, %i)", "(%y, %y)")  # noqa: E501


def rows_of(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert explain.main([*argv, "--wire", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_gather(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows_of(capsys, EXAMPLE)
    (row,) = found["collectives"]
    assert (row["op"], row["group"], row["verdict"]) == ("all_gather", "8 devices", "wide")
    assert row["bytes"] == found["bytes"] == 7 * 64 * 1024 * 2
    assert row["fp8_bytes"] == found["fp8_bytes"] == 7 * 64 * 1024
    assert row["edit"] == "fp8-quantize-collectives" and row["location"] == f"{EXAMPLE}:11:12"


def test_the_gate_and_what_the_pass_saves(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    limit = "--max-wire-bytes=500000"
    assert explain.main([EXAMPLE, "--wire", limit]) == 1
    said = capsys.readouterr()
    assert "sends 917504 bytes a step, where --max-wire-bytes allows 500000" in said.err
    assert "1 collective: each device sends 917504 bytes a step, 458752 if all" in said.out
    made = tmp_path / "fp8.mlir"
    assert opt.main([EXAMPLE, "--fp8-quantize-collectives", "-o", str(made)]) == 0
    assert explain.main([str(made), "--wire", limit]) == 0
    assert "FP8: all_gather" in capsys.readouterr().out


def test_loops_calls_and_several_operands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "loop.mlir"
    path.write_text(LOOP)
    rows = rows_of(capsys, str(path))["collectives"]
    sends = [(row["op"], row["times"], row["bytes"], row["group"]) for row in rows]
    sums = ("all_reduce", 0, 128, "2 groups of 2 replicas")
    assert sends == [sums, sums, ("collective_permute", 6, 6 * 128, "2 pairs")]


def test_what_keeps_a_collective_wide(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "largest.mlir"
    path.write_text(LOOP.replace("stablehlo.add %a", "stablehlo.maximum %a"))
    first, *_ = rows_of(capsys, str(path))["collectives"]
    assert first["reason"] == "combines by maximum, which is no sum"
    assert first["fp8_bytes"] == first["bytes"] and first["edit"].startswith("none")


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["--max-wire-bytes=3"], "--max-wire-bytes goes with --wire"),
        (["--wire", "--max-wire-bytes=-1"], "--max-wire-bytes=-1: it is a number from 0 up"),
        (["--wire", "--lint"], "--lint goes without --wire"),
        (["--wire", "--require-fused"], "--require-fused goes without --wire"),
    ],
)
def test_options_that_do_not_go_together(
    capsys: pytest.CaptureFixture[str], argv: list[str], reason: str
) -> None:
    assert explain.main([EXAMPLE, *argv]) == 1
    assert reason in capsys.readouterr().err


def test_what_xla_makes_of_shardings(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("jax")
    path = tmp_path / "jit.mlir"
    path.write_text("""module attributes {mhlo.num_partitions = 4 : i32} {
      sdy.mesh @mesh = <["x"=2, "y"=2]>
      func.func @main(%x: tensor<64x64xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                      %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
          -> (tensor<64x64xbf16>,
              tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
        %0 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<64x64xbf16>
        %1 = stablehlo.negate %0 : tensor<64x64xbf16>
        %2 = stablehlo.negate %w : tensor<64x32xf32>
        return %1, %2 : tensor<64x64xbf16>, tensor<64x32xf32>
      }
    }""")
    written = rows_of(capsys, str(path))
    assert written["stage"] == "written" and written["bytes"] == 64 * 64 * 2 * 3 // 4
    made = rows_of(capsys, str(path), "--optimized")
    assert made["stage"] == "partitioned"
    of_bf16 = [row for row in made["collectives"] if "bf16" in row["operand"]]
    others = [row for row in made["collectives"] if row not in of_bf16]
    assert sum(row["bytes"] for row in of_bf16) == written["bytes"]
    assert others and all("constrain what it moves" in row["edit"] for row in others)
    one = tmp_path / "one.mlir"
    one.write_text("func.func @main() { return }")
    assert explain.main([str(one), "--wire", "--optimized"]) == 1
    assert "is for one device" in capsys.readouterr().err
