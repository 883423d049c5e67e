"""`python -m determined.exec.one_batch MODULE:CLASS CONFIG`: tries a trial class, for `det e create --local --test`."""

import json
import logging
import sys
from pathlib import Path

from determined.constants import LOG_FORMAT
from determined.exec.harness import load_class
from determined.experimental import test_one_batch


def main(arguments: list[str]) -> int:
    """Try a class with the experiment config of a JSON file; the exit status."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m determined.exec.one_batch MODULE:CLASS CONFIG\n")
        return 2
    spec, config = arguments
    logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)
    loaded = load_class(spec)
    if isinstance(loaded, str):
        sys.stderr.write(f"ERROR: {loaded}\n")
        return 1
    try:
        test_one_batch(loaded, json.loads(Path(config).read_text()))
    except NotImplementedError as e:
        sys.stderr.write(f"ERROR: entrypoint {spec}: {e}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
