"""The names that a model gives its results: keys of dicts, fields of dataclasses, `output_0`."""

from typing import Any

from torch.utils import _pytree as pytree


def result_names(spec: Any) -> tuple[str, ...]:
    """A name for each leaf of the pytree `spec`, no two the same.

    `logits`, `hidden_states.0` (a list in a dict), `output_1` (of a tuple), `output_0` (all there
    is). Where pytrees do not tell their keys, or keys are spelled alike, leaves are counted.
    """
    try:
        tree = pytree.tree_unflatten([*range(spec.num_leaves)], spec)
        names = [_name(path) for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    except Exception:  # of a class that is registered without keys, or that checks its leaves
        names = []
    if len({*names}) != spec.num_leaves:
        names = [f"output_{i}" for i in range(spec.num_leaves)]
    return tuple(names)


def _name(path: Any) -> str:
    parts = [*map(_part, path)]
    if not parts or isinstance(path[0], pytree.SequenceKey):
        parts = [f"output_{parts[0] if parts else 0}", *parts[1:]]
    return ".".join(parts)


def _part(key: Any) -> str:
    for field in ("idx", "key", "name"):
        if hasattr(key, field):
            return str(getattr(key, field))
    return str(key)
