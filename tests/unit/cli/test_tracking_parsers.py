"""What `det run` reads from a command line and from printed lines."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from determined.cli.tracking.argv_hparams import arguments_of, hparams_of
from determined.cli.tracking.provenance import git_state, packages
from determined.cli.tracking.secret_words import masked_words, remote_without_credentials
from determined.cli.tracking.stdout_metrics import Reading, read_line
from determined.cli.tracking.tracked_run import PrintedMetrics, default_name
from determined.rundir.layout import RunDir


@pytest.mark.parametrize(
    ("words", "hparams"),
    [
        ("python train.py --lr 0.1", {"lr": 0.1}),
        ("python train.py --lr=1e-3 --layers=3", {"lr": 0.001, "layers": 3}),
        ("python -u train.py lr=0.1 model.width=4 +data.name=x",
            {"lr": 0.1, "model": {"width": 4}, "data": {"name": "x"}}),
        ("python -m pkg.train --amp --no-cache --seed -1", {"amp": True, "no_cache": True, "seed": -1}),
        ("torchrun --nproc_per_node 2 train.py --batch-size 32", {"batch_size": 32}),
        ("./train --sizes [1,2] --on true --off False --no none",
            {"sizes": [1, 2], "on": True, "off": False, "no": None}),
        ("python train.py data.csv -- --lr 1", {"lr": 1}),
        ("python train.py -b 8 -v", {"b": 8, "v": True}),
        ("python train.py --api-key abc --hf_token=x --tokens 5",
            {"api_key": "********", "hf_token": "********", "tokens": 5}),
        ("python train.py a=1 a.b=2", {"a": {"": 1, "b": 2}}),
        ("python train.py http://x/?a=b 0=1 =3 --=4", {}),
        ("python train.py --dbPassword x --apiToken=y --openai-key sk-1 --pass p --auth b",
            dict.fromkeys(["dbPassword", "apiToken", "openai_key", "pass", "auth"], "********")),
        ("python train.py --password -abc --lr 1", {"password": "********", "lr": 1}),
        ("python train.py --db postgres://u:pw@h/d --index https://h/x?private_token=1&a=2",
            {"db": "postgres://********@h/d", "index": "https://h/x?private_token=********&a=2"}),
        ("python train.py --at http://h:80/a@b --config {'password':'x'}",
            {"at": "http://h:80/a@b", "config": "********"}),
        ('python train.py --config {"password":"x","urls":["ftp://u:p@h"],"lr":0.1}',
            {"config": {"password": "********", "urls": ["ftp://********@h"], "lr": 0.1}}),
        ("python train.py --max-tokens 5 --monkey 1 --passes 2 --author me --keys 3",
            {"max_tokens": 5, "monkey": 1, "passes": 2, "author": "me", "keys": 3}),
        ("python train.py --commit 12e4567 --id 99999999999999999999 --sizes [1e999]",
            {"commit": "12e4567", "id": "99999999999999999999", "sizes": ["inf"]}),
        ("sh -c exit", {"c": "exit"}),
        ("true", {}),
    ],
)  # fmt: skip
def test_hyperparameters_of_a_command(words: str, hparams: dict[str, Any]) -> None:
    assert hparams_of(words.split()) == hparams


def test_secrets_are_masked_in_the_shown_command() -> None:
    command = ["python", "train.py", "--api-key", "abc", "--hf_token=x", "--lr", "1", "password=y"]
    masked = "********"
    assert masked_words(command) == [
        "python",
        "train.py",
        "--api-key",
        masked,
        f"--hf_token={masked}",
        "--lr",
        "1",
        f"password={masked}",
    ]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--db", "postgres://u:pw@h/d"], ["--db", "postgres://********@h/d"]),
        (["--db=postgres://u:p/w@h/d"], ["--db=postgres://********@h/d"]),
        (["--config", '{"password": "x", "a": 1}'], ["--config", '{"password": "********", "a": 1}']),
        (["--config", '{"a":  1}'], ["--config", '{"a":  1}']),
        (["--password", "-abc", "--lr", "1"], ["--password", "********", "--lr", "1"]),
        (["--password", "--token", "1"], ["--password", "********", "1"]),
        (["sh", "-c", "a HF_TOKEN=x --pwd y  --lr 1"], ["sh", "-c", "a HF_TOKEN=******** --pwd ********  --lr 1"]),
        (["https://h/?a=b&token=c"], ["https://h/?a=b&token=********"]),
    ],
)  # fmt: skip
def test_secrets_in_values_are_masked_in_the_shown_command(words: list[str], shown: list[str]) -> None:
    assert masked_words(words) == shown


def test_huge_command_lines_are_bounded() -> None:
    command = ["python", "train.py", *(f"--k{n}={'x' * 5000}" for n in range(600))]
    found = hparams_of(command)
    assert (len(found), max(map(len, found.values()))) == (500, 1000)


def test_arguments_begin_after_the_script() -> None:
    assert arguments_of(["env", "A=1", "python", "a.py", "b.py", "--x"]) == ["b.py", "--x"]


@pytest.mark.parametrize(
    ("line", "readings"),
    [
        ("step=10 loss=0.5", [("training", 10, {"loss": 0.5})]),
        ("epoch 3: val_loss=0.2", [("validation", 3, {"val_loss": 0.2})]),
        ("[Epoch 3/10] loss: 0.5, val_acc: .75",
            [("training", 3, {"loss": 0.5}), ("validation", 3, {"val_acc": 0.75})]),
        ('{"step": 7, "loss": 1.5, "name": "x", "ok": true}', [("training", 7, {"loss": 1.5})]),
        ('{"epoch": 1, "val_loss": 0.3}', [("validation", 1, {"val_loss": 0.3})]),
        ("Step 100 | loss = 1e-3 | lr = 3E-4", [("training", 100, {"loss": 0.001, "lr": 0.0003})]),
        ("epoch=2 step=40 loss=1", [("training", 40, {"epoch": 2.0, "loss": 1.0})]),
        ("epoch=2 step=40 val_loss=1", [("validation", 40, {"epoch": 2.0, "val_loss": 1.0})]),
        ("iter: 5 loss: nan", [("training", 5, {"loss": "nan"})]),
        ("loss=0.5", []),
        ("step=10", []),
        ("step=1.5 loss=2", []),
        ("step=-1 loss=2", []),
        ("epoch ends at 12:30:45", []),
        ("http://localhost:8080/step=", []),
        ('{"step": 1', []),
        ("[1, 2]", []),
        ("", []),
        ("version 1.2.3", []),
        ("step=1 evaluation_loss=2", [("validation", 1, {"evaluation_loss": 2})]),
        ("Namespace(batch_size=32, epochs=14, lr=1.0)", []),
        ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.30", [("training", 1, {"Loss": 2.3})]),
        ('{"step": 1, "n": 1' + "0" * 400 + ', "loss": 2}', [("training", 1, {"loss": 2})]),
        ('{"step": 1' + "0" * 400 + ', "loss": 2}', []),
        ('{"step": 1, "\\ud83d": 3, "loss": 2}', [("training", 1, {"loss": 2})]),
    ],
)  # fmt: skip
def test_metrics_of_a_line(line: str, readings: list[tuple[str, int, dict[str, Any]]]) -> None:
    assert str(read_line(line)) == str([Reading(g, s, {k: float(v) for k, v in m.items()}) for g, s, m in readings])


def test_a_full_disk_does_not_stop_the_reader_of_printed_metrics(tmp_path: Path) -> None:
    run_dir = RunDir(tmp_path / "run")
    run_dir.path.mkdir()
    metrics = PrintedMetrics(run_dir)  # its directory of journals is missing: no file can be made there
    metrics.take([("step=1 loss=0.5", None, None)])
    metrics.close()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("line", ["1" + "a" * 3990, "=1" + "a" * 3990, "a=1 step" + " " * 3990])
def test_long_words_do_not_hang_the_output(line: str) -> None:
    """Read a thousand lines, which took minutes when each letter began a search to the end of the line."""
    for _ in range(1000):
        assert read_line(line) == []


def test_long_lines_are_not_read() -> None:
    assert read_line("step=1 " + "loss=0.5 " * 1000) == []


@pytest.mark.parametrize(
    ("url", "shown_url"),
    [
        ("https://user:token@host/r.git", "https://host/r.git"),
        ("https://token@host/r.git", "https://host/r.git"),
        ("git@host:r.git", "git@host:r.git"),
        ("https://u:p@ss@host/x", "https://host/x"),
        ("https://host/x?private_token=1#a", "https://host/x"),
        ("https://u:p/ss@host/x", None),
        ("https://u:p?ss@host/x", None),
        ("/srv/git/r@1", "/srv/git/r@1"),
    ],
)
def test_remotes_are_kept_without_credentials(url: str, shown_url: str | None) -> None:
    assert remote_without_credentials(url) == shown_url


def test_packages_are_listed_without_modules_of_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "csv.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    environment = packages(sys.executable)
    assert environment is not None and any(line.startswith("msgspec==") for line in environment["packages"])


def test_a_status_that_git_does_not_tell_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "git"
    git.write_text('#!/bin/sh\ncase "$*" in *--porcelain*|*ls-files*) exit 1;; *) echo x;; esac\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert git_state(tmp_path, "train.py") == {"commit": "x", "branch": "x", "remote": "x"}


def test_files_that_git_does_not_know_are_counted_and_an_unknown_script_is_a_change(tmp_path: Path) -> None:
    work = tmp_path / "repository" / "work"
    work.mkdir(parents=True)
    for name in ("known.py", "../.gitignore"):
        (work / name).write_text("*.log\n")
    commit = "git init -q .. && git add .. && git -c user.name=a -c user.email=a@b commit -qm x"
    subprocess.run(commit, shell=True, cwd=work, check=True)
    for name in ("train.py", "../notes.txt", "ignored.log", "../../elsewhere.py"):
        (work / name).touch()

    def state(script: str | None) -> list[Any]:
        found = git_state(work, script) or {}
        return [found.get(key) for key in ("dirty", "untracked", "script_untracked")]

    assert state("known.py") == [False, 2, False]
    assert state("train.py") == state(str(work / "train.py")) == [True, 2, True]
    assert state("../../elsewhere.py") == state(None) == [False, 2, None]
    (work / "known.py").write_text("changed")
    assert state("known.py") == [True, 2, False]


def test_an_experiment_is_named_after_its_script() -> None:
    assert default_name(["python", "src/train.py", "--x"]) == "train.py"
    assert default_name(["/usr/bin/true"]) == "true"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("Authorization: Bearer abc", "Authorization: ********"),
        ("X-Api-Key:abc", "X-Api-Key:********"),
        ("--header=X-Token: abc", "--header=X-Token: ********"),
        ("curl -H 'Authorization: Bearer abc' host", "curl -H 'Authorization: ******** host"),
        ("Cookie: session=abc; page=2", "Cookie: ********"),
        ("https://account.blob.host/c?sv=1&sig=abc", "https://account.blob.host/c?sv=1&sig=********"),
        ("Server=x;Password=abc;User=y", "Server=x;Password=********"),
        ("https://host/?X-Amz-Signature=abc&page=2", "https://host/?X-Amz-Signature=********"),
        ("Content-Type: text/html", "Content-Type: text/html"),
        ("package.module:main", "package.module:main"),
        ("http://host:80/path", "http://host:80/path"),
    ],
)
def test_headers_and_parameters_with_secrets_are_masked(word: str, shown: str) -> None:
    assert masked_words(["program", word])[1].replace("********'", "********") == shown
    hparams = hparams_of(["program", "--option", word])
    assert "abc" not in str(hparams)


def test_options_of_tokens_by_other_names_are_masked() -> None:
    assert masked_words(["p", "--jwt", "abc", "--bearer=abc"]) == ["p", "--jwt", "********", "--bearer=********"]
    assert masked_words(["p", "--cookie", "abc", "--sig=0.5"]) == ["p", "--cookie", "********", "--sig=0.5"]
