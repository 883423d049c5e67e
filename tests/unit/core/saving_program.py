"""A script that saves checkpoints in the background one after another, until somebody kills it."""

import os
import sys
import time

from determined import core

BYTES = 3 << 20


def main() -> None:
    content = os.urandom(BYTES)
    with core.init() as context:
        print("ready", flush=True)
        for step in range(1, 10_000):
            with context.checkpoint.store_path_async({"steps_completed": step}) as save:
                (save.path / "small").write_text(str(step))
                save.write_later((save.path / "large").write_bytes, content)
            time.sleep(step % 5 * 0.002)  # the next one sometimes waits, sometimes not


if __name__ == "__main__":
    sys.exit(main())
