"""LLVM IR text of a module in the LLVM dialect."""

from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirDialectsLLVM

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.lowering.stablehlo_to_linalg.verify_lowered import VerifyLowered


def llvm_ir(module: ir.Module) -> str:
    """Translate `module`; an op of another dialect is an `Fp8Error` that names it.

    The translation aborts on what it does not know, so it runs in a child process.
    """
    try:
        VerifyLowered(to="llvm").run(module.operation)
    except Fp8Error as error:
        raise Fp8Error(f"{error}: run fp8-opt --lower-to-llvm-pipeline first") from None

    def work() -> bytes:
        return _mlirDialectsLLVM.translate_module_to_llvmir(module.operation).encode()

    try:
        return call_isolated(work, seconds=60.0).decode()
    except CrashError as error:
        raise Fp8Error(f"this module cannot be translated to LLVM IR: {error}") from None
