"""What upstream's inliner crashes on is refused before it, wherever a pass of ours inlines."""

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.passes.pass_pipeline import run_pipeline

REGIONS = ['%0 = "x.z"() : () -> i32', '"x.z"() : () -> ()', "", "^bb0:", '"x.q"() ({}) : () -> ()']
PASSES = ["fp8-fuse-scaled-dot", "fp8-remove-quantizers", "fp8-quantize-dots", "fp8-quantize-ops"]


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("name", [*PASSES, "verify-convertible"])
def test_unregistered_regions_are_refused(name: str, region: str) -> None:
    text = f"""func.func private @g(%a: tensor<2xf32>) -> tensor<2xf32> {{
      "x.y"() ({{ {region} }}) : () -> ()
      return %a : tensor<2xf32>
    }}
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
      %0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }}"""
    module = ir.Module.parse(text, make_context(allow_unregistered_dialects=True))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"2:7: 'x.y' is unregistered and has regions"):
        run_pipeline(module, [name])


@pytest.mark.parametrize("name", PASSES)
def test_unregistered_ops_without_regions_are_kept(name: str) -> None:
    text = """func.func private @g(%a: tensor<2xf32>) -> tensor<2xf32> {
      "x.y"(%a) : (tensor<2xf32>) -> ()
      return %a : tensor<2xf32>
    }
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    module = ir.Module.parse(text, make_context(allow_unregistered_dialects=True))
    run_pipeline(module, [name])
    assert '"x.y"(%arg0)' in str(module)
