"""Completion of words: what may come next, in a table and in real shells."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from recorded_master import TIME, experiment, page, trial
from small_master import SmallMaster

from determined.api import submitted_task
from determined.cli.completion import NEWEST, TABLE, candidates
from determined.cli.completion_scripts import SCRIPTS
from determined.cli.grammar import FILES

BIN = Path(sys.executable).parent


def words(*typed: str) -> list[str]:
    def numbers(noun: str) -> Iterable[tuple[str, str]]:
        return [("12", f"an {noun}"), ("31", "another")]

    return [word for word, _ in candidates(list(typed), json.loads(TABLE.read_text()), numbers)]


def test_nouns_come_first_and_are_filtered_by_what_is_typed() -> None:
    assert {"experiment", "trial", "master"} <= set(words(""))
    assert words("exp") == ["experiment"]


def test_global_options_may_stand_before_the_noun() -> None:
    assert words("-m", "host:8080", "exp") == ["experiment"]
    assert "--master" in words("--m")


@pytest.mark.parametrize("noun", ["e", "experiment", "exper"])
def test_commands_of_a_noun_are_found_by_name_alias_and_prefix(noun: str) -> None:
    assert words(noun, "li") == ["list", "list-checkpoints", "list-trials"]


def test_flags_and_the_choices_of_their_values() -> None:
    assert words("e", "create", "--fo") == ["--follow-first-trial"]
    assert words("e", "list", "--pages", "") == ["1", "all"]
    assert words("completion", "") == ["bash", "zsh", "fish"]


def test_paths_are_left_to_the_shell_and_numbers_are_offered() -> None:
    assert words("e", "create", "con") == [FILES]
    assert words("e", "create", "--paused", "c.yaml", "m") == [FILES]
    assert words("e", "describe", "") == ["12", "31"]
    assert words("t", "logs", "3") == ["31"]


def test_what_is_unknown_or_complete_has_nothing_to_offer() -> None:
    assert words("nothing", "") == []
    assert words("e", "describe", "1", "") == []


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["--master=host:8080", "exp"], ["experiment"]),
        (["-u", "ann", "--master", "host", "exp"], ["experiment"]),
        (["-v", "exp"], ["experiment"]),
        (["e", "list-trials", "--limit=5", ""], ["12", "31"]),
        (["e", "list-trials", "--limit", "5", ""], ["12", "31"]),
        (["e", "list-trials", "--csv", "1"], ["12"]),
        (["e", "set", "priority", ""], ["12", "31"]),
        (["t", "download", "--best", "-o", "d"], [FILES]),
        (["t", "download", "--best", "-o", "dir", ""], ["12", "31"]),
        (["open", "tr"], ["trial"]),
        (["tb", "kill", "3"], ["31"]),
        (["tpl", "describe", "1"], ["12"]),
        (["tpl", "set-value", "config", "12", ""], [FILES]),
        (["e", "create", "--template", ""], ["12", "31"]),
        (["cmd", "run", "--template", "3"], ["31"]),
        (["task", "logs", ""], ["12", "31"]),
        (["t", "logs", "1", "--level", "ERR"], ["ERROR"]),
        (["c", "download", "--mode", ""], ["direct", "master", "auto"]),
        (["e", "de"], ["delete", "delete-tb-files", "describe"]),
        (["deploy", "local", "cluster-"], ["cluster-down", "cluster-up"]),
        (["e", "--"], ["--help"]),
        (["c", "rm", "--y"], ["--yes"]),
        (["dev", "curl", ""], []),
        (["re", ""], []),
        (["e", "de", ""], []),
        (["w", "describe", ""], []),
        ([], words("")),
    ],
)
def test_cursor_gets_what_fits_there(typed: list[str], offered: list[str]) -> None:
    assert words(*typed) == offered


def test_every_word_has_a_text_that_says_what_it_does() -> None:
    table = json.loads(TABLE.read_text())
    found = candidates(["e", ""], table, lambda _: [])
    assert ("create", "create experiment") in found and all(about for _, about in found)


def test_every_noun_that_an_argument_declares_can_be_listed() -> None:
    declared = set(re.findall(r'"completes": "(\w+)"', TABLE.read_text()))
    assert "experiment" in declared
    assert declared <= {*NEWEST, *submitted_task.NOUNS, "task"}


def test_hidden_flags_are_not_offered() -> None:
    assert "--namespace" not in words("w", "create", "--")
    assert "--det-version" not in words("deploy", "local", "cluster-up", "--")


EXPERIMENTS = {"experiments": [experiment(7, name="seven"), experiment(6, name="six")], "pagination": {"total": 2}}
TASK = "0a1b2c3d-0000-4000-8000-000000000001"
NOTEBOOK = {
    "id": TASK, "description": "JupyterLab (a)", "jobId": "j", "resourcePool": "default", "startTime": TIME,
    "state": "STATE_RUNNING", "username": "determined", "workspaceId": 1,
}  # fmt: skip
MODEL = {
    "id": 4, "archived": False, "creationTime": TIME, "lastUpdatedTime": TIME, "metadata": {}, "numVersions": 2,
    "userId": 1, "username": "ann", "workspaceId": 7,
}  # fmt: skip
MODELS = [
    {**MODEL, "name": "mnist", "description": "reads\ndigits"},
    {**MODEL, "name": "other"},
    {**MODEL, "name": "two words"},
    {**MODEL, "name": "two\tlines\n"},
    {**MODEL, "name": "uber;echo${IFS}ran>ran;"},
    {**MODEL, "name": "$(id)"},
    {**MODEL, "name": "--force"},
    {**MODEL, "name": "수:1", "description": "a\x1b[2J\n:files"},
]
TEMPLATES = [{"name": name, "workspaceId": 1, "config": {}} for name in ("usual", "uber;echo${IFS}ran>ran;", "u`id`")]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["e", "describe", ""], ["7\tseven", "6\tsix"]),
        (["t", "logs", "7"], ["71\tseven", "70\tseven"]),
        (["trial", "describe", ""], ["71\tseven", "70\tseven", "60\tsix"]),
        (["notebook", "open", "0a1"], [f"{TASK}\tJupyterLab (a)"]),
        (["model", "describe", ""], ["mnist\treads digits", "other", "수:1\ta[2J :files"]),
        (["m", "alias", "set", "mn"], ["mnist\treads digits"]),
        (["m", "download", "o"], ["other"]),
        (["m", "create", ""], []),
        (["template", "remove", "u"], ["usual"]),
    ],
)
def test_numbers_are_those_of_the_master_that_the_command_names(
    master: SmallMaster, surroundings: Path, typed: list[str], offered: list[str]
) -> None:
    master.answers["GET", "/api/v1/experiments"] = (200, EXPERIMENTS)
    master.answers["GET", "/api/v1/experiments/7/trials"] = page("trials", trial(70), trial(71))
    master.answers["GET", "/api/v1/experiments/6/trials"] = page("trials", trial(60))
    master.answers["GET", "/api/v1/notebooks"] = page("notebooks", NOTEBOOK)
    master.answers["GET", "/api/v1/models"] = page("models", *MODELS)
    master.answers["GET", "/api/v1/templates"] = page("templates", *TEMPLATES)
    assert _completed("-m", master.url, *typed).splitlines() == offered


def test_master_that_does_not_answer_has_no_numbers_and_no_words(surroundings: Path) -> None:
    assert _completed("-m", "http://127.0.0.1:1", "e", "describe", "") == ""


def _completed(*words: str) -> str:
    """What a shell gets, from a process that a busy machine may delay; DET_MASTER names a master that is away."""
    code = (
        "import sys; from determined.cli import completion, main; completion._SECONDS = 120.0; main.main(sys.argv[1:])"
    )
    variables = {**os.environ, "DET_MASTER": "http://127.0.0.1:1"}
    command = [sys.executable, "-c", code, "__complete", *words]
    quiet = subprocess.DEVNULL
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stdin=quiet, text=True, env=variables).stdout


def test_completion_imports_no_command_and_no_network_library() -> None:
    code = "import sys; from determined.cli.main import main; main(['__complete', 'e', 'cre']); print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.startswith("create\t")
    assert not {"urllib3", "msgspec", "yaml", "determined.cli.commands"} & set(said.split())


def shell(program: str, script: str, home: Path) -> str:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    variables = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(home)}
    done = subprocess.run([program, "-c", script], check=True, capture_output=True, text=True, env=variables, cwd=home)
    return done.stdout


def test_bash_completes_words(tmp_path: Path) -> None:
    script = """
