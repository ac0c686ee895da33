"""Reproducers, in MLIR's form: a module, and after it the pipeline that runs on it.

`mlir-opt --run-reproducer` takes what is written here, and `fp8-opt` what `mlir-opt` writes.
"""

import contextlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_fp8.base.errors import Fp8Error

if TYPE_CHECKING:
    from torch_mlir import ir

_STRING = r'"(?:[^"\\]|\\.)*"'
_ENTRY = re.compile(
    rf'mlir_reproducer\s*:\s*\{{(?P<options>(?:{_STRING}|[^"}}])*)\}}\s*,?', re.DOTALL
)
_PIPELINE = re.compile(rf"\bpipeline\s*:\s*(?P<quoted>{_STRING})", re.DOTALL)
_VERIFIES_NOT = re.compile(r"\bverify_each\s*:\s*false\b")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
_NAMED_ESCAPES = {b"n": b"\n", b"t": b"\t"}


@dataclass(frozen=True)
class Reproducer:
    """`source` is the text of the module, on the lines where the reproducer has it."""

    source: str
    pipeline: str
    verify_each: bool


def parse_reproducer(text: str, name: str) -> Reproducer:
    """The parts of a reproducer; `Fp8Error` where `text`, of the file `name`, is none."""
    entry = next(reversed(list(_ENTRY.finditer(text))), None)
    pipeline = entry and _PIPELINE.search(entry["options"])
    if not entry or not pipeline:
        raise Fp8Error(f"{name}: no reproducer: it has no mlir_reproducer with a pipeline")
    # MLIR would warn of an entry that it knows nothing of.
    source = text[: entry.start()] + text[entry.end() :]
    quoted = pipeline["quoted"][1:-1].encode()
    verifies = _VERIFIES_NOT.search(_PIPELINE.sub("", entry["options"])) is None
    return Reproducer(source, _ESCAPE.sub(_unescaped, quoted).decode(errors="replace"), verifies)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes([int(code, 16)]) if len(code) == 2 else _NAMED_ESCAPES.get(code, code)


def reproducer_text(source: str, pipeline: str, *, verify_each: bool = True) -> str:
    """`source`, MLIR text of a module, with the pipeline that is to run on it."""
    quoted = "".join(
        chr(c) if 32 <= c < 127 and chr(c) not in '"\\' else f"\\{c:02X}" for c in pipeline.encode()
    )
    return (
        f"{source.rstrip()}\n\n"
        "{-#\n"
        "  external_resources: {\n"
        "    mlir_reproducer: {\n"
        f'      pipeline: "{quoted}",\n'
        "      disable_threading: true,\n"
        f"      verify_each: {str(verify_each).lower()}\n"
        "    }\n"
        "  }\n"
        "#-}\n"
    )


def module_text(module: "ir.Operation") -> str:
    """The generic form: it prints invalid ops, and parses where an op's custom form does not."""
    return str(module.get_asm(print_generic_op_form=True, assume_verified=True))


def save(content: str | bytes, step: str) -> str:
    """Write a reproducer to a new file, and say so in words that follow an error's.

    It is in the current folder, or in the one for temporary files where that takes none.
    """
    data = content.encode() if isinstance(content, str) else content
    stem = re.sub(r"[^\w.-]+", "-", step).strip("-.") or "module"
    reason = ""
    for folder in ("", tempfile.gettempdir()):
        try:
            return f"reproducer written to {_written(Path(folder, f'reproducer-{stem}'), data)}"
        except OSError as error:
            reason = error.strerror or str(error)
    return f"no reproducer could be written: {reason}"


def _written(stem: Path, data: bytes) -> Path:
    """Nothing is overwritten: the first name is taken that no file has."""
    number = 1
    while True:
        path = stem.with_name(f"{stem.name}{'' if number == 1 else f'-{number}'}.mlir")
        try:
            file = path.open("xb")
        except FileExistsError:
            number += 1
            continue
        try:
            with file:
                file.write(data)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - also where `path` has become another's
            raise
        return path
