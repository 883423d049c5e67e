"""Cutting a batch of records into transactions."""

from collections.abc import Iterator
from typing import cast

from determined.wire.report import LogLine, MetricReport, Record, ReportBatch, Segment

_MAX_WEIGHT = 2500  # of one transaction; some 100 ms
_LINE_WEIGHT = 0.1


def in_pieces(batch: ReportBatch) -> Iterator[ReportBatch]:
    """Cut a batch into transactions that hold the writer for a short time each; at least one.

    Positions are written with the records, so a batch that fails half-way is sent again from where it failed.
    """
    if _weight_of_all(batch) <= _MAX_WEIGHT:  # nearly always; looking at each record costs a tenth of writing it
        yield batch
        return
    piece: list[Segment] = []
    names: set[str] = set()
    weight = 0.0
    for segment in batch.segments:
        start = 0
        for n, record in enumerate(segment.records):
            weight += _weight(record, names)
            if weight > _MAX_WEIGHT and (piece or n > start):
                yield ReportBatch([*piece, *_part(segment, start, n)], batch.sent)
                piece, start, names = [], n, set()
                weight = _weight(record, names)
        piece += _part(segment, start, len(segment.records))
    yield ReportBatch(piece, batch.sent)


def _weight_of_all(batch: ReportBatch) -> float:
    """Return the weight of a whole batch, as `_weight` of its records adds up to."""
    names: set[str] = set()
    weight = 0.0
    for records in (segment.records for segment in batch.segments):
        kinds = set(map(type, records))
        if kinds == {LogLine}:
            weight += len(records) * _LINE_WEIGHT
        elif kinds == {MetricReport}:
            weight += _weight_of_reports(cast(list[MetricReport], records), names)
        else:
            weight += sum(_weight(record, names) for record in records)
    return weight


def _weight_of_reports(reports: list[MetricReport], names: set[str]) -> float:
    """Return the weight of reports, as `_weight` of each adds up to, and add their metrics to `names`."""
    plain = [report.metrics for report in reports if not report.batch_metrics]
    before = len(names)
    names.update(*plain)
    weight = len(names) - before + sum(map(len, plain)) / 10
    others = [report for report in reports if report.batch_metrics] if len(plain) < len(reports) else []
    return weight + sum(_weight(report, names) for report in others)


def _part(segment: Segment, start: int, end: int) -> list[Segment]:
    whole = start == 0 and end == len(segment.records)
    part = segment if whole else Segment(segment.source, segment.first + start, segment.records[start:end])
    return [part] if whole or part.records else []


def _weight(record: Record, names: set[str]) -> float:
    """Return what writing a record costs: mostly the summary of each metric that the piece has not named before."""
    if isinstance(record, LogLine):
        return _LINE_WEIGHT
    if not isinstance(record, MetricReport):
        return 20.0
    values = len(record.metrics) + sum(map(len, record.batch_metrics or ()))
    fresh = len(record.metrics.keys() - names)
    names.update(record.metrics)
    return fresh + values / 10
