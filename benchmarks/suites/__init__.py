"""The suites: one file each, whose docstring says what its `cases` measure."""

from collections.abc import Callable, Iterator
from importlib import import_module

from benchmarks.cases import Case
from benchmarks.plan import Plan

SUITES = ("casts", "blocks", "products", "models", "modules", "functions", "compile",
          "first-result", "start-up", "artifacts", "pytorch", "inference", "devices")  # fmt: skip
GROWING = ("casts", "products")
"""Those that can show how time grows with size."""


def cases_of(suite: str) -> Callable[[Plan], Iterator[Case]]:
    """What yields the cases of a suite."""
    return import_module(_module(suite)).cases


def summary_of(suite: str) -> str:
    """One line."""
    return (import_module(_module(suite)).__doc__ or "").strip().splitlines()[0]


def _module(suite: str) -> str:
    return f"benchmarks.suites.{suite.replace('-', '_')}"
