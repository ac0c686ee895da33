"""`fp8-kernels-for-xla-gpu{cubin=ptxas}`: kernels that the driver has nothing to compile of."""

import pytest
from test_products_in_modules import dot, parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu import fp8_kernels_for_xla_gpu as kernels
from mlir_fp8.lowering.gpu.ptx.assembler import assembler, cubin_of

TEXT = dot(["40x64xf8E4M3FN", "72x64xf8E4M3FN"], "40x72xf32", "")


def _config(module: ir.Module) -> ir.DictAttr:
    (call,) = operations(module.operation, "stablehlo.custom_call")
    return ir.DictAttr(call.attributes["backend_config"])


def _with_kernel() -> ir.Module:
    module = parsed(TEXT)
    pass_ = kernels.Fp8KernelsForXlaGpu(products=True, remarks=True, cubin="ptxas")
    pass_.run(module.operation)
    return module


def test_kernels_are_images_also_in_artifacts() -> None:
    """XLA knows the type "ptx" alone, and hands what it holds to the driver as it is."""
    if assembler() is None:
        pytest.skip("ptxas is not installed: pip install nvidia-cuda-nvcc")
    config = _config(_with_kernel())
    data = ir.StringAttr(config["kernel_data"]).value_bytes
    assert data.startswith(b"\x7fELF") and b"\0product\0" in data
    assert ir.StringAttr(config["kernel_type"]).value == "ptx"
    again = mlir_fp8.deserialize(mlir_fp8.serialize(_with_kernel()))
    assert ir.StringAttr(_config(again)["kernel_data"]).value_bytes == data


def test_without_the_assembler_they_are_ptx(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "assembler", lambda: None)
    assert ".entry product" in ir.StringAttr(_config(_with_kernel())["kernel_data"]).value
    assert "remark: ptxas is not installed: kernels are PTX" in capsys.readouterr().err


def test_refusals() -> None:
    with pytest.raises(Fp8Error, match="option 'cubin' is ptxas, not 'nvcc'"):
        kernels.Fp8KernelsForXlaGpu(cubin="nvcc").run(parsed(TEXT).operation)
    with pytest.raises(Fp8Error, match="/none/ptxas does not assemble: "):
        cubin_of("", "sm_90a", "/none/ptxas")
    if (command := assembler()) is not None:
        with pytest.raises(Fp8Error, match="does not assemble for sm_90a: ptxas"):
            cubin_of("no ptx", "sm_90a", command)
