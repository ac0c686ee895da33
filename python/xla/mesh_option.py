"""A mesh as users write it: `x=2,y=4`; imports no MLIR."""

import re

from mlir_fp8.base.errors import Fp8Error

_MESH = re.compile(r"[A-Za-z_]\w*=[1-9]\d*(,[A-Za-z_]\w*=[1-9]\d*)*", re.ASCII)


def parse_mesh(text: str) -> dict[str, int]:
    """`x=2,y=4` as the sizes of axes."""
    if not _MESH.fullmatch(text):
        raise Fp8Error(f"'{text}' is no mesh: give axes and their sizes, as in x=2,y=4")
    pairs = [axis.split("=") for axis in text.split(",")]
    if len({name for name, _ in pairs}) < len(pairs):
        raise Fp8Error(f"'{text}' has an axis twice")
    return {name: int(size) for name, size in pairs}
