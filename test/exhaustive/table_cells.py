"""What a cell of a table says of counts that an exhaustive run recorded."""

import re
from typing import Any

Row = dict[str, Any]
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_FEW = 3
_SIX_BITS = {"f6E2M3FN", "f6E3M2FN"}


class Footnotes:
    """Reasons, numbered in the order in which cells ask for them."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def mark(self, reason: str) -> str:
        if reason not in self._reasons:
            self._reasons.append(reason)
        return str(self._reasons.index(reason) + 1).translate(_DIGITS)

    def text(self) -> str:
        lines = (f"{self.mark(reason)} {reason}" for reason in self._reasons)
        return "  \n".join(lines) or "Nothing is refused."


def outcome(row: Row, notes: Footnotes) -> str:
    """Exact, by how much not, or refused, with the reason in a footnote."""
    if "refused" in row:
        return f"refused{notes.mark(_general(row['refused']))}"
    if row["wrong"]:
        return _difference([row])
    if row.get("no_code"):
        return f"exact{notes.mark('a result that is NaN, which the format lacks, is a zero')}"
    return "exact"


def _general(refusal: str) -> str:
    """A refusal without the names of its op and its format."""
    text = re.sub(r"^'[\w.]+' ", "", refusal)
    return re.sub(r"\bf[468]E\w+", "the format", text)


def _difference(rows: list[Row]) -> str:
    wrong, cases = (sum(row[key] for row in rows) for key in ("wrong", "cases"))
    ulp = max(row.get("max_ulp", 0) for row in rows)
    not_numbers = sum(row.get("nan", 0) for row in rows)
    # Neither where results are not numbers, or only a zero's sign is wrong.
    kinds = [f"≤ {ulp} ULP"] if ulp else []
    kinds += [f"NaN in {not_numbers}"] if not_numbers else []
    share = f"{wrong:,} of {cases:,}"
    return f"{', '.join(kinds)} ({share})" if kinds else share


def agreement(rows: dict[str, Row]) -> str:
    """Of one judge over all types: where it agrees, differs and refuses, and how much."""
    refused = [name for name, row in rows.items() if "refused" in row]
    differs = [name for name, row in rows.items() if row.get("wrong")]
    rest = len(rows) - len(refused) - len(differs)
    parts = []
    if rest:
        parts.append("agrees" if rest == len(rows) else f"agrees in {rest}")
    if differs:
        counts = _difference([rows[name] for name in differs])
        parts.append(f"differs in {_listed(differs, len(rows))}: {counts}")
    if refused:
        parts.append(f"refuses {_listed(refused, len(rows))}")
    return "; ".join(parts)


def _listed(names: list[str], count: int) -> str:
    if len(names) == count:
        return "all"
    if set(names) == _SIX_BITS:
        return "f6"
    return ", ".join(names) if len(names) <= _FEW else f"{len(names)}"


def casts_cell(rows: list[dict[str, Row]]) -> str:
    """Native code, saturating and not, to all types of a group."""
    if not rows:
        return "no rounding"
    counts = [row[mode] for row in rows for mode in ("llvm", "saturating") if mode in row]
    if any("refused" in row for row in counts):
        return "refused"
    wrong = [row for row in counts if row["wrong"]]
    return f"wrong: {_difference(wrong)}" if wrong else "exact"
