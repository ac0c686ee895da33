"""The table that decompositions in PyTorch's own ops enter themselves into."""

from collections.abc import Callable
from typing import Any

DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {}
"""By op; they take precedence over torch-mlir's and PyTorch's."""


def decomposes(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let the decorated function be what `ops` become; NotImplemented leaves them as
    they are. An op that this PyTorch has not is None."""

    def register(decomposition: Callable[..., Any]) -> Callable[..., Any]:
        given = [op for op in ops if op is not None]
        assert DECOMPOSITIONS.keys().isdisjoint(given), f"{given} have a decomposition already"
        DECOMPOSITIONS.update(dict.fromkeys(given, decomposition))
        return decomposition

    return register
