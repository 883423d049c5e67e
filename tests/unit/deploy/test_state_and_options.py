"""What a master's directory remembers between starts, and how it is mended."""

import json
import os
import socket
import ssl
from pathlib import Path

import pytest

from determined._version import __version__
from determined.api import own_master
from determined.api.own_master import MasterState, UnsafeState
from determined.config import parse_yaml
from determined.deploy import embedded, local
from determined.deploy.options import MasterOptions, SlotsOption, keep, stored
from determined.deploy.process import MasterProcess, _is_older, is_free
from determined.errors import DeterminedError, InvalidArgument
from determined.master.config import load_master_config


def test_options_are_kept_for_the_next_start(tmp_path: Path) -> None:
    options = MasterOptions(slots=4, config={"slot_type": "cpu"})
    keep(tmp_path, options)
    assert stored(tmp_path) == options
    assert (tmp_path / "options.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("option", "expected"), [(None, 3), (2, 2), ("auto", None)])
def test_slots_of_the_embedded_master_are_remembered_until_auto_resets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: SlotsOption | None, expected: int | None
) -> None:
    started: list[MasterOptions] = []
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    monkeypatch.setattr(MasterProcess, "start", lambda self, options, meanwhile=None: started.append(options))
    embedded.directory().mkdir()
    keep(embedded.directory(), MasterOptions(slots=3, host="127.0.0.2"))
    embedded.ensure(option)
    assert started == [MasterOptions(slots=expected, host="127.0.0.2")]
    assert embedded.artificial_slots() == 3, "until it starts"


def test_the_config_of_the_embedded_master_is_remembered_until_an_empty_name_resets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[MasterOptions] = []
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    monkeypatch.setattr(
        MasterProcess,
        "start",
        lambda self, options, meanwhile=None: (started.append(options), keep(self.directory, options)),
    )
    embedded.directory().mkdir()
    own = tmp_path / "own.yaml"
    own.write_text("webhooks: {allowed_networks: [127.0.0.0/8]}\n")
    for name in (str(own), None, ""):
        embedded.ensure(config_file=name)
    assert [options.config_file for options in started] == [str(own), str(own), None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no master config at"),
        ("slotz: 1", "slotz"),
        ("security: {initial_user_password: mine}", r"take out security\.initial_user_password"),
    ],
)
def test_a_config_that_cannot_be_the_embedded_masters_is_refused_before_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    file = tmp_path / "own.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(DeterminedError, match=said):
        embedded.ensure(config_file=str(file))


def test_slots_auto_of_a_cluster_wins_over_its_master_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[MasterOptions] = []
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    monkeypatch.setattr(MasterProcess, "start", lambda self, options, meanwhile=None: (started.append(options), True))
    own = tmp_path / "own.yaml"
    own.write_text("slots: 4\nport: 1\n")
    for option in (None, "auto", 2):
        local.up("c", local.ClusterOptions(master_config_path=own, port=_a_port(), slots=option))
    (tmp_path / "clusters" / "c").mkdir(parents=True)
    files = [MasterProcess(tmp_path / "clusters" / "c")._config(options, "pw").read_text() for options in started]
    loaded = [load_master_config(parse_yaml(file), {"HOME": "/h"}, {}).slots for file in files]
    assert (loaded, [options.slots for options in started]) == ([4, None, 4], [None, None, 2])


def _a_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("text", [None, "", "{", '{"slots": "x"}'])
def test_lost_options_are_the_defaults(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "options.json").write_text(text)
    assert stored(tmp_path) == MasterOptions()


def _written(directory: Path) -> None:
    (directory / "master.yaml").write_text(json.dumps({"security": {"initial_user_password": "pw"}}))
    (directory / "identity").write_text("secret")
    (directory / "master.port").write_text("1234\n")
    (directory / "master.lock").write_text(f"{os.getpid()}\n")


@pytest.mark.parametrize("damage", ["", "{", '{"url": 7}'])
def test_a_damaged_state_file_is_put_together_again_from_its_neighbours(tmp_path: Path, damage: str) -> None:
    _written(tmp_path)
    own_master.write_private(tmp_path / "state.json", damage.encode())
    assert MasterProcess(tmp_path)._known() == MasterState(
        url="http://127.0.0.1:1234",
        pid=os.getpid(),
        version=__version__,
        identity="secret",
        password="pw",
        data_dir=str(tmp_path),
    )


def test_a_master_with_tls_is_put_together_again_with_the_first_certificate_of_its_file(tmp_path: Path) -> None:
    _written(tmp_path)
    own, signer = (f"{ssl.PEM_HEADER}\n{text}\n{ssl.PEM_FOOTER}\n" for text in ("b3du", "c2lnbmVy"))
    (tmp_path / "chain.pem").write_text(f"subject=cluster\n{own}{signer}")
    tls = {"cert": "chain.pem", "key": "key.pem"}
    (tmp_path / "master.yaml").write_text(json.dumps({"security": {"initial_user_password": "pw", "tls": tls}}))
    found = MasterProcess(tmp_path)._known()
    assert found is not None and (found.url, found.certificate) == ("https://127.0.0.1:1234", own)


def test_nothing_is_known_of_a_master_that_never_ran(tmp_path: Path) -> None:
    assert MasterProcess(tmp_path / "none").find() is None
    assert MasterProcess(tmp_path / "none").stop() is False
    assert not (tmp_path / "none").exists()


def test_a_stale_state_file_is_found_out_at_once(tmp_path: Path) -> None:
    state = MasterState(
        url="http://127.0.0.1:9", pid=os.getpid(), version="1", identity="x", password="p", data_dir=str(tmp_path)
    )
    own_master.save(tmp_path / "state.json", state)
    assert MasterProcess(tmp_path).find() is None


def test_a_directory_others_may_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(UnsafeState, match="chmod 700"):
        MasterProcess(tmp_path).start(MasterOptions())


def test_only_an_older_version_is_replaced() -> None:
    assert _is_older("0.1.0")
    assert not _is_older(__version__)
    assert not _is_older("999.0.0")


def test_a_taken_port_is_not_free() -> None:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert not is_free("127.0.0.1", listener.getsockname()[1])


@pytest.mark.parametrize("name", ["", ".", "../x", "a/b"])
def test_a_cluster_name_cannot_leave_its_directory(name: str) -> None:
    with pytest.raises(InvalidArgument, match="cannot name a cluster"):
        local.directory(name)


def test_a_missing_master_config_is_told_before_anything_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    with pytest.raises(InvalidArgument, match="--master-config-path"):
        local.up("x", local.ClusterOptions(master_config_path=tmp_path / "none.yaml"))
    assert not (tmp_path / "clusters").exists()


def test_forgetting_the_database_keeps_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path))
    own = local.directory("x")
    (own / "checkpoints" / "u").mkdir(parents=True)
    own.chmod(0o700)
    (own / "runs" / "r").mkdir(parents=True)
    for name in ("master.db", "master.db-wal", "state.json"):
        own_master.write_private(own / name, b"")
    assert local.down("x", delete_db=True) is False
    assert sorted(p.name for p in own.iterdir() if p.name != "start.lock") == ["checkpoints"]
