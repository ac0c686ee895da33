"""Tensors that a call writes to: each element has to be one in memory, and no other argument's."""

from collections.abc import Iterable, Mapping

import torch

from mlir_fp8.base.errors import Fp8Error


def check_written(tensors: Mapping[str, torch.Tensor], written: Iterable[str]) -> None:
    """Refuse what eager would compute in another order: writes come after the call."""
    for name in written:
        tensor = tensors[name]
        if any(
            size > 1 and step == 0 for size, step in zip(tensor.shape, tensor.stride(), strict=True)
        ):
            raise Fp8Error(
                f"'{name}' is written, and several of its elements are one: give a clone"
            )
        for other, value in tensors.items():
            if other != name and _overlap(tensor, value):
                raise Fp8Error(f"'{name}' is written, and '{other}' has its memory: give a clone")


def _overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether what lies between their first and last elements does."""
    if one.numel() == 0 or other.numel() == 0:
        return False
    (start, end), (first, last) = _span(one), _span(other)
    return start < last and first < end


def _span(x: torch.Tensor) -> tuple[int, int]:
    steps = sum((size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True))
    return x.data_ptr(), x.data_ptr() + (steps + 1) * x.element_size()
