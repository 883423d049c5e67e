"""The master with the moved clock of sitecustomize: `datetime.now` reads the real one, so its Clock is told instead."""

import sys
import time
from datetime import UTC, datetime

from determined.master.clock import SystemClock
from determined.master.main import main


def _now(self: SystemClock) -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


SystemClock.now = _now  # type: ignore[method-assign]

if __name__ == "__main__":
    sys.exit(main())
