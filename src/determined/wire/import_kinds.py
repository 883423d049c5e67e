"""Kinds of imports: the sub-commands of `det master import`, and the arguments of the process that does the work.

The code of a kind is `master/importing/sources/<name>/entry.py`; nothing else lists the names.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """Option of one kind. Without `metavar` it is a switch; `repeated` ones may be given several times."""

    flag: str
    help: str
    metavar: str | None = None
    repeated: bool = False

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True, slots=True)
class ImportKind:
    name: str
    help: str
    source_metavar: str
    source_help: str
    note: str
    options: tuple[Option, ...] = ()


def _example(name: str, source: str) -> str:
    return f"""
  det master stop
  det master import {name} --source {source} --dry-run
  det master import {name} --source {source}
  det master start
"""


UPSTREAM = ImportKind(
    "upstream",
    "import the database of an upstream master",
    "URL",
    "postgresql://... of upstream's database; it is only read",
    """\
Stop upstream's master first, or name a restored dump or a replica. The source is only read; a role with SELECT is
enough. A password may come from PGPASSWORD or ~/.pgpass instead of the URL. An import that was interrupted goes on
when it is run again; a finished one takes only what is new.
"""
    + _example("upstream", "postgresql://determined@db/determined"),
    (
        Option("--only", "workspaces=NAME,NAME or experiments=1-500,600; may be repeated", "NOUN=...", repeated=True),
        Option("--since", "only experiments that started on this day or later", "DATE"),
        Option("--no-logs", "leave task logs out"),
        Option("--check-files", "compare the files of N checkpoints by size, where their storage is reachable", "N"),
    ),
)

KINDS = {kind.name: kind for kind in list(globals().values()) if isinstance(kind, ImportKind)}
