"""Choice of the reader for an address of Optuna's storage: a database or a journal file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from determined.errors import InvalidArgument
from determined.master.importing.clean import clean_text
from determined.master.importing.read_only_database import connected, shown_address
from determined.master.importing.sources.optuna import database, journal
from determined.master.importing.sources.optuna.stored import StoredStudy


@contextmanager
def open_studies(source: str) -> Iterator[Iterator[StoredStudy]]:
    """Open a database by its URL or a journal file by its path; yield its studies. Raises DeterminedError."""
    if "://" in source:
        with connected(source, "Optuna") as connection:
            yield database.studies(connection)
    elif Path(source).is_file():
        yield iter(journal.studies(Path(source)))
    else:
        raise InvalidArgument(
            f"--source {source!r} is no URL of a database and no journal file; "
            "write sqlite:///study.db, postgresql://... or the path of the journal"
        )


def address_of(source: str) -> str:
    """Return the address without secrets, the same from every working directory."""
    return shown_address(source) if "://" in source else clean_text(str(Path(source).resolve()))
