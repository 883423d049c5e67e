"""Writes the table of searchers in docs/hyperparameter-search.md from the classes of determined.search.methods."""

import sys
from pathlib import Path

from determined.search.registry import searchers
from determined.search.searcher_config import SearcherConfig

TARGET = Path(__file__).parents[1] / "docs" / "hyperparameter-search.md"

_BEGIN, _END = "<!-- searchers: begin -->", "<!-- searchers: end -->"
_HEAD = [
    "| `name` | what it does | number of trials | generations | can be extended | can be continued |",
    "|---|---|---|---|---|---|",
]


def main() -> int:
    TARGET.write_text(reference())
    print(f"wrote {TARGET}")
    return 0


def reference() -> str:
    """The page with a table that is up to date."""
    page = TARGET.read_text()
    before, after = page.partition(_BEGIN)[0], page.partition(_END)[2]
    return "\n".join([f"{before}{_BEGIN}", *_HEAD, *(_row(one) for one in searchers().values()), f"{_END}{after}"])


def _row(searcher: type[SearcherConfig]) -> str:
    cells = [
        f"`{searcher.name}`",
        _summary(searcher),
        searcher.size,
        ", ".join(sorted(searcher.generations, reverse=True)),
        "yes" if searcher.extendable else "no",
        "yes" if searcher.continuable else "no",
    ]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _summary(searcher: type[SearcherConfig]) -> str:
    """Take the first line of its docstring; raise ValueError where it has none."""
    first = (searcher.__doc__ or "").partition("\n")[0].removesuffix(".")
    if not first:
        raise ValueError(f"searcher {searcher.name} has no docstring: say in its first line what it does")
    guide = f": [guide]({searcher.guide})" if searcher.guide else ""
    return f"{first[0].lower()}{first[1:]}{guide}".replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
