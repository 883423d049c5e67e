"""From a value that a task reports to the reader who is told of it on the master's stream."""

import json
import tempfile
import time
from pathlib import Path

from websockets.sync.client import ClientConnection, connect

import recovery_steps
from cluster import running

HERE = Path(__file__).parent
_SECONDS = 60.0


def delays(number: int) -> list[float]:
    """Seconds from each call of report_training_metrics to the message that tells of it."""
    with tempfile.TemporaryDirectory(prefix="det-stream-") as place, running(Path(place), slots=1) as cluster:
        diaries = Path(place) / "diaries"
        diaries.mkdir()
        address = cluster.url.replace("http", "ws", 1) + "/stream"
        with connect(address, additional_headers=cluster.headers) as socket:
            asked = {"sync_id": "1", "known": {}, "subscribe": {"metrics": {"since": -1}}, "extended": True}
            socket.send(json.dumps(asked))
            cluster.submit(["python3", str(HERE / "recovery_reporter.py"), str(diaries), str(number)])
            heard = _listen(socket, number)
        [[steps]] = recovery_steps.read(diaries).values()
    return [min(at for last, at in heard if last >= step.number) - (step.ended - step.call) for step in steps]


def _listen(socket: ClientConnection, number: int) -> list[tuple[int, float]]:
    """(last step, when it was told), until the last of all is told."""
    heard: list[tuple[int, float]] = []
    deadline = time.monotonic() + _SECONDS + number
    while not heard or heard[-1][0] < number:
        if time.monotonic() > deadline:
            raise SystemExit(f"of {number} reports the stream told {len(heard)}")
        frame = json.loads(socket.recv(timeout=_SECONDS))
        now = time.monotonic()
        told = frame if isinstance(frame, list) else [frame]
        heard += [(message["metrics"]["last_batch"], now) for message in told if "metrics" in message]
    return heard
