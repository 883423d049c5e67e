"""Pages of lists."""

import pytest

from determined.master.services.paging import page


@pytest.mark.parametrize(
    ("limit", "offset", "rows", "start", "end"),
    [
        (None, None, [0, 1, 2, 3, 4], 0, 5),
        (0, 0, [0, 1, 2, 3, 4], 0, 5),
        (-1, 0, [0, 1, 2, 3, 4], 0, 5),
        (2, 0, [0, 1], 0, 2),
        (2, 4, [4], 4, 5),
        (2, 9, [], 5, 5),
        (2, -2, [3, 4], 3, 5),
        (2, -99, [0, 1], 0, 2),
        (-2, 0, [], 0, 0),
        (-2, 3, [], 3, 3),
    ],
)
def test_a_page_is_cut_as_upstream_cuts_it(
    limit: int | None, offset: int | None, rows: list[int], start: int, end: int
) -> None:
    shown, pagination = page(list(range(5)), limit, offset)
    assert shown == rows
    assert (pagination.start_index, pagination.end_index, pagination.total) == (start, end, 5)
