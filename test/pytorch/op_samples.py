"""Samples of PyTorch's table of ops, and what becomes of each as it is exported and called."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree
from torch_programs import Of

import mlir_fp8.torch

_LOOKED_AT = 60  # samples of which some are chosen
# Results that are random or left uninitialized are held to shape and dtype.
_UNSETTLED = ("rand", "bernoulli", "normal", "cauchy", "exponential", "geometric", "uniform")
_UNSETTLED += ("empty", "dropout", "multinomial", "rrelu", "fractional_max_pool", "resize_")
# Vectors that two LAPACKs give up to a factor of magnitude one: magnitudes are compared.
_UP_TO_SIGN = ("linalg.eigh", "svd_lowrank", "pca_lowrank")
# Places of equal numbers, of which eager takes any where no stable order is asked for: values are
# compared.
_OF_TIES = {
    "argsort": 0,
    "sort": 1,
    "topk": 1,
    "kthvalue": 1,
    "mode": 1,
    "median": 1,
    "nanmedian": 1,
}
# Vectors of equal singular values are any; test_torch_linalg.py multiplies them.
_OF_EQUAL_VALUES = ("svd", "linalg.svd")
_TOLERANCES = {
    torch.float64: 1e-9,
    torch.float32: 3e-5,
    torch.bfloat16: 2e-2,
    torch.complex64: 3e-5,
}


def sweep(
    names: str, dtypes: Sequence[str], count: int, part: tuple[int, int] = (0, 1)
) -> Iterator[tuple[str, str, str, str]]:
    """Op, dtype, outcome and word of each sample."""
    for op in op_db[part[0] :: part[1]]:
        full = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        if names and names not in full:
            continue
        for spelled in dtypes:
            dtype = getattr(torch, spelled)
            if dtype not in op.supported_dtypes("cpu"):
                continue
            torch.manual_seed(0)
            try:
                given = list(samples_of(op, dtype, count))
            except Exception as error:
                yield full, spelled, "no sample", _line(error)
                continue
            for call, tensors in given:
                yield full, spelled, *outcome(full, call, tensors)


def samples_of(op: Any, dtype: torch.dtype, count: int) -> Iterator[tuple[Any, list[Any]]]:
    """Functions of tensors alone, each with its tensors."""
    given = list(itertools.islice(op.sample_inputs("cpu", dtype), _LOOKED_AT))
    step = max(len(given) / count, 1)
    for sample in [given[int(i * step)] for i in range(min(count, len(given)))]:
        leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        places = [i for i, each in enumerate(leaves) if isinstance(each, torch.Tensor)]

        def call(
            *tensors: Any, leaves: Any = leaves, spec: Any = spec, places: Any = places
        ) -> Any:
            full = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                full[place] = tensor
            args, kwargs = pytree.tree_unflatten(full, spec)
            return op(*args, **kwargs)

        yield call, [leaves[i] for i in places]


def outcome(name: str, call: Any, tensors: list[Any]) -> tuple[str, str]:
    """What comes of one sample, and a word on it."""
    try:
        expected = pytree.tree_leaves(call(*[each.clone() for each in tensors]))
    except Exception as error:
        return "no sample", _line(error)
    try:
        module = mlir_fp8.torch.export(Of(call), tensors)
        got = pytree.tree_leaves(module(*[each.clone() for each in tensors]))
    except mlir_fp8.InternalError as error:
        return "failed", _line(error)
    except mlir_fp8.Fp8Error as error:
        kind = "not exported" if "torch.export cannot" in str(error) else "refused"
        return kind, _line(error)
    except Exception as error:
        return "failed", f"{type(error).__name__} {_line(error)}"
    try:
        _compare(name, got, expected, _in_f32(call, tensors))
    except AssertionError as error:
        return "differs", " ".join(str(error).split())[:300]
    return "agrees", ""


def _in_f32(call: Any, tensors: list[Any]) -> list[Any] | None:
    """Eager's results of the same numbers in f32, where they are bf16."""
    if not any(each.dtype == torch.bfloat16 for each in tensors):
        return None
    wide = [each.float() if each.dtype == torch.bfloat16 else each.clone() for each in tensors]
    try:
        return pytree.tree_leaves(call(*wide))
    except Exception:
        return None


def _compare(name: str, got: list[Any], expected: list[Any], wide: list[Any] | None) -> None:
    """Raise `AssertionError` where leaves differ."""
    assert len(got) == len(expected), f"{len(got)} results, not {len(expected)}"
    for place, (one, other) in enumerate(zip(got, expected, strict=True)):
        if not isinstance(other, torch.Tensor):
            assert one == other, f"{one} is not {other}"
            continue
        assert one.dtype == other.dtype, f"{one.dtype} is not {other.dtype}"
        assert one.shape == other.shape, f"{list(one.shape)} is not {list(other.shape)}"
        if any(each in name for each in _UNSETTLED):
            continue
        if name in _OF_TIES and place == _OF_TIES[name] and other.dtype == torch.int64:
            continue
        if name in _OF_EQUAL_VALUES and place != 1:
            continue
        if name in _UP_TO_SIGN:
            one, other = one.abs(), other.abs()
        limit = _TOLERANCES.get(other.dtype, 0.0)
        if (
            wide is not None
            and other.dtype == torch.bfloat16
            and _is_nearer(one, other, wide[place])
        ):
            continue
        torch.testing.assert_close(one, other, rtol=limit, atol=limit, equal_nan=True)


def _is_nearer(one: Any, other: Any, exact: Any) -> bool:
    """Whether `one` is as near to what f32 gives as eager's bf16: many ops of eager round more."""
    if not isinstance(exact, torch.Tensor) or exact.shape != one.shape or not exact.numel():
        return False
    finite = exact.isfinite()
    same = torch.equal(one[~finite].float().nan_to_num(7), other[~finite].float().nan_to_num(7))
    mine, eagers = ((each.float() - exact).abs()[finite] for each in (one, other))
    return same and not bool((mine > torch.maximum(eagers.max(), 8e-3 * exact.abs()[finite])).any())


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
