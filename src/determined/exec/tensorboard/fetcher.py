"""Copies of event files from an object store, kept up to date: `python -m determined.exec.tensorboard.fetcher`.

TensorBoard follows an event file by its open descriptor, so what a file has grown by is appended to the copy. Other
files (profiles) are replaced. One thread per source: a store that does not answer delays no other.
"""

import select
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from determined import storage
from determined.exec.service_program import say
from determined.storage import StorageManager
from determined.storage.loose_file import LooseFile
from determined.wire.codec import from_json
from determined.wire.tensorboard_settings import TensorboardSettings, TensorboardSource

LIST_SECONDS = 20.0
_APPENDED = ".tfevents."


class Fetcher:
    """Copy of one source. `fetch` brings it up to date."""

    def __init__(self, manager: StorageManager, prefix: str, directory: Path) -> None:
        self._manager, self._prefix, self._directory = manager, prefix, directory
        self._seen: dict[str, LooseFile] = {}

    def fetch(self) -> int:
        """Copy what is new; return how many files."""
        listed = self._manager.list_loose(self._prefix)
        changed = {name: file for name, file in listed.items() if self._seen.get(name) != file}
        for name, file in changed.items():
            if ".." not in Path(name).parts:
                self._copy(name, file)
            self._seen[name] = file
        return len(changed)

    def _copy(self, name: str, file: LooseFile) -> None:
        path, key = self._directory / name, f"{self._prefix}/{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        have = path.stat().st_size if path.is_file() else 0
        if _APPENDED in path.name and 0 < have <= file.size:
            if have < file.size:
                _append(path, self._manager.read(key, start=have))
            return
        fresh = path.with_name(f".{path.name}.part")
        fresh.write_bytes(self._manager.read(key))
        fresh.replace(path)


class Following:
    """Fetcher that works again and again, and says once per outage what is wrong."""

    def __init__(self, source: TensorboardSource, root: Path) -> None:
        self._source, self._root = source, root
        self._fetcher: Fetcher | None = None
        self._is_warned = False

    def run(self, wait: Callable[[float], bool]) -> None:
        """Work until `wait` says that it is over."""
        while True:
            self.step()
            if wait(LIST_SECONDS):
                return

    def step(self) -> None:
        try:
            if self._fetcher is None:
                manager = storage.build(self._source.storage)
                self._fetcher = Fetcher(manager, self._source.prefix, self._root / self._source.name)
            self._fetcher.fetch()
            self._is_warned = False
        except Exception as err:  # noqa: BLE001  edge to the store: a driver may raise anything; the other sources go on
            if not self._is_warned:
                say("WARNING", f"{self._source.name}: event files cannot be fetched, trying again: {err}")
            self._is_warned = True


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as out:
        out.write(content)


def main(arguments: list[str]) -> int:
    """Follow sources until standard input is closed: SETTINGS_FILE LOG_DIRECTORY NAME..."""
    settings_file, root, *names = arguments
    settings = from_json(Path(settings_file).read_bytes(), TensorboardSettings)
    over = threading.Event()
    for source in settings.sources:
        if source.name in names:
            following = Following(source, Path(root))
            threading.Thread(target=following.run, args=(over.wait,), name=source.name, daemon=True).start()
    select.select([sys.stdin], [], [])
    over.set()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
