"""Choice of the reader for an address of Optuna's storage: a database or a journal file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from determined.errors import InvalidArgument
from determined.master.importing.clean import clean_text
from determined.master.importing.read_only_database import connected, shown_address
from determined.master.importing.sources.optuna import database, journal
from determined.master.importing.sources.optuna.stored import StoredStudy

_SQLITE = b"SQLite format 3\0"


@contextmanager
def open_studies(source: str) -> Iterator[Iterator[StoredStudy]]:
    """Open a database by its URL, a file of SQLite or a journal by its path; yield its studies.

    Raises DeterminedError.
    """
    if url := _url_of(source):
        with connected(url, "Optuna") as connection:
            yield database.studies(connection)
    elif Path(source).is_file():
        yield iter(journal.studies(Path(source)))
    else:
        raise InvalidArgument(
            f"--source {source!r} is no URL of a database and no journal file; "
            "write the path of study.db or of the journal, or postgresql://..."
        )


def address_of(source: str) -> str:
    """Return the address without secrets, the same from every working directory."""
    url = _url_of(source)
    return shown_address(url) if url else clean_text(str(Path(source).resolve()))


def _url_of(source: str) -> str | None:
    """Return the URL of a database, also of a file of SQLite that is given by its path; None for what is none."""
    if "://" in source:
        return source
    path = Path(source)
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return f"sqlite:///{path.resolve()}" if file.read(len(_SQLITE)) == _SQLITE else None
