"""Writes webui/src/searchers.ts, the traits that the page knows, from the classes of determined.search.methods."""

import json
import sys
from pathlib import Path

from determined.search.registry import searchers
from determined.search.searcher_config import SearcherConfig

TARGET = Path(__file__).parents[1] / "webui" / "src" / "searchers.ts"

_WIDTH = 120
_OPENING = """\
// Written by scripts/make_webui_searchers.py from the searchers of the master; do not edit.

export interface Searcher {
  /** Its name in the form of a new experiment; empty: the form does not offer it. */
  label: string;
  isMultiTrial: boolean;
  /** It compares trials at lengths, so the config must say how long they train. */
  needsLength: boolean;
  /** Ranges of hyperparameters need a `count`. */
  usesCounts: boolean;
  /** The keys it takes besides the common ones; others are an error there. */
  keys: readonly string[];
}

"""


def main() -> int:
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file."""
    common = [key for key, known in SearcherConfig.schema.fields.items() if key != "name" and not known.legacy]
    lines = _list("export const COMMON_KEYS: readonly string[] = ", common, ";")
    lines += ["", "export const SEARCHERS: Readonly<Record<string, Searcher>> = {"]
    lines += [line for searcher in searchers().values() for line in _entry(searcher)]
    return _OPENING + "\n".join([*lines, "};", ""])


def _entry(searcher: type[SearcherConfig]) -> list[str]:
    common = SearcherConfig.schema.fields
    keys = [key for key in searcher.schema.fields if key not in common]
    return [
        f"  {searcher.name}: {{",
        f"    label: {json.dumps(searcher.form_label)},",
        f"    isMultiTrial: {json.dumps(searcher.is_multi_trial)},",
        f"    needsLength: {json.dumps(searcher.needs_length)},",
        f"    usesCounts: {json.dumps(searcher.uses_counts)},",
        *_list("    keys: ", keys, ","),
        "  },",
    ]


def _list(before: str, words: list[str], after: str) -> list[str]:
    """Write a list on one line, or one word per line where that is too long for the formatter."""
    line = f"{before}{json.dumps(words)}{after}"
    if len(line) <= _WIDTH:
        return [line]
    indent = before[: len(before) - len(before.lstrip())]
    return [f"{before}[", *(f"{indent}  {json.dumps(word)}," for word in words), f"{indent}]{after}"]


if __name__ == "__main__":
    sys.exit(main())
