"""Rows of metrics, packed in chunks.

Written by scripts/make_rows.py from db/schema/metrics.py; do not edit.
"""

from typing import TypedDict

import msgspec

from determined._json import JsonValue


class MetricChunkValues(TypedDict, total=False):
    id: int
    trial_id: int
    run_id: int
    group: str
    first_step: int
    last_step: int
    n: int
    full: bool
    data: bytes


class MetricWatermark(msgspec.Struct, frozen=True):
    """First step that a run reported per group. It archives rows of earlier runs at later steps without a rewrite."""

    trial_id: int
    run_id: int
    group: str
    first_step: int
    last_step: int
    tail_id: int | None


class MetricWatermarkValues(TypedDict, total=False):
    trial_id: int
    run_id: int
    group: str
    first_step: int
    last_step: int
    tail_id: int | None


class MetricSummary(msgspec.Struct, frozen=True):
    trial_id: int
    group: str
    name: str
    type: str
    count: int
    sum: float | None
    min: float | None
    max: float | None
    last: JsonValue
    last_step: int | None


class MetricSummaryValues(TypedDict, total=False):
    trial_id: int
    group: str
    name: str
    type: str
    count: int
    sum: float | None
    min: float | None
    max: float | None
    last: JsonValue
    last_step: int | None


class MetricRangeValues(TypedDict, total=False):
    experiment_id: int
    group: str
    name: str
    min: float
    max: float
