"""Start a master on loopback, point schemathesis at its OpenAPI as an admin, and fail on any 5xx."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import urllib3

EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "40")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="det-fuzz-") as scratch:
        return _fuzz(Path(scratch))


def _fuzz(directory: Path) -> int:
    config = directory / "master.yaml"
    config.write_text(
        json.dumps(
            {
                "security": {"initial_user_password": ""},
                "checkpoint_storage": {"type": "shared_fs", "host_path": str(directory / "checkpoints")},
            }
        )
    )
    read_fd, write_fd = os.pipe()
    command = [sys.executable, "-m", "determined.master", "--config-file", str(config), "--data-dir", str(directory)]
    command += ["--port", "0", "--slots", "0", "--ready-fd", str(write_fd)]
    with (directory / "master.log").open("wb") as log:
        master = subprocess.Popen(command, pass_fds=[write_fd], stdout=log, stderr=log)
    os.close(write_fd)
    try:
        return _run(f"http://127.0.0.1:{int(os.read(read_fd, 4096))}")
    finally:
        master.terminate()
        master.wait(timeout=30)
        os.close(read_fd)


def _run(url: str) -> int:
    body = json.dumps({"username": "admin", "password": ""}).encode()
    token = urllib3.request("POST", f"{url}/api/v1/auth/login", body=body).json()["token"]
    # Logging out or deactivating the one who fuzzes would make every later answer a 401; streams never end.
    excluded = ["--exclude-path-regex", "logout|/follow|/logs|metrics-stream|signals|rendezvous|all_gather|/password"]
    words = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{url}/docs/openapi.json", "--url", url]
    words += ["-H", f"Authorization: Bearer {token}", "--checks", "not_a_server_error", "-n", EXAMPLES]
    words += ["--phases", "examples,coverage,fuzzing", "--request-timeout", "20", "--max-failures", "50", *excluded]
    return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
