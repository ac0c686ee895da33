"""What ours is measured beside, where it is installed."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

PEERS = {
    "numpy": ("numpy",),
    "ml_dtypes": ("ml_dtypes",),
    "torch": ("torch",),
    "inductor": ("torch",),
    "xla": ("jax",),
    "iree": ("iree.compiler", "iree.runtime"),
}
"""Each peer's packages, by the name that users type."""


def module(name: str) -> Any:
    """The module `name`. Not by statement: type checkers ask for what those import."""
    return import_module(name)


def missing(names: Iterable[str]) -> list[str]:
    """Those whose packages are not installed."""
    return [name for name in names if not all(map(_is_installed, PEERS[name]))]


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a package whose parent is not there
        return False