eval "$(det completion bash)"
COMP_WORDS=(det experiment list-) COMP_CWORD=2
_det_complete
printf '%s\\n' "${COMPREPLY[@]}"
complete -p det
"""
    assert shell("bash", script, tmp_path).splitlines() == [
        "list-checkpoints",
        "list-trials",
        "complete -F _det_complete det",
    ]


HOSTILE_NAMES = ["uber;echo${IFS}ran>ran;", "u$(echo ran>ran)", "u`echo ran>ran`", "u|tee ran", "u>ran", "u'>ran'"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_bash_takes_a_completed_name_as_one_word_and_runs_nothing_of_it(tmp_path: Path, name: str) -> None:
    """What `det __complete` offers is quoted, should an offer ever hold what a shell would run."""
    given = tmp_path / "given.json"
    det = tmp_path / "det"
    det.write_text(
        f"#!{sys.executable}\nimport json, sys\nif sys.argv[1] == '__complete': print({name!r} + '\\tabout')\n"
        f"else: json.dump(sys.argv[1:], open({str(given)!r}, 'w'))\n"
    )
    det.chmod(0o755)
    (tmp_path / "rc").write_text(f"PS1='ready> '\n{SCRIPTS['bash']}")
    _type_in_bash(tmp_path, "det template remove u\t\r", "exit\r")
    assert json.loads(given.read_text()) == ["template", "remove", name]
    assert not (tmp_path / "ran").exists()


def _type_in_bash(home: Path, *lines: str) -> None:
    """Type each line when an interactive bash shows its prompt; return when bash has ended."""
    terminal, inside = pty.openpty()
    variables = {**os.environ, "PATH": f"{home}:{os.environ['PATH']}", "HOME": str(home), "INPUTRC": os.devnull}
    command = ["bash", "--noprofile", "--rcfile", "rc", "-i"]
    bash = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, cwd=home, env=variables)
    os.close(inside)
    try:
        for line in lines:
            shown = b""
            while b"ready> " not in shown:
                assert select.select([terminal], [], [], 60)[0], shown
                shown += os.read(terminal, 4096)
            os.write(terminal, line.encode())
        assert bash.wait(60) == 0
    finally:
        bash.kill()
        bash.wait()
        os.close(terminal)


def test_fish_completes_words_and_paths(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    script = "det completion fish | source; complete -C 'det e list-tr'; complete -C 'det e create conf'"
    lines = [line.split("\t")[0] for line in shell("fish", script, tmp_path).splitlines()]
    assert lines == ["list-trials", "config.yaml"]


def test_zsh_completes_words(tmp_path: Path) -> None:
    script = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; eval "$(det completion zsh)"; echo loa''ded'
zpty -r shell out '*loaded*'
zpty -w -n shell $'det exp\\tlist-tr\\t'
zpty -r shell out '*list-trials*' && echo "$out"
zpty -d shell
"""
    drawn = shell("zsh", script, tmp_path)
    assert "experiment" in drawn and "list-trials" in drawn  # of which only parts were typed


def test_every_script_says_how_to_install_it() -> None:
    for shell, script in SCRIPTS.items():
        assert f"det completion {shell}" in script.partition("{")[0]
