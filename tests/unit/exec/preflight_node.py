"""One node's preflight in a process (and network namespace) of its own; rounds meet in a directory, not at a master."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from determined.errors import DeterminedError, Unavailable
from determined.exec.runner.preflight import check
from determined.exec.runner.preflight.check import Here, Preflight
from determined.exec.runner.preflight.peers import check_connection


class Files:
    """An all-gather of files: namespaces share the disk."""

    def __init__(self, directory: Path, rank: int) -> None:
        self._directory = directory
        self._rank = rank

    def all_gather(self, topic: str, data: dict[str, Any], *, peers: int, timeout: float) -> list[dict[str, Any]]:
        place = self._directory / topic
        place.mkdir(exist_ok=True)
        fresh = place / f".{self._rank}"
        fresh.write_text(json.dumps(data))
        fresh.rename(place / str(self._rank))
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if len(found := list(place.glob("[0-9]*"))) == peers:
                return [json.loads(one.read_text()) for one in found]
            time.sleep(0.01)
        raise Unavailable("nobody came")


def main() -> None:
    rank, directory, reach_seconds, *addresses = sys.argv[1:]
    # Only what the network does may decide, not which node had to wait for a processor.
    check._FACTS_BY, check._GATHERED_BY, check._REACHED_BY, check._OVER_BY = 20.0, 25.0, 50.0, 60.0
    check._LATE_SECONDS = 20.0
    check.check_connection = lambda *whom: check_connection(
        *whom[:-1], deadline=time.monotonic() + float(reach_seconds)
    )
    here = Here(f"node-{rank}", "token", dict(os.environ), Path.cwd(), {})
    files = Files(Path(directory), int(rank))
    preflight = Preflight(here, files, print)
    files.all_gather("up", {}, peers=len(addresses), timeout=60)
    began = time.monotonic()
    try:
        preflight.check(addresses, int(rank))
    except DeterminedError as e:
        print("FAILED", e.message)
    print(f"took {time.monotonic() - began:.2f}")


if __name__ == "__main__":
    main()
