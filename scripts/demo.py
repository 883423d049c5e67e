"""`make demo`: the main job on the embedded default: a real experiment, followed to its end, and its address."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DET = Path(sys.executable).with_name("det")
EXAMPLE = ROOT / "examples" / "core_api"


def main() -> int:
    words = [str(DET), "e", "create", "2_checkpoints.yaml", ".", "-f"]
    print(f"$ det {' '.join(words[1:])}   (in {EXAMPLE.relative_to(ROOT)})", flush=True)
    output = _run_and_show(words)
    match = re.search(r"Created experiment (\d+)", output)
    if match is None:
        return 1
    experiment = match.group(1)
    if _show("e", "wait", experiment, "--polling-interval", "0.2") != 0:
        return 1
    _show("e", "list-trials", experiment)
    _show("e", "list-checkpoints", experiment)
    address = [str(DET), "open", "experiment", experiment, "--print-only"]
    link = subprocess.run(address, capture_output=True, text=True, check=True).stdout.strip()
    print(f"\nThe experiment in your browser, signed in (once, within a minute): {link}")
    print("Another such address: .venv/bin/det open")
    print("Stop the master when you are done: .venv/bin/det master stop")
    return 0


def _run_and_show(words: list[str]) -> str:
    """Run it, passing its lines on as they come."""
    lines = []
    with subprocess.Popen(words, cwd=EXAMPLE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode != 0:
        sys.exit(process.returncode)
    return "".join(lines)


def _show(*words: str) -> int:
    print(f"\n$ det {' '.join(words)}", flush=True)
    return subprocess.run([str(DET), *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
