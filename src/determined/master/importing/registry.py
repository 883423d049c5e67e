"""Registry of imports: finds the code of a kind by its name, and says what it is given and returns."""

import argparse
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from determined.master.config import MasterConfig
from determined.master.importing.notes import Rule
from determined.master.importing.progress import Emit
from determined.master.importing.report import Report
from determined.master.importing.target import Target

_SOURCES = "determined.master.importing.sources"


@dataclass(frozen=True, slots=True)
class Request:
    """Import to run. `options` has an attribute for each option of the kind; `directory` is where reports go."""

    source: str
    target: Target
    config: MasterConfig
    options: argparse.Namespace
    dry_run: bool
    directory: Path
    emit: Emit


@dataclass(frozen=True, slots=True)
class Finished:
    """Result of an import. `files`: what it wrote beside the report."""

    report: Report
    rules: dict[str, Rule]
    files: list[Path]


class Entry(Protocol):
    """The module `entry` of a kind's folder."""

    def run(self, request: Request) -> Finished:
        """Run the import. Raises DeterminedError."""


def entry(kind: str) -> Entry:
    """Import the code of a kind; that of the others is not loaded."""
    return cast(Entry, importlib.import_module(f"{_SOURCES}.{kind}.entry"))
