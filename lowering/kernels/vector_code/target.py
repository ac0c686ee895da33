"""The vector ISAs that kernels are emitted for, and their register tiles."""

import ctypes
import functools
import platform
from dataclasses import dataclass, replace
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error

_ZEN = 23
"""AMD's number of the first family whose arithmetic takes subnormal numbers as any others."""
# Of Linux on x86-64: Documentation/arch/x86/xstate.rst.
ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA = 158, 0x1023, 18
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
    """Vectors in a row of the tile."""
    depth: int = 512
    """How much of the sum a block has: a panel of the right operand stays in the cache."""
    fma: bool = True
    half_converts: bool = True
    """Whether one instruction converts f16 vectors to f32 (F16C)."""
    fast_subnormals: bool = False
    """Whether arithmetic on subnormal f32 numbers has no penalty, on x86."""
    pair_dots: bool = False
    """Whether there is `x86.avx512.dot` of bf16 pairs."""
    byte_tables: bool = False
    """Whether bytes are looked up in tables of 128 by one instruction, `vpermi2b`."""
    byte_dots: bool = False
    """Whether there is `vpdpbusd`, which adds up products of four bytes (VNNI)."""
    tiles: bool = False
    """Whether products of bf16 pairs are those of AMX, of 16 rows and 16 columns each."""
    mmla: bool = False
    """Whether `bfmmla` multiplies two rows by two columns of four bf16 numbers each."""
    code_dots: bool = False
    """Whether `fdot` adds up four products of codes (FEAT_FP8DOT4)."""
    asks: bool = False
    """Whether the code itself asks for AMX, and does without where it is refused."""

    @property
    def columns(self) -> int:
        return self.lanes * self.vectors

    @property
    def summary(self) -> str:
        """What products are made of, in a line."""
        vectors = f"{self.rows} by {self.vectors} vectors of {self.lanes} f32"
        if self.tiles:
            return f"f8 and bf16 in tiles of AMX, all else in register tiles of {vectors}"
        if self.pair_dots:
            return f"register tiles of {vectors}; f8 by f8 in pairs of bf16"
        if self.code_dots:
            return f"register tiles of {vectors}; codes of f8E4M3FN and f8E5M2 by fdot"
        if self.mmla:
            return f"register tiles of {vectors}; f8 and bf16 by bfmmla"
        return f"register tiles of {vectors}"


_AVX512 = KernelTarget("avx512", lanes=16, registers=32, rows=6, vectors=4)
_AVX512_VNNI = replace(_AVX512, name="avx512-vnni", byte_dots=True)
_AVX512_VBMI = replace(_AVX512_VNNI, name="avx512-vbmi", byte_tables=True)
_AVX512_BF16 = replace(_AVX512_VBMI, name="avx512-bf16", rows=12, vectors=2, pair_dots=True)
_AMX = replace(_AVX512_VBMI, name="amx-bf16", pair_dots=True, tiles=True)
_AVX2 = KernelTarget("avx2", lanes=8, registers=16, rows=6, vectors=2)
_NEON = KernelTarget("neon", lanes=4, registers=32, rows=8, vectors=2)
TARGETS = {
    target.name: target
    for target in (
        _AMX,
        # For libraries, which no Python asks for.
        replace(_AMX, name="amx-bf16-if-permitted", asks=True),
        _AVX512_BF16,
        _AVX512_VBMI,
        _AVX512_VNNI,
        _AVX512,
        replace(_AVX2, name="avx2-vnni", byte_dots=True),
        _AVX2,
        replace(_AVX2, name="zen", fast_subnormals=True),
        # No processor gets it unasked: it was never run.
        replace(_NEON, name="neon-fp8", mmla=True, code_dots=True),
        replace(_NEON, name="neon-bf16", mmla=True),
        _NEON,
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
        return TARGETS["neon-bf16" if "bf16" in processor_features() else "neon"]
    facts, flags = _facts(), processor_features()
    if not {"avx2", "fma", "f16c"} <= flags:
        return TARGETS["baseline"]
    if not {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        is_zen = facts.get("vendor_id") == "AuthenticAMD" and int(facts["cpu family"]) >= _ZEN
        if is_zen:
            return TARGETS["zen"]
        return TARGETS["avx2-vnni" if "avx_vnni" in flags else "avx2"]
    if "avx512_vnni" not in flags:
        return TARGETS["avx512"]
    if "avx512vbmi" not in flags:
        return TARGETS["avx512-vnni"]
    if {"amx_tile", "amx_bf16", "amx_int8", "avx512_bf16"} <= flags and permits_tiles():
        return TARGETS["amx-bf16"]
    # Intel's `vdpbf16ps` takes two cycles, in which two FMA of f32 do as much each.
    is_amd = facts.get("vendor_id") == "AuthenticAMD"
    return TARGETS["avx512-bf16" if is_amd and "avx512_bf16" in flags else "avx512-vbmi"]


def permits_tiles() -> bool:
    """Ask Linux to let this process use the registers of AMX, and its threads and children."""
    return ctypes.CDLL(None).syscall(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) == 0


def processor_features() -> set[str]:
    """Linux's names of what the processor has."""
    facts = _facts()
    return set(facts.get("flags", facts.get("Features", "")).split())


def processor_name() -> str:
    """As it calls itself."""
    return _facts().get("model name", platform.processor() or platform.machine())


@functools.cache
def _facts() -> dict[str, str]:
    """What Linux tells of the first processor."""
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
