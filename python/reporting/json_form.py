"""A report as JSON, by the keys that docs/report.md documents."""

import json
from typing import Any

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.reporting import choice
from mlir_fp8.reporting.block_choice import BlockCandidate
from mlir_fp8.reporting.findings import Findings, Rounding, ValueReport, formats_of
from mlir_fp8.reporting.statistics import Magnitudes

VERSION = 1
"""Grows when a key goes or changes its meaning, not when one is added."""


def encoded(found: Findings) -> str:
    """The report as one JSON object. Numbers are finite: what is not one is null."""
    return json.dumps(as_object(found), allow_nan=False, separators=(",", ":"), ensure_ascii=False)


def as_object(found: Findings) -> dict[str, Any]:
    return {
        "version": VERSION,
        "module": found.module,
        "entry": found.entry,
        "saturate": found.saturate,
        "formats": {fmt.name: _format(fmt) for fmt in formats_of(found)},
        "values": [_value(each) for each in found.values],
        "left_out": [{"reason": each.reason, "values": each.values} for each in found.left_out],
        "notes": list(found.notes),
    }


def _format(fmt: FloatFormat) -> dict[str, Any]:
    return {
        "bits": fmt.bits,
        "max": float(fmt.max),
        "smallest_normal": float(fmt.smallest_normal),
        "smallest_subnormal": float(fmt.smallest_subnormal),
        "infinity": fmt.has_infinity,
        "nan": fmt.has_nan,
    }


def _value(each: ValueReport) -> dict[str, Any]:
    amax = each.unrounded.amax
    return {
        "names": list(each.value.names),
        "op": each.value.op,
        "scope": each.value.scope,
        "location": each.value.place,
        "type": str(each.value.spec),
        "element": each.value.spec.element,
        "shape": list(each.value.spec.shape),
        "narrow": each.is_narrow,
        **_magnitudes(each.after),
        "subnormal": each.codes.subnormal,
        "saturated": each.codes.saturated,
        "sqnr": each.sqnr.kind,
        "sqnr_db": each.sqnr.db,
        "rounding": _rounding(each.rounding),
        "headroom_bits": choice.headroom(each.format, amax) if amax else None,
        "scale_log2": choice.scale_log2(each.format, amax) if amax else None,
        "candidates": [_candidate(candidate) for candidate in each.candidates],
        "block_candidates": [_block_candidate(candidate) for candidate in each.block_candidates],
    }


def _magnitudes(found: Magnitudes) -> dict[str, Any]:
    first, counts = found.histogram
    return {
        "count": found.count,
        "nan": found.nan,
        "infinite": found.infinite,
        "zero": found.zero,
        "amax": found.amax,
        "smallest": found.smallest,
        "mean": found.mean,
        "exponents": {"first": first, "counts": counts},
    }


def _rounding(rounding: Rounding | None) -> dict[str, Any] | None:
    if rounding is None:
        return None
    return {
        "from": rounding.source,
        "clamped": rounding.is_clamped,
        "overflow": rounding.losses.overflow,
        "underflow": rounding.losses.underflow,
        "no_code": rounding.losses.no_code,
        "sqnr": rounding.sqnr.kind,
        "sqnr_db": rounding.sqnr.db,
        "before": _magnitudes(rounding.before),
    }


def _block_candidate(each: BlockCandidate) -> dict[str, Any]:
    return {
        "format": each.format.name,
        "element": each.format.element,
        "block": each.format.block,
        "sqnr_db": each.sqnr_db,
        "zero": each.zero,
        "clipped": each.clipped,
    }


def _candidate(each: choice.Candidate) -> dict[str, Any]:
    return {
        "format": each.format.name,
        "sqnr_db": each.as_is,
        "scale_log2": each.scale_log2,
        "scaled_sqnr_db": each.scaled,
    }
