"""Reader of a bundle. `check` compares every file with the manifest before anything of it is used."""

import hashlib
import tarfile
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from determined._json import JsonObject
from determined.bundle import columns, tables
from determined.bundle.columns import Cells, Column
from determined.bundle.layout import (
    ENDINGS,
    FORMAT,
    JSON_LINES,
    MANIFEST,
    PARQUET,
    VERSION,
    BundleFile,
    Manifest,
    is_known,
    trials_file,
)
from determined.errors import InvalidArgument
from determined.wire.trial_record import TrialRecord

T = TypeVar("T")

_AGAIN = "the bundle is damaged or cut short; copy or export it again"
_MOST_MANIFEST = 512 * 1024 * 1024
_MOST_DOCUMENT = 64 * 1024 * 1024  # of a file that is read as a whole
_MOST_HEADER = 64 * 1024
_BLOCK = 1024 * 1024
# What compresses better than this is made to fill a disk or a database; logs and metrics reach about 30.
_MOST_RATIO, _SMALL = 300, 64 * 1024 * 1024


class _Member(tarfile.TarInfo):
    """Member whose header may not be large: tarfile reads headers with long names into memory as a whole."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        large = self.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, *tarfile.GNU_TYPES)
        if large and self.size > _MOST_HEADER:
            raise tarfile.ReadError(f"a header of {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]


class Bundle:
    """Open bundle; `close` it.

    Raises:
        InvalidArgument: it is none, or not whole, or has a file that no bundle has.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._tar = tarfile.open(path, "r:", tarinfo=_Member)  # noqa: SIM115  closed by `close`
        except (OSError, tarfile.TarError) as e:
            raise InvalidArgument(
                f"{path} cannot be read as a bundle: {e}; name a file of det experiment export"
            ) from e
        try:
            self._members = self._listed()
            self.manifest = self._manifest()
            self._compare()
            self._names = sorted(self.manifest.files)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._tar.close()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.manifest.files.values())

    @property
    def unpacked(self) -> int:
        return sum(file.unpacked or file.size for file in self.manifest.files.values())

    @property
    def identity(self) -> str:
        """Return a hash of all its content."""
        return hashlib.sha256(self._read(MANIFEST, _MOST_MANIFEST)).hexdigest()

    def check(self, progress: Callable[[int], None] = lambda _: None) -> None:
        """Compare the hash of every file; `progress` hears of the bytes read. Raises InvalidArgument."""
        for name, entry in self.manifest.files.items():
            digest = hashlib.sha256()
            with self.open(name) as file:
                while block := self._guarded(name, file.read, _BLOCK):
                    digest.update(block)
                    progress(len(block))
            if digest.hexdigest() != entry.sha256:
                raise InvalidArgument(f"{name} of {self.path} is not what was exported: its hash differs; {_AGAIN}")

    def has(self, name: str) -> bool:
        return name in self.manifest.files

    def below(self, prefix: str) -> list[str]:
        """List the files whose names begin so, in order."""
        at = bisect_left(self._names, prefix)
        return list(takewhile(lambda name: name.startswith(prefix), islice(self._names, at, None)))

    def open(self, name: str) -> IO[bytes]:
        file = self._tar.extractfile(self._members[name])
        assert file is not None  # it is a regular file
        return file

    def document(self, name: str, kind: type[T]) -> T:
        """Read a JSON file. Raises InvalidArgument."""
        return self.decoded(name, self._read(name, _MOST_DOCUMENT), kind)

    def text(self, name: str) -> str:
        try:
            return self._read(name, _MOST_DOCUMENT).decode()
        except UnicodeDecodeError as e:
            raise InvalidArgument(f"{name} of {self.path} is no text: {e}") from e

    def content(self, name: str, most: int) -> bytes:
        """Read a file that may have so many bytes at most. Raises InvalidArgument."""
        return self._read(name, most)

    def decoded(self, name: str, raw: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(raw, type=kind)
        except (msgspec.DecodeError, RecursionError) as e:
            raise InvalidArgument(f"{name} of {self.path}: {e}; {_AGAIN}") from e

    def entries(self, name: str, kind: type[T]) -> Iterator[T]:
        """Yield the entries of a JSON list that is written line by line."""
        with self.open(name) as file:
            for line in tables.plain_lines(file, name):
                yield self.decoded(name, line, kind)

    def lines(self, name: str) -> Iterator[bytes]:
        with self.open(name) as file:
            yield from tables.lines(file, name, self.manifest.files[name].unpacked)

    def rows(self, name: str, which: tuple[Column, ...]) -> Iterator[Cells]:
        """Yield the rows of a table. Raises InvalidArgument, ImportError."""
        with self.open(name) as file:
            yield from tables.rows(file, which, self.manifest.tables, name, self.manifest.files[name].unpacked)

    def trials(self, experiment_id: int) -> Iterator[TrialRecord]:
        """Yield the trials of an experiment, without their checkpoints."""
        name = trials_file(experiment_id, self.manifest.tables)
        for row in self.rows(name, columns.TRIALS):
            try:
                trial = columns.trial_of(row)
            except (msgspec.ValidationError, KeyError) as e:
                raise InvalidArgument(f"{name} of {self.path}: {e}; {_AGAIN}") from e
            if trial.id <= 0:
                raise InvalidArgument(f"{name} of {self.path}: {trial.id} is no id of a trial; {_AGAIN}")
            yield trial

    def _listed(self) -> dict[str, tarfile.TarInfo]:
        members: dict[str, tarfile.TarInfo] = {}
        try:
            for member in self._tar:
                name = member.name
                if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
                    raise InvalidArgument(f"{self.path} has {name!r}, which is no plain file; no export writes such")
                if name != MANIFEST and not is_known(name):
                    raise InvalidArgument(
                        f"{self.path} has a file {name!r}, which no bundle has; nothing was read of it"
                    )
                if name in members:
                    raise InvalidArgument(f"{self.path} has {name} twice; no export writes such")
                members[name] = member
        except tarfile.TarError as e:
            raise InvalidArgument(f"{self.path}: {e}; {_AGAIN}") from e
        return members

    def _manifest(self) -> Manifest:
        if MANIFEST not in self._members:
            raise InvalidArgument(f"{self.path} has no {MANIFEST}, which is its last file; {_AGAIN}")
        raw = self._read(MANIFEST, _MOST_MANIFEST)
        head = self.decoded(MANIFEST, raw, JsonObject)
        if head.get("format") != FORMAT or head.get("version") != VERSION:
            found = f"format {head.get('format')!r}, version {head.get('version')!r}"
            raise InvalidArgument(
                f"{self.path} has {found}; this release reads {FORMAT} {VERSION}: upgrade it, or export again"
            )
        manifest = self.decoded(MANIFEST, raw, Manifest)
        if manifest.tables not in (PARQUET, JSON_LINES):
            raise InvalidArgument(f"{MANIFEST} of {self.path}: tables are {manifest.tables!r}, which cannot be read")
        return manifest

    def _compare(self) -> None:
        there = self._members.keys() - {MANIFEST}
        for name in sorted(there ^ self.manifest.files.keys()):
            problem = "is not in its manifest" if name in there else "is missing"
            raise InvalidArgument(f"{name} of {self.path} {problem}; {_AGAIN}")
        for name, entry in self.manifest.files.items():
            _check_size(self.path, name, entry, self._members[name].size)

    def _read(self, name: str, most: int) -> bytes:
        size = self._members[name].size
        if size > most:
            raise InvalidArgument(f"{name} of {self.path} has {size} bytes; at most {most} are read")
        with self.open(name) as file:
            data = self._guarded(name, file.read, size)
        if len(data) != size:
            raise InvalidArgument(f"{name} of {self.path} ends early; {_AGAIN}")
        return data

    def _guarded(self, name: str, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except (tarfile.TarError, OSError) as e:
            raise InvalidArgument(f"{name} of {self.path}: {e}; {_AGAIN}") from e


def _check_size(path: Path, name: str, entry: BundleFile, size: int) -> None:
    if entry.size != size:
        raise InvalidArgument(f"{name} of {path} has {size} bytes, not {entry.size}; {_AGAIN}")
    if name.endswith(ENDINGS[JSON_LINES]) and entry.unpacked is None:
        raise InvalidArgument(f"{MANIFEST} of {path} does not say to how much {name} unpacks; {_AGAIN}")
    unpacked = entry.unpacked or 0
    if unpacked > _SMALL and unpacked > _MOST_RATIO * size:
        raise InvalidArgument(
            f"{name} of {path} unpacks from {size} to {unpacked} bytes; no export compresses so well, so it is not read"
        )
