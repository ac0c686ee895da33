"""References in numpy for what no other judge can run."""

from collections.abc import Callable

import numpy as np
from sample_groups import Case

Results = tuple[np.ndarray, ...]
_REFERENCES: dict[str, Callable[[Case, list[np.ndarray]], Results]] = {}


def reference(case: Case, arrays: list[np.ndarray]) -> Results | None:
    """The results of a case by numpy, or None where there is no reference for its op."""
    found = _REFERENCES.get(case.sample.op)
    return None if found is None else found(case, arrays)
