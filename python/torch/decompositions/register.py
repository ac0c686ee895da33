"""The table that decompositions in PyTorch's own ops enter themselves into."""

from collections.abc import Callable
from typing import Any

DECOMPOSITIONS: dict[Any, Callable[..., Any]] = {}
"""By op; they take precedence over torch-mlir's and PyTorch's."""


def decomposes(*ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let the decorated function be what `ops` become; NotImplemented leaves them as
    they are. An op that this PyTorch has not is None."""

    def register(decomposition: Callable[..., Any]) -> Callable[..., Any]:
        DECOMPOSITIONS.update({op: decomposition for op in ops if op is not None})
        return decomposition

    return register
