"""What a refusal advises works."""

from pathlib import Path

import pytest

from mlir_fp8.tools import opt, translate

FUNCTION = "func.func @main(%a: tensor<4x{0}>) -> tensor<4x{0}>"
ERF = (
    FUNCTION + " {{ %0 = chlo.{1} %a : tensor<4x{0}> -> tensor<4x{0}> return %0 : tensor<4x{0}> }}"
)
FLAGS = '  llvm.module_flags [#llvm.mlir.module_flag<error, "wchar_size", 4 : i32>]\n'


def serialize(path: Path, *options: str) -> int:
    return translate.main(["--serialize", *options, str(path), "-o", f"{path}.bc"])


@pytest.mark.sampled(7)
@pytest.mark.parametrize("function", ["erf", "erfc", "bessel_i1e", "digamma", "acos", "square"])
@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2", "f6E2M3FN", "bf16"])
def test_legalizing_chlo_first(
    function: str, element: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, legalized = tmp_path / "m.mlir", tmp_path / "legalized.mlir"
    path.write_text(ERF.format(element, function))
    assert serialize(path) == 1
    said = capfd.readouterr().err
    advice = said.partition("legalize it first (fp8-opt ")[2].partition(")")[0]
    assert advice.endswith("--lower-to-stablehlo-pipeline")
    assert opt.main([*advice.split(), str(path), "-o", str(legalized)]) == 0
    assert serialize(legalized) == 0


SIZES = """func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %s = tensor.from_elements %n : tensor<1xindex>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xindex>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


def test_legalizing_sizes_first(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, legalized = tmp_path / "m.mlir", tmp_path / "legalized.mlir"
    path.write_text(SIZES)
    assert serialize(path) == 1
    assert "legalize it first (fp8-opt --legalize-sizes-to-stablehlo)" in capfd.readouterr().err
    arguments = ["--legalize-sizes-to-stablehlo", str(path), "-o", str(legalized)]
    assert opt.main(arguments) == 0
    assert serialize(legalized) == 0
    # The pass leaves arith alone where no shape is dynamic.
    path.write_text("func.func @main() -> f32 { %0 = arith.constant 1.0 : f32 return %0 : f32 }")
    assert serialize(path) == 1
    assert "remove it" in capfd.readouterr().err


def test_removing_what_is_no_stablehlo(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.mlir"
    body = FUNCTION.format("f32") + " { return %a : tensor<4xf32> }\n"
    path.write_text("module {\n" + FLAGS + body + "}\n")
    assert serialize(path) == 1
    message = ":2:3: error: 'llvm.module_flags' is not StableHLO: remove it, or write it as it is"
    assert message in capfd.readouterr().err
    assert serialize(path, "--allow-other-dialects") == 0
    path.write_text("module {\n" + body + "}\n")
    assert serialize(path) == 0


@pytest.mark.parametrize(
    ("element", "advice"),
    [
        ("f32", "math-expand-in-f64"),
        ("vector<4xf16>", "math-expand-in-f64"),
        ("vector<4xf64>", "use f64 scalars"),
        ("vector<4xbf16>", "use f64 scalars"),
    ],
)
def test_functions_that_are_no_calls(
    element: str, advice: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(
        f"func.func @f(%a: {element}) -> {element} {{ %0 = math.expm1 %a : {element} "
        f"return %0 : {element} }}\n"
    )
    assert opt.main(["--expm1-log1p-to-libm", str(path)]) == 1
    assert advice in capfd.readouterr().err
    expanded = opt.main(["--math-expand-in-f64", "--expm1-log1p-to-libm", str(path)])
    assert (expanded == 0) is (advice == "math-expand-in-f64")
