"""What became of each collective, and how many bytes each device sends for it."""

from dataclasses import dataclass

from torch_mlir import ir


@dataclass(frozen=True)
class WireDecision:
    """One collective, or one reshard. `left` says why it stays wide, "" for one in FP8.

    `before` and `after` are bytes that each device sends, by `sent_bytes`; 0 where nobody knows.
    """

    name: str
    location: ir.Location
    signature: str
    format: str = ""
    scales: str = ""
    before: int = 0
    after: int = 0
    left: str = ""

    def __str__(self) -> str:
        if self.left:
            return f"'{self.name}' {self.signature} stays wide: it {self.left}"
        made = f"'{self.name}' {self.signature} is of {self.format}, {self.scales}"
        return f"{made}: each device sends {self.before} bytes before, {self.after} after"
