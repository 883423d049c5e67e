"""The script of docs/training-apis/deepspeed.md trains."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).parents[4] / "docs" / "training-apis" / "deepspeed.md"


def test_documented_script_trains_and_saves(tmp_path: Path) -> None:
    ((name, text),) = re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    Path(name).write_text(text)
    runpy.run_path(name, run_name="__main__")
    assert list((tmp_path / "data" / "determined").glob("*/model0/*_optim_states.pt"))
