"""Write the tables of searchers and samplers in docs/hyperparameter-search.md from their classes."""

import sys
from pathlib import Path

from doc_table import replace_table

from determined.search.registry import samplers, searchers
from determined.search.sampler_config import SamplerConfig
from determined.search.searcher_config import SearcherConfig

TARGET = Path(__file__).parents[1] / "docs" / "hyperparameter-search.md"

_SEARCHERS = "| `name` | what it does | number of trials | generations | can be extended | can be continued |"
_SAMPLERS = "| `sampler` | suits | metrics | extra | `sampler_options` |"


def main() -> int:
    TARGET.write_text(reference())
    print(f"wrote {TARGET}")
    return 0


def reference() -> str:
    """Return the page with tables that are up to date."""
    page = replace_table(TARGET.read_text(), "searchers", _SEARCHERS, [_searcher(one) for one in searchers().values()])
    return replace_table(page, "samplers", _SAMPLERS, [_sampler(one) for one in samplers().values()])


def _searcher(searcher: type[SearcherConfig]) -> str:
    generations = ", ".join(sorted(searcher.generations, reverse=True))
    return _row(
        f"`{searcher.name}`",
        _summary(searcher),
        searcher.size,
        generations,
        _yes(searcher.extendable),
        _yes(searcher.continuable),
    )


def _sampler(sampler: type[SamplerConfig]) -> str:
    options = [f"`{key}`: {_plain(known.meaning)}" for key, known in sampler.schema.fields.items()]
    metrics = "several" if sampler.weighs_several_metrics else "one"
    extra = f"`{sampler.extra}`" if sampler.libraries else ""
    return _row(f"`{sampler.name}`", sampler.suits, metrics, extra, "; ".join(options))


def _row(*cells: str) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _summary(searcher: type[SearcherConfig]) -> str:
    """Take the first line of its docstring; raise ValueError where it has none."""
    first = (searcher.__doc__ or "").partition("\n")[0]
    if not first:
        raise ValueError(f"searcher {searcher.name} has no docstring: say in its first line what it does")
    guide = f": [guide]({searcher.guide})" if searcher.guide else ""
    return f"{_plain(first)}{guide}".replace("|", "\\|")


def _plain(sentence: str) -> str:
    return f"{sentence[0].lower()}{sentence[1:]}".removesuffix(".")


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


if __name__ == "__main__":
    sys.exit(main())
