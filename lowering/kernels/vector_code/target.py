"""The vector ISAs that kernels are emitted for, and their register tiles."""

import functools
import platform
from dataclasses import dataclass
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error

_ZEN = 23
"""The first AMD family (Zen) whose arithmetic has no penalty for subnormals."""
HOST = "host"
"""The name for this processor's ISA."""


@dataclass(frozen=True)
class KernelTarget:
    """A vector ISA, and the register tile that was measured to be fastest on it."""

    name: str
    lanes: int
    """f32 lanes of a vector."""
    registers: int
    """Vector registers."""
    rows: int
    """Rows of the register tile."""
    vectors: int
    """Vectors in a row of the register tile."""
    fma: bool = True
    half_converts: bool = True
    """Whether one instruction converts f16 vectors to f32 (F16C)."""
    fast_subnormals: bool = False
    """Whether arithmetic on subnormal f32 numbers has no penalty, on x86."""
    pair_dots: bool = False
    """Whether the ISA has `x86.avx512.dot`, the dot product of bf16 pairs."""

    @property
    def columns(self) -> int:
        return self.lanes * self.vectors


TARGETS = {
    target.name: target
    for target in (
        KernelTarget("avx512-bf16", lanes=16, registers=32, rows=12, vectors=2, pair_dots=True),
        KernelTarget("avx512", lanes=16, registers=32, rows=12, vectors=2),
        KernelTarget("avx2", lanes=8, registers=16, rows=6, vectors=2),
        KernelTarget("zen", lanes=8, registers=16, rows=6, vectors=2, fast_subnormals=True),
        KernelTarget("neon", lanes=4, registers=32, rows=8, vectors=2),
        # No FMA: without the instruction LLVM would call the C library.
        KernelTarget(
            "baseline", lanes=4, registers=16, rows=4, vectors=2, fma=False, half_converts=False
        ),
    )
}


@functools.cache
def host_target() -> KernelTarget:
    """The best target that this processor supports."""
    if platform.machine() in ("aarch64", "arm64"):
        return TARGETS["neon"]
    facts = _x86_facts()
    flags = set(facts.get("flags", "").split())
    if not {"avx2", "fma", "f16c"} <= flags:
        return TARGETS["baseline"]
    if not {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        is_zen = facts.get("vendor_id") == "AuthenticAMD" and int(facts["cpu family"]) >= _ZEN
        return TARGETS["zen" if is_zen else "avx2"]
    return TARGETS["avx512-bf16" if "avx512_bf16" in flags else "avx512"]


def _x86_facts() -> dict[str, str]:
    """The fields of the first processor in /proc/cpuinfo."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return {}
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def target_named(name: str) -> KernelTarget:
    """The entry of `TARGETS`, or this processor's for `host`."""
    if name == HOST:
        return host_target()
    if name not in TARGETS:
        known = ", ".join([HOST, *TARGETS])
        raise Fp8Error(f"there is no target '{name}' (targets: {known})")
    return TARGETS[name]
