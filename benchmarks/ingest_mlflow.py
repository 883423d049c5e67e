"""The MLflow side of ingest.py, run by a python that has MLflow: server on SQLite, `log_batch` of 1,000 values."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def main(folder: str, seconds: float) -> None:
    with serving(Path(folder)) as url:
        print(json.dumps(send(url, seconds)))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run a server on `folder/mlflow.db`; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    store = f"sqlite:///{folder / 'mlflow.db'}"
    command = ["-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--backend-store-uri", store]
    log = (folder / "mlflow.log").open("wb")
    options = ["--workers", "1", "--default-artifact-root", str(folder / "artifacts")]
    server = subprocess.Popen([sys.executable, *command, *options], stdout=log, stderr=log, start_new_session=True)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, Path(log.name))
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)
        log.close()


def wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("MLflow did not start:\n" + log.read_text()) from None
            time.sleep(0.2)


def send(url: str, seconds: float) -> dict[str, object]:
    import mlflow
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient

    client = MlflowClient(url)
    run = client.create_run(client.create_experiment("ingest")).info.run_id
    sent, latencies = 0, []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        batch = [Metric("m0", (sent + i) / 7, 1_700_000_000_000 + i, sent + i) for i in range(1000)]
        before = time.perf_counter()
        client.log_batch(run, metrics=batch)
        latencies.append(time.perf_counter() - before)
        sent += 1000
    elapsed = time.perf_counter() - start
    return {"version": mlflow.__version__, "sent": sent, "elapsed": elapsed, "latencies": latencies}


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
