"""Object files and assembly, for this processor or another, by llvmlite's LLVM."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as binding

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.isolation import CrashError, call_isolated
from mlir_fp8.lowering.kernels.products.arm_tiles import BFMMLA, FDOT, probe
from mlir_fp8.lowering.kernels.vector_code.target import host_target
from mlir_fp8.lowering.rewriting.older_literals import in_older_words

_ASKING = "amx-bf16-if-permitted"
_KERNELS = {
    **dict.fromkeys(("sapphirerapids", "emeraldrapids", "graniterapids"), _ASKING),
    **dict.fromkeys(("znver4", "znver5"), "avx512-bf16"),
    **dict.fromkeys(("x86-64-v4", "skylake-avx512"), "avx512"),
    **dict.fromkeys(("cascadelake", "cooperlake"), "avx512-vnni"),
    **dict.fromkeys(("icelake-client", "icelake-server", "tigerlake"), "avx512-vbmi"),
    **dict.fromkeys(("x86-64-v3", "haswell", "broadwell", "skylake"), "avx2"),
    **dict.fromkeys(("alderlake", "raptorlake", "sierraforest"), "avx2-vnni"),
    **dict.fromkeys(("znver1", "znver2", "znver3"), "zen"),
}
"""Targets of `linalg-contract-to-kernels` by LLVM's names of processors of x86-64."""
_OF_ARM = {"neon-fp8": FDOT, "neon-bf16": BFMMLA}
"""Those of Arm that have an instruction which not every processor has, and its intrinsic."""
_FP8 = "+fp8dot4"
"""The feature that is asked for by name, as code that uses it was never run."""


@dataclass(frozen=True)
class Target:
    """What code is made for, in the words of LLVM's `llc`; by default this machine.

    `march` takes the place of the first part of `mtriple`. The processor is the host's where the
    architecture is, else its most general one.
    """

    mtriple: str | None = None
    march: str | None = None
    mcpu: str | None = None
    mattr: str | None = None

    @property
    def triple(self) -> str:
        host = binding.get_process_triple()
        triple = self.mtriple or host
        return "-".join([self.march, *triple.split("-")[1:]]) if self.march else triple

    @property
    def is_host(self) -> bool:
        return self.triple == binding.get_process_triple()

    @property
    def kernels(self) -> str:
        """The target of `linalg-contract-to-kernels`: the host's, or that of a processor's name."""
        if self.is_host and self.mcpu in (None, "native") and self.mattr is None:
            name = host_target().name
            return _ASKING if name == "amx-bf16" else name
        if self.triple.startswith(("aarch64_be", "arm64_be")):
            return "neon"
        if self.triple.startswith(("aarch64", "arm64")):
            asked = self._features
            # Armv9.2, which FP8 takes, has bf16 too.
            is_asked = _FP8 in asked and "-bf16" not in asked
            names = [each for each in _OF_ARM if each != "neon-fp8" or is_asked]
            return next((each for each in names if self._has(_OF_ARM[each])), "neon")
        is_known = self.triple.startswith("x86_64") and self.mattr is None
        return _KERNELS.get(self.mcpu or "", "baseline") if is_known else "baseline"

    @property
    def _features(self) -> list[str]:
        """Those of `mattr`; LLVM crashes on spaces between them."""
        return [each.strip() for each in (self.mattr or "").split(",") if each.strip()]

    def _has(self, intrinsic: str) -> bool:
        """Whether LLVM has an instruction of this processor for one of `arm_tiles.INTRINSICS`."""
        machine = self.machine(0)

        def work() -> bytes:
            return _said(lambda: machine.emit_assembly(binding.parse_assembly(probe(intrinsic))))

        try:
            call_isolated(work, seconds=60.0)
        except CrashError:
            return False
        return True

    def machine(self, opt_level: int) -> Any:
        """llvmlite's TargetMachine, for position-independent code; `Fp8Error` for what LLVM
        lacks."""
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        triple = self.triple
        try:
            target = binding.Target.from_triple(triple)
        except RuntimeError:
            raise Fp8Error(f"LLVM has no target for '{triple}'") from None
        cpu, features = self.mcpu or "", ",".join(self._features)
        if self.mcpu == "native" or (self.mcpu is None and self.is_host):
            if not self.is_host:
                raise Fp8Error(f"--mcpu=native is of this machine, not of {triple}")
            cpu = binding.get_host_cpu_name()
            host = binding.get_host_cpu_features().flatten()
            features = ",".join(part for part in (host, features) if part)
        else:
            _check_names(target, triple, cpu, features)
        if self.is_host:
            _check_names(target, triple, "", ",".join(self._features))
        return target.create_target_machine(
            cpu, features, opt=opt_level, reloc="pic", codemodel="default"
        )


def emit(ir_text: str, kind: str, target: Target, opt_level: int) -> bytes:
    """`ir_text` optimized and compiled, as an object file (`obj`) or assembly (`asm`)."""
    machine = target.machine(opt_level)

    def work() -> bytes:
        try:
            module = binding.parse_assembly(in_older_words(ir_text))
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            raise Fp8Error(f"llvmlite's LLVM does not read this module: {reason}") from None
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        tuning = binding.create_pipeline_tuning_options(speed_level=opt_level)
        # As in compiled modules: it narrows `smin(smax(x, 0), 1)` wrongly.
        tuning.slp_vectorization = False
        tuning.loop_vectorization = True
        builder = binding.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        return (
            machine.emit_assembly(module).encode() if kind == "asm" else machine.emit_object(module)
        )

    try:
        return call_isolated(work, seconds=600.0)
    except CrashError as error:
        raise Fp8Error(f"LLVM cannot compile this module for {target.triple}: {error}") from None


def _check_names(target: Any, triple: str, cpu: str, features: str) -> None:
    """LLVM only warns of processors and features that it does not know."""
    wanted = features.split(",") if features else []
    for feature in wanted:
        if feature[0] not in "+-":
            raise Fp8Error(f"--mattr={feature}: a feature starts with + or -")
    if not cpu and not wanted:
        return
    warnings = call_isolated(
        lambda: _said(lambda: target.create_target_machine(cpu, features, opt=0)), seconds=60.0
    ).decode(errors="replace")
    for line in warnings.splitlines():
        if "not a recognized" in line:
            flag = "--mattr" if "feature" in line else "--mcpu"
            known = line.split(" for this target")[0]
            raise Fp8Error(f"{flag}: {known} of {triple}")


def _said(work: Any) -> bytes:
    """What native code writes to stderr meanwhile; to be called in a process of its own."""
    with tempfile.TemporaryFile() as file, _stderr_to(file.fileno()):
        work()
        file.seek(0)
        return file.read()


@contextlib.contextmanager
def _stderr_to(descriptor: int) -> Iterator[None]:
    before = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
