"""The files in which exhaustive runs record what they found: JSON, one line per row of a table."""

import json
import re
from pathlib import Path
from typing import Any


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def save(path: Path, data: dict[str, Any]) -> None:
    """Write `data`, whose first two levels get a line each."""
    blocks = []
    for key, value in data.items():
        lines = [f"{json.dumps(each)}: {json.dumps(row)}" for each, row in value.items()]
        blocks.append(f"{json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n}")
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def shortened(refusal: str) -> str:
    """A refusal without its place, and without the types at its end."""
    text = re.sub(r"^(XLA: )?(\S*:\d+:\d+: )+(error: )?", r"\1", refusal)
    return text.split(": %")[0][:160]
