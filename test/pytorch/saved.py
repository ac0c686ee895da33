"""`.pt2` files for tests, good ones and damaged ones."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch


class Net(torch.nn.Module):
    """Two layers, of which one has sizes that no FP8 kernel takes, and a counter."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(64, 32, bias=False)
        self.rest = torch.nn.ModuleList([torch.nn.Linear(32, 20, bias=False)])
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Any) -> Any:
        self.count.add_(1)
        return self.rest[0](self.first(x).relu())


def save(path: Path, model: torch.nn.Module, *args: Any, **options: Any) -> None:
    """What `torch.export.save` writes of `model`."""
    torch.export.save(torch.export.export(model, args, **options), path)


def changed(
    data: bytes,
    change: Callable[[str, bytes], bytes | None],
    compression: int = zipfile.ZIP_STORED,
) -> bytes:
    """The archive with each entry, by its name in the archive, as `change` gives it, or without."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(written, "w", compression) as new,
    ):
        for name in old.namelist():
            entry = change(name.partition("/")[2], old.read(name))
            if entry is not None:
                new.writestr(name, entry)
    return written.getvalue()


def with_graph(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The archive with another program."""

    def entry(name: str, content: bytes) -> bytes:
        if name != "models/model.json":
            return content
        graph = json.loads(content)
        change(graph)
        return json.dumps(graph).encode()

    return changed(data, entry)
