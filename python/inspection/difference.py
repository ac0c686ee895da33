"""What differs between two inspected files, by the keys of their inspections."""

from collections.abc import Mapping
from typing import Any

from mlir_fp8.inspection.facts import Inspection

Pair = tuple[Any, Any]
"""A fact of the first file and of the second; None where a file lacks it."""


def differences(first: Inspection, second: Inspection) -> dict[str, dict[str, Pair]]:
    """The facts that differ: by section, then by key within it. Places do not count."""
    sections = {
        "header": _compare(_header(first), _header(second)),
        "module": _compare(_module(first), _module(second)),
        "functions": _compare(_functions(first), _functions(second)),
        "features": _compare(_features(first), _features(second)),
        "small_floats": _compare(_small_floats(first), _small_floats(second)),
        "ops": _compare(first.ops, second.ops),
    }
    return {section: pairs for section, pairs in sections.items() if pairs}


def _compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Pair]:
    keys = dict.fromkeys([*first, *second])
    pairs = {key: (first.get(key), second.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _header(facts: Inspection) -> dict[str, Any]:
    return vars(facts.header)


def _module(facts: Inspection) -> dict[str, Any]:
    return {
        "error": facts.error,
        "minimum_version": facts.minimum_version,
        "constants": facts.constants,
        "constant_bytes": facts.constant_bytes,
    }


def _functions(facts: Inspection) -> dict[str, str]:
    return {each.name: f"{each.visibility} {each.type}" for each in facts.functions}


def _features(facts: Inspection) -> dict[str, int]:
    return {f"{each.kind} {each.name}": each.count for each in facts.features}


def _small_floats(facts: Inspection) -> dict[str, int]:
    return {
        f"{type_} {place}": count
        for type_, counts in facts.small_floats.items()
        for place, count in counts.items()
    }
