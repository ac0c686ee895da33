"""`--split-input-file`: one file, several modules, with a marker line between them."""

from mlir_fp8.base.source_place import Place
from mlir_fp8.tools._diagnostics import Report, print_report

DEFAULT_MARKER = "// -----"
_BINARY = (b"ML\xefR", b"PK\x03\x04")  # bytecode, .pt2


def split_chunks(name: str, data: bytes, marker: str | None) -> list[bytes]:
    """The parts of `data` between marker lines, padded so that their line numbers stay true."""
    if marker is None or data.startswith(_BINARY):
        return [data]
    marker_line = marker.strip().encode()
    near_miss = marker_line[:-2]
    chunks: list[bytes] = []
    start = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        if line.strip() == marker_line:
            chunks.append(_padded(lines[start:number], start))
            start = number + 1
        elif near_miss and line.strip().startswith(near_miss):
            place = Place(name, number + 1, 1)
            print_report(Report("warning", place, "near miss with file split marker"))
    chunks.append(_padded(lines[start:], start))
    # As in MLIR, nothing between two markers is no chunk; nothing at all is an empty file.
    return [chunk for chunk in chunks if chunk.strip()] or [data]


def _padded(lines: list[bytes], above: int) -> bytes:
    return b"\n" * above + b"\n".join(lines)
