"""`python -m mlir_fp8.target`."""

import subprocess
import sys

import pytest

from mlir_fp8.lowering.kernels.vector_code import target
from mlir_fp8.target import target_text


def test_the_kernels_of_this_processor_are_named() -> None:
    command = [sys.executable, "-m", "mlir_fp8.target"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed == target_text()
    assert f"kernels:   {target.host_target().name}\n" in printed


@pytest.mark.parametrize(
    ("vendor", "flags", "name"),
    [
        ("GenuineIntel", "sse2", "baseline"),
        ("GenuineIntel", "avx2 fma f16c", "avx2"),
        ("AuthenticAMD", "avx2 fma f16c", "zen"),
        ("GenuineIntel", "avx2 fma f16c avx512f avx512bw avx512dq avx512vl", "avx512"),
        ("GenuineIntel", "avx2 fma f16c avx_vnni", "avx2-vnni"),
        ("AuthenticAMD", "avx2 fma f16c avx_vnni", "zen"),
        ("GenuineIntel", "avx512 avx512vbmi", "avx512"),
        ("GenuineIntel", "avx512 avx512_vnni", "avx512-vnni"),
        ("GenuineIntel", "avx512 avx512_vnni avx512vbmi", "avx512-vbmi"),
        ("AuthenticAMD", "avx512 avx512_vnni avx512vbmi", "avx512-vbmi"),
        ("GenuineIntel", "avx512 avx512_vnni avx512_bf16 avx512vbmi", "avx512-vbmi"),
        ("AuthenticAMD", "avx512 avx512_vnni avx512_bf16 avx512vbmi", "avx512-bf16"),
        (
            "GenuineIntel",
            "avx512 avx512_vnni avx512_bf16 avx512vbmi amx_tile amx_bf16 amx_int8",
            "amx-bf16",
        ),
    ],
)
def test_targets_by_features(
    monkeypatch: pytest.MonkeyPatch, vendor: str, flags: str, name: str
) -> None:
    wide = "avx2 fma f16c avx512f avx512bw avx512dq avx512vl"
    facts = {"vendor_id": vendor, "cpu family": "25", "flags": flags.replace("avx512 ", f"{wide} ")}
    monkeypatch.setattr(target, "_facts", lambda: facts)
    monkeypatch.setattr(target.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(target, "permits_tiles", lambda: True)
    assert target.host_target.__wrapped__().name == name


@pytest.mark.parametrize(
    ("features", "name"),
    [
        ("fp asimd", "neon"),
        ("fp asimd i8mm bf16", "neon-bf16"),
        ("fp asimd bf16 f8fma f8dp4", "neon-bf16"),
    ],
)
def test_targets_by_features_of_arm(
    monkeypatch: pytest.MonkeyPatch, features: str, name: str
) -> None:
    monkeypatch.setattr(target, "_facts", lambda: {"Features": features})
    monkeypatch.setattr(target.platform, "machine", lambda: "aarch64")
    assert target.host_target.__wrapped__().name == name


def test_what_arm_has_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    features = "fp asimd i8mm bf16 sve fpmr f8cvt f8fma f8dp4 f8e4m3 f8e5m2 dit"
    monkeypatch.setattr(target, "_facts", lambda: {"Features": features})
    told = "asimd bf16 f8cvt f8dp4 f8e4m3 f8e5m2 f8fma fpmr sve"
    assert f"features:  {told}\n" in target_text()
