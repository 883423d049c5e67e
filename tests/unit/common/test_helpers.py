"""Certificates, contexts, times and words of `determined.common` and `determined.cli.ntsc`."""

import io
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from determined.cli import ntsc
from determined.common import context, util
from determined.common.api import authentication, bindings, certs
from determined.common.streams import range_encoded_keys, wire
from determined.common.streams._keys import KeyCache


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DET_MASTER_CERT_FILE", "DET_MASTER_CERT_NAME", "DET_DEBUG", "DET_RETRY_CONFIG", "DET_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))


def test_a_certificate_is_a_text_or_no_check() -> None:
    assert (certs.Cert().bundle, certs.Cert(noverify=True).bundle, certs.Cert(name="").name) == (None, False, None)
    bundle = certs.Cert("text of a certificate", name="cluster").bundle
    assert isinstance(bundle, str) and Path(bundle).read_text() == "text of a certificate"
    with pytest.raises(AssertionError, match="not both"):
        certs.Cert("text", noverify=True)


def test_accepted_certificates_are_kept_by_master(tmp_path: Path) -> None:
    store = certs.CertStore(certs.default_store())
    assert store.get_cert("https://one:443") is None
    store.set_cert("https://one:443", "pem")
    assert certs.default_load("https://one:443").spec.pinned == "pem"
    store.delete_cert("https://one:443")
    assert store.get_cert("https://one:443") is None


def test_arguments_and_the_environment_win_over_accepted_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = tmp_path / "master.pem"
    pem.write_text("pem")
    given = certs.default_load("https://one:443", str(pem), "cluster")
    assert (given.spec.pem, given.name) == ("pem", "cluster")
    monkeypatch.setenv("DET_MASTER_CERT_FILE", "noverify")
    assert certs.default_load("https://one:443").bundle is False


def test_a_context_directory_is_read_as_messages(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text("print()\n")
    (tmp_path / "code" / "data.bin").write_bytes(b"0")
    (tmp_path / "code" / ".detignore").write_text("*.bin\n")
    (tmp_path / "more.txt").write_text("more")
    files = context.read_v1_context(tmp_path / "code", [tmp_path / "more.txt"])
    assert sorted(file.path for file in files) == ["more.txt", "train.py"]
    assert all(isinstance(file, bindings.v1File) for file in files)
    assert context.read_legacy_context(tmp_path / "code")[0].keys() == files[0].to_json().keys()
    with pytest.raises(ValueError, match="more than 4"):
        context.read_v1_context(tmp_path / "code", limit=4)
    with pytest.raises(ValueError, match="nowhere"):
        context.read_v1_context(tmp_path / "nowhere")


def test_times_of_the_api_are_read_to_the_second() -> None:
    moment = datetime(2026, 11, 15, 4, 0, 7, tzinfo=UTC)
    assert util.parse_protobuf_timestamp("2026-11-15T04:00:07.123456789Z") == moment
    assert util.parse_protobuf_timestamp("2026-11-15T04:00:07+00:00") == moment
    assert util.is_protobuf_timestamp("2026-11-15T04:00:07.5Z") and util.is_protobuf_timestamp("2026-11-15T04:00:07Z")
    assert not any(map(util.is_protobuf_timestamp, ["2026-11-15T04:00:07", "2026-13-15T04:00:07Z", "Z", ""]))


def test_words_settings_and_decorators(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [util.strtobool(word) for word in ("yes", "1", "anything", "No", "0", "")] == [True] * 3 + [False] * 3
    assert util.get_max_retries_config().total == 20
    monkeypatch.setenv("DET_RETRY_CONFIG", '{"total": 3}')
    monkeypatch.setenv("DET_DEBUG", "true")
    assert (util.get_max_retries_config().total, util.debug_mode()) == (3, True)
    with pytest.warns(DeprecationWarning, match=r"old is deprecated.* Use new\."):
        assert _old() == 1
    state = random.getstate()
    util.preserve_random_state(random.random)()
    assert random.getstate() == state


@util.deprecated("Use new")
def old() -> int:
    return 1


_old = old


def test_a_weak_password_is_refused_with_a_line_per_rule() -> None:
    authentication.check_password_complexity("Long-enough-1")
    for weak in (None, "", "short"):
        with pytest.raises(ValueError, match="✗"):
            authentication.check_password_complexity(weak)
    assert authentication.salt_and_hash("") == ""
    assert len(authentication.salt_and_hash("x")) == 128


def test_outside_of_a_task_there_is_no_session_of_one() -> None:
    with pytest.raises(ValueError, match="DET_SESSION_TOKEN"):
        authentication.login_from_task("http://127.0.0.1:1", None)


def test_a_config_of_a_task_is_composed() -> None:
    config = ntsc.parse_config(io.StringIO("resources: {slots: 1}"), ["ls"], ["resources.slots=2"], ["/a:/b"])
    mounts = [{"host_path": "/a", "container_path": "/b"}]
    assert config == {"resources": {"slots": 2}, "entrypoint": ["ls"], "bind_mounts": mounts}
    assert ntsc.RemoteTaskNewAPIs[ntsc.TaskTypeCommand] == "commands"
    assert ntsc.TASK_ID_REGEX.match("1.0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f") and not ntsc.TASK_ID_REGEX.match("1")


@pytest.mark.parametrize("text", ["", "1", "1-3", "1,4-9,12"])
def test_ids_of_a_stream_are_written_as_ranges(text: str) -> None:
    keys = KeyCache()
    for number, key in enumerate(range_encoded_keys(text)):
        keys.add(key, number)
    assert keys.known() == text
    keys.discard("1,5-6")
    assert set(range_encoded_keys(keys.known())) == set(range_encoded_keys(text)) - {1, 5, 6}


def test_messages_of_later_releases_have_fields_that_are_ignored() -> None:
    row: dict[str, Any] = dict.fromkeys(wire.ProjectMsg.__dataclass_fields__, 0)
    assert wire.ProjectMsg.from_json({**row, "new": 1}).to_json() == row
