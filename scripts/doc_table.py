"""Tables that scripts write into pages of docs/, between two marks: `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""

from collections.abc import Sequence


def replace_table(page: str, name: str, head: str, rows: Sequence[str]) -> str:
    """Return the page with the table of this name replaced by these rows."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, after = page.partition(begin)[0], page.partition(end)[2]
    line = "|" + "---|" * (head.count("|") - 1)
    return "\n".join([f"{before}{begin}", head, line, *rows, f"{end}{after}"])
