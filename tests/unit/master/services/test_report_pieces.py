"""A batch of records is written in transactions that hold the writer for a short time each."""

from typing import Any

from determined.master.services.report_pieces import in_pieces
from determined.wire.report import LogLine, MetricReport, ReportBatch, Segment


def _report(step: int, names: int, prefix: str = "m") -> MetricReport:
    return MetricReport("training", step, {f"{prefix}{n}": 1.0 for n in range(names)}, 0.0)


def _pieces(*segments: Segment) -> list[list[tuple[str, int, int]]]:
    batch = ReportBatch(list(segments), 7.0)
    found = list(in_pieces(batch))
    assert all(piece.sent == 7.0 for piece in found)
    assert _records(found) == _records([batch]), "nothing is lost, doubled or reordered"
    return [[(s.source, s.first, len(s.records)) for s in piece.segments] for piece in found]


def _records(batches: list[ReportBatch]) -> list[Any]:
    return [(s.source, s.first + n, r) for b in batches for s in b.segments for n, r in enumerate(s.records)]


def test_what_a_runner_sends_is_one_piece() -> None:
    lines = Segment("logs", 5, [LogLine("x", 0.0)] * 1000)
    metrics = Segment("user-1", 1, [_report(n, 5) for n in range(1000)])
    assert _pieces(lines, metrics) == [[("logs", 5, 1000), ("user-1", 1, 1000)]]


def test_reports_with_many_metrics_go_one_by_one() -> None:
    wide = Segment("user-1", 4, [_report(n, 2000, f"p{n}-") for n in range(3)])
    assert _pieces(wide, Segment("logs", 9, [LogLine("x", 0.0)])) == [
        [("user-1", 4, 1)],
        [("user-1", 5, 1)],
        [("user-1", 6, 1), ("logs", 9, 1)],
    ]


def test_one_record_is_never_cut_and_an_empty_batch_is_still_answered() -> None:
    assert _pieces(Segment("user-1", 1, [_report(1, 9000)])) == [[("user-1", 1, 1)]]
    assert _pieces() == [[]]


def test_names_that_differ_from_report_to_report_count() -> None:
    differing = Segment("user-1", 1, [_report(n, 500, f"p{n}-") for n in range(10)])
    assert len(_pieces(differing)) > 1
