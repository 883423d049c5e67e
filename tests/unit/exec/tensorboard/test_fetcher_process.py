"""The process that fetches event files: several buckets of S3 in it, each with credentials of its own."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from determined.wire.codec import to_json
from determined.wire.tensorboard_settings import TensorboardSettings, TensorboardSource

PREFIX = "c/tensorboard/experiment/1"
EVENTS = "events.out.tfevents.1.host"
HANG_SECONDS = 60.0
# In place of the driver: an account is a directory, which only its own key opens. Instances are cached by their
# arguments, as fsspec does with those of the real one.
DRIVER = """
import os
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
class S3FileSystem(DirFileSystem):
    def __init__(self, key=None, secret=None, endpoint_url=None, use_listings_cache=None):
        if secret != f"secret-of-{key}":
            raise PermissionError(f"the secret of {key} is wrong")
        super().__init__(os.path.join(os.environ["ACCOUNTS"], key), LocalFileSystem())
"""


@pytest.fixture
def accounts(tmp_path: Path) -> Path:
    return tmp_path / "accounts"


def source(name: str, key: str, secret: str | None = None) -> TensorboardSource:
    storage = {"type": "s3", "bucket": "bucket", "access_key": key, "secret_key": secret or f"secret-of-{key}"}
    return TensorboardSource(name=name, storage=storage, prefix=PREFIX)


def store(accounts: Path, key: str, content: str) -> None:
    """The same bucket, prefix and file name in every account."""
    path = accounts / key / "bucket" / PREFIX / EVENTS
    path.parent.mkdir(parents=True)
    path.write_text(content)


def test_two_experiments_with_two_credentials_are_fetched_by_one_process_and_a_third_fails_alone(
    accounts: Path, tmp_path: Path
) -> None:
    (tmp_path / "driver" / "botocore").mkdir(parents=True)
    (tmp_path / "driver" / "s3fs.py").write_text(DRIVER)
    (tmp_path / "driver" / "botocore" / "__init__.py").touch()
    (tmp_path / "driver" / "botocore" / "exceptions.py").write_text("class BotoCoreError(Exception): pass\n")
    for key in ("ada", "bob", "eve"):
        store(accounts, key, f"events of {key}")
    sources = [source("experiment/1", "ada"), source("experiment/2", "bob"), source("experiment/3", "eve", "guess")]
    settings, root, log = tmp_path / "settings.json", tmp_path / "logs", tmp_path / "log"
    settings.write_bytes(to_json(TensorboardSettings(sources=sources)))
    argv = [sys.executable, "-P", "-m", "determined.exec.tensorboard.fetcher", str(settings), str(root)]
    variables = {**os.environ, "PYTHONPATH": str(tmp_path / "driver"), "ACCOUNTS": str(accounts)}
    copies = [root / "experiment" / number / EVENTS for number in ("1", "2")]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*argv, *(one.name for one in sources)], env=variables, stdin=-1, stdout=output, stderr=output
        ) as process,
    ):
        deadline = time.monotonic() + HANG_SECONDS
        while not (all(copy.exists() for copy in copies) and "experiment/3" in log.read_text()):
            assert time.monotonic() < deadline and process.poll() is None, log.read_text()
            time.sleep(0.05)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(HANG_SECONDS) == 0
    assert [copy.read_text() for copy in copies] == ["events of ada", "events of bob"]
    assert not (root / "experiment" / "3").exists()
    said = log.read_text()
    assert "experiment/3: event files cannot be fetched, trying again: the secret of eve is wrong" in said
    assert "secret-of-" not in said and "guess" not in said
