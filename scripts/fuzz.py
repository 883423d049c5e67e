"""`make fuzz`: schemathesis against our own OpenAPI, as an administrator and as a task; a 5xx or a hang fails it."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from fuzz_world import Cluster, populate, running_master, start_task

EXAMPLES = os.environ.get("FUZZ_EXAMPLES", "40")
WORKERS = os.environ.get("FUZZ_WORKERS", "2")
ONLY = os.environ.get("FUZZ_ONLY", "")  # a regular expression of paths
HITS = 0.7  # share of requests that name something that exists

# Logging out would make every later answer a 401; the master's log can be followed for ever.
NEVER = "auth/logout|master/logs"
# Of something that runs, these answer when it changes.
WAITING = "/logs|metrics-stream|signals|rendezvous|all_gather|notify_container_running|profiler"
# These would end the task whose token is used; the administrator has tried them.
ENDING = "kill|cancel|pause|disable|/reports|/exit"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="det-fuzz-") as scratch:
        directory = Path(scratch)
        with running_master(directory) as cluster:
            known = populate(cluster)
            failed = _run(cluster, "an administrator", cluster.token, known, NEVER)
            task = start_task(cluster)
            token = cluster.allocation_token(task["allocation_id"][0])
            failed += _run(cluster, "a task", token, known | task, f"{NEVER}|{WAITING}|{ENDING}")
            for used in (cluster.token, token):  # a fuzzer that locked itself out tested nothing
                Cluster(cluster.url, directory, used).call("GET", "/api/v1/me")
            print("answers by status:", cluster.answers(), flush=True)
        failed += _incidents(directory / "master.log")
    return min(failed, 1)


def _run(cluster: Cluster, who: str, token: str, known: dict[str, list[Any]], excluded: str) -> int:
    print(f"as {who}", flush=True)
    config = cluster.directory / "schemathesis.toml"
    config.write_text(_config(known))
    words = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)]
    words += ["run", f"{cluster.url}/docs/openapi.json", "--url", cluster.url, "-w", WORKERS]
    words += ["-H", f"Authorization: Bearer {token}", "--checks", "not_a_server_error", "-n", EXAMPLES]
    words += ["--phases", "examples,coverage,fuzzing", "--request-timeout", "20", "--max-failures", "50"]
    words += ["--exclude-path-regex", excluded, "--suppress-health-check", "all", "--warnings", "off"]
    words += ["--include-path-regex", ONLY] if ONLY else []
    return subprocess.run(words, check=False, cwd=cluster.directory).returncode


def _config(known: dict[str, list[Any]]) -> str:
    lists = [f"[dictionaries.{name}]\nvalues = {json.dumps(values)}\n" for name, values in known.items() if values]
    bound = [f'"path.{n}" = {{ dictionary = "{n}", probability = {HITS} }}' for n, values in known.items() if values]
    return "\n".join([*lists, "[parameters]", *bound, ""])


def _incidents(log: Path) -> int:
    """What went wrong behind an answer that looked fine: a broken stream, a crashed loop."""
    entries = [json.loads(line) for line in log.read_text().split("\n") if line.startswith("{")]
    bad = {re.sub(r"[0-9a-f]{8}", "#", e["message"]): e for e in entries if e["level"] == "ERROR" or "traceback" in e}
    for message, entry in bad.items():
        print(f"in the master's log: {message}\n{entry.get('traceback', '')}", flush=True)
    return len(bad)


if __name__ == "__main__":
    sys.exit(main())
