"""What the master tells the program of a notebook."""

from typing import Any

from determined.config.job import JobConfig
from determined.master.services.notebook_settings import notebook_settings, saved_files_prefix
from determined.wire.codec import convert
from determined.wire.notebook_settings import NotebookSettings

STORE = {"type": "s3", "bucket": "b", "secret_key": "hidden"}


def _settings(config: dict[str, Any], idle_timeout: float | None = None) -> NotebookSettings:
    plain = notebook_settings(
        "sesame", JobConfig.load(config), idle_timeout=idle_timeout, storage=STORE, cluster_id="cluster", user_id=7
    )
    return convert(plain, NotebookSettings)


def test_notebooks_are_kept_in_the_users_directory_of_the_clusters_storage() -> None:
    saved = _settings({"work_dir": None}).saved_files
    assert saved is not None
    assert (saved.storage, saved.prefix) == (STORE, saved_files_prefix("cluster", 7))
    assert saved.prefix == "cluster/notebooks/user-7"


def test_a_work_directory_of_the_users_keeps_its_files_itself() -> None:
    assert _settings({"work_dir": "/home/ada"}).saved_files is None


def test_idle_reports_are_wanted_where_there_is_a_timeout() -> None:
    assert not _settings({}).reports_idle
    settings = _settings({"notebook_idle_type": "activity"}, idle_timeout=60)
    assert (settings.reports_idle, settings.idle_type) == (True, "activity")


def test_the_text_of_the_settings_has_no_secret() -> None:
    assert "sesame" not in repr(_settings({})) and "hidden" not in repr(_settings({}))
