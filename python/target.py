"""`python -m mlir_fp8.target`: what this processor has, and which kernels are made for it."""

from mlir_fp8.lowering.kernels.vector_code.target import (
    TARGETS,
    host_target,
    processor_features,
    processor_name,
)

_TOLD = ("avx2", "fma", "f16c", "avx512", "amx", "asimd", "bf16", "sve", "f8", "fpmr")
"""What the features begin or end with that kernels may use."""


def target_text() -> str:
    """The processor, its features, and the target of `linalg-contract-to-kernels`."""
    target = host_target()
    features = sorted(
        each for each in processor_features() if each.startswith(_TOLD) or each.endswith(_TOLD)
    )
    lines = [
        f"processor: {processor_name()}",
        f"features:  {' '.join(features) or 'none that kernels use'}",
        f"kernels:   {target.name}",
        f"           {target.summary}",
        f"others:    {', '.join(each for each in TARGETS if each != target.name)}",
    ]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    print(target_text(), end="")
