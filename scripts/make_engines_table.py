"""Write the table of engines in docs/operating.md from the traits of every engine."""

import sys
from pathlib import Path

from doc_table import replace_table

from determined.engines import registry
from determined.engines.resource_manager import ResourceManager

TARGET = Path(__file__).parents[1] / "docs" / "operating.md"

_HEAD = "| `resource_manager.type` | Tasks run on | Images | OS user of a task | Page |"


def main() -> int:
    TARGET.write_text(reference())
    print(f"wrote {TARGET}")
    return 0


def reference() -> str:
    """Return the page with a table that is up to date."""
    rows = [_row(section) for section in registry.managers().values()]
    return replace_table(TARGET.read_text(), "engines", _HEAD, rows)


def _row(section: type[ResourceManager]) -> str:
    images = "`environment.image`" if section.runs_containers else "none"
    user = "its owner's, if the master is root" if section.runs_here else "one for all tasks"
    return f"| `{section.kind}` | {section.where} | {images} | {user} | [{section.page}]({section.page}) |"


if __name__ == "__main__":
    sys.exit(main())
