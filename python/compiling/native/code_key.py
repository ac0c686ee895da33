"""The cache key of machine code: everything that it depends on."""

import functools
import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from mlir_fp8 import dialects, lowering
from mlir_fp8.compiling.native.object_code import host
from mlir_fp8.lowering.kernels.products.choices_file import choices_text
from mlir_fp8.lowering.kernels.vector_code.target import host_target


def code_key(*parts: str | bytes) -> str:
    """The key of code made from `parts` by this version of the project, on this processor."""
    digest = hashlib.sha256()
    for part in (*_surroundings(), choices_text(), *parts):
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@functools.cache
def _surroundings() -> tuple[str, ...]:
    # Whoever finds code asks for the permission that it may need by naming the kernels' target.
    return (platform.machine(), sys.platform, host(), host_target().name, *_files())


def _files() -> Iterator[str]:
    """The project and the compiler, told by the size and time of their files: edits come between
    versions, and asking for a distribution's version takes longer."""
    folders = (Path(__file__).parents[2], *dialects.__path__, *lowering.__path__)
    roots = {Path(folder).resolve() for folder in folders}
    files = {
        Path(folder, name)
        for root in roots
        for folder, _, names in os.walk(root, followlinks=True)  # an import tree is all links
        for name in names
        if name.endswith(".py")
    }
    compiler = find_spec("torch_mlir")
    for folder in (compiler and compiler.submodule_search_locations) or ():
        files.update(Path(folder, "_mlir_libs").iterdir())
    for file in sorted(files):
        status = file.stat()
        yield f"{file.name} {status.st_size} {status.st_mtime_ns}"
