"""Shardings that a pass loses, although it keeps the op that had them in some form."""

import sys
from collections import Counter

from torch_mlir import ir

from mlir_fp8.base.context import format_location
from mlir_fp8.base.operations import operations
from mlir_fp8.base.shardings import read_sharding

Shardings = dict[str, tuple[ir.Location, str, Counter[str]]]
"""By its location: the place of an op, its name, and the shardings that are written there."""


def shardings_in(module: ir.Operation) -> Shardings:
    """What the ops of `module` say of their shardings."""
    found: Shardings = {}
    for op in operations(module):
        sharding = read_sharding(op.attributes)
        if sharding is not None:
            entry = found.setdefault(str(op.location), (op.location, op.name, Counter()))
            entry[2][str(sharding)] += 1
    return found


def tell_lost(before: Shardings, module: ir.Operation, name: str) -> None:
    """A remark on stderr for each sharding that is gone from a place where ops remain."""
    if not before:
        return
    after = shardings_in(module)
    remaining = {str(op.location) for op in operations(module)}
    for key, (location, op, shardings) in before.items():
        kept = after[key][2] if key in after else Counter[str]()
        if key in remaining and set(shardings) - set(kept):
            lost = ", ".join(sorted(set(shardings) - set(kept)))
            text = f"{name} does not keep the sharding {lost} of '{op}' on what it makes of it"
            print(f"{format_location(location)}: remark: {text}", file=sys.stderr)
