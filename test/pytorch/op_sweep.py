"""Every op that PyTorch has samples for, exported and held to eager.

`python test/pytorch/op_sweep.py` writes `OPS.json`: how many samples agree, are refused by name,
differ or fail, and of what is no agreement, which ops. PyTorch's own table of ops (`op_db`) gives
the samples; of each op and dtype, `--samples` of them, evenly chosen. Ops whose results are random
or left uninitialized are held to shape and dtype.
"""

import argparse
import itertools
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from programs import Of
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import mlir_fp8.torch

RESULTS = Path(__file__).parent / "OPS.json"
DTYPES = (torch.float32, torch.int64, torch.bool, torch.bfloat16)
_LOOKED_AT = 60  # samples of which some are chosen
_UNSETTLED = ("rand", "bernoulli", "normal", "cauchy", "exponential", "geometric", "uniform")
_UNSETTLED += ("empty", "dropout", "multinomial", "rrelu", "fractional_max_pool")
_TOLERANCES = {
    torch.float64: 1e-9,
    torch.float32: 3e-5,
    torch.bfloat16: 2e-2,
    torch.complex64: 3e-5,
}


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
        compare(got, expected, values=not any(each in name for each in _UNSETTLED))
    except AssertionError as error:
        return "differs", " ".join(str(error).split())[:300]
    return "agrees", ""


def compare(got: list[Any], expected: list[Any], *, values: bool) -> None:
    """Raise `AssertionError` where leaves differ."""
    assert len(got) == len(expected), f"{len(got)} results, not {len(expected)}"
    for one, other in zip(got, expected, strict=True):
        if not isinstance(other, torch.Tensor):
            assert one == other, f"{one} is not {other}"
            continue
        assert one.dtype == other.dtype, f"{one.dtype} is not {other.dtype}"
        assert one.shape == other.shape, f"{list(one.shape)} is not {list(other.shape)}"
        if values:
            limit = _TOLERANCES.get(other.dtype, 0.0)
            torch.testing.assert_close(one, other, rtol=limit, atol=limit, equal_nan=True)


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def sweep(names: str, dtypes: Any, count: int, part: tuple[int, int] = (0, 1)) -> Iterator[Any]:
    """Op, dtype, outcome and word of each sample."""
    for op in op_db[part[0] :: part[1]]:
        full = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        if names and names not in full:
            continue
        for dtype in dtypes:
            if dtype not in op.supported_dtypes("cpu"):
                continue
            torch.manual_seed(0)
            try:
                given = list(samples_of(op, dtype, count))
            except Exception as error:
                yield full, str(dtype), "no sample", _line(error)
                continue
            for call, tensors in given:
                yield full, str(dtype), *outcome(full, call, tensors)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--names", default="", help="only ops whose name holds this")
    parser.add_argument("--dtypes", default=",".join(str(d)[6:] for d in DTYPES))
    parser.add_argument("--part", default="0/1", help="every n-th op: i/n")
    parser.add_argument("-o", default=str(RESULTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first, step = map(int, options.part.split("/"))
    dtypes = [getattr(torch, each) for each in options.dtypes.split(",")]
    counts: Counter[str] = Counter()
    ops: dict[str, dict[str, str]] = {}
    for name, dtype, kind, word in sweep(options.names, dtypes, options.samples, (first, step)):
        counts[kind] += 1
        if kind not in ("agrees", "no sample"):
            print(f"{kind}\t{name}\t{dtype}\t{word}", flush=True)
            ops.setdefault(kind, {})[name] = word
    made = {"torch": torch.__version__, "samples": dict(sorted(counts.items())), "ops": ops}
    Path(options.o).write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    print(json.dumps(made["samples"]))


if __name__ == "__main__":
    main()
