"""PTX from modules of kernels in the LLVM dialect, by llvmlite's LLVM."""

import llvmlite.binding as binding
from torch_mlir import ir
from torch_mlir._mlir_libs import _mlirDialectsLLVM

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.lowering.gpu.gpu_module_to_functions import GpuModuleToFunctions
from mlir_fp8.lowering.gpu.ptx.chips import CHIPS, check_chip
from mlir_fp8.lowering.gpu.ptx.convergent import with_convergent_assembly
from mlir_fp8.lowering.gpu.ptx.passes import TO_NVVM
from mlir_fp8.lowering.rewriting.older_literals import in_older_words
from mlir_fp8.lowering.stablehlo_to_linalg.verify_lowered import VerifyLowered

_TRIPLE = "nvptx64-nvidia-cuda"
_SECONDS = 120.0


def ptx_of_functions(module: ir.Operation, chip: str) -> str:
    """PTX of a module in the LLVM and NVVM dialects, whose kernels are entries.

    `chip` is one of `CHIPS`. Raises `Fp8Error` for others, and for ops of other dialects. LLVM runs
    in a child process: it may end that on what it has no instruction for.
    """
    check_chip(chip)
    try:
        VerifyLowered(to="nvvm").run(module)
    except Fp8Error as error:
        raise Fp8Error(f"{error}: run fp8-opt --lower-to-nvvm-pipeline first") from None

    def work() -> bytes:
        return _compiled(_mlirDialectsLLVM.translate_module_to_llvmir(module), chip).encode()

    try:
        return call_isolated(work, seconds=_SECONDS).decode()
    except CrashError as error:
        raise Fp8Error(f"LLVM cannot compile this module for {chip}: {error}") from None


def ptx_of_kernel(text: str, chip: str, context: ir.Context) -> str:
    """PTX of a kernel that has no small floats, the text of a `gpu.func`."""
    from torch_mlir.passmanager import PassManager

    with context, ir.Location.unknown():
        module = ir.Module.parse(f"module {{ gpu.module @kernels {{\n{text}\n}} }}")
        PassManager.parse(f"builtin.module({TO_NVVM})").run(module.operation)
        GpuModuleToFunctions().run(module.operation)
        return ptx_of_functions(module.operation, chip)


def _compiled(ir_text: str, chip: str) -> str:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    try:
        module = binding.parse_assembly(with_convergent_assembly(in_older_words(ir_text)))
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise Fp8Error(f"llvmlite's LLVM does not read this module: {reason}") from None
    target = binding.Target.from_triple(_TRIPLE)
    machine = target.create_target_machine(cpu=chip, features=CHIPS[chip], opt=3)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    tuning = binding.create_pipeline_tuning_options(speed_level=3)
    # As for CPUs: it narrows `smin(smax(x, 0), 1)` wrongly.
    tuning.slp_vectorization = False
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_assembly(module)
