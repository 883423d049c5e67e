"""The rules that make an import safe: read-only, resumable, idempotent, refused where it must be, removable."""

import random
from pathlib import Path

import psycopg
import pytest
from importer import Importer, content
from sqlalchemy import select

from conftest import Source, make_source
from determined.master.db import schema
from determined.master.db.queries import import_unit, imported, user


def test_a_dry_run_writes_nothing_and_a_second_run_takes_nothing(sqlite_importer: Importer, source: Source) -> None:
    events = sqlite_importer.run("--source", source.url, "--dry-run")
    assert events[0]["counts"]["experiments"] == 6
    assert sqlite_importer.read(lambda conn: imported.count(conn, "experiments")) == 0
    sqlite_importer.run("--source", source.url)
    before = sqlite_importer.read(content)
    again = sqlite_importer.run("--source", source.url)
    assert set(again[0]["counts"].values()) == {0}
    assert sqlite_importer.read(content) == before


def test_what_is_new_in_the_source_is_taken_by_a_later_run(sqlite_importer: Importer, source: Source) -> None:
    sqlite_importer.run("--source", source.url, "--only", "experiments=1-3")
    assert sqlite_importer.read(lambda conn: imported.count(conn, "experiments")) == 3
    events = sqlite_importer.run("--source", source.url, "--since", "2024-07-10")
    assert events[0]["counts"]["experiments"] == 2, "9 and 12 started on that day or later"
    sqlite_importer.run("--source", source.url)
    assert sqlite_importer.read(lambda conn: imported.count(conn, "trials")) == 7


def test_only_a_workspace_is_taken(sqlite_importer: Importer, source: Source) -> None:
    sqlite_importer.run("--source", source.url, "--only", "workspaces=Vision", "--no-logs")
    ids = sqlite_importer.read(lambda conn: sorted(conn.execute(select(schema.experiments.c.id)).scalars()))
    assert ids == [1, 2]
    assert sqlite_importer.read(lambda conn: imported.count(conn, "log_chunks")) == 0


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM gopg_migrations WHERE version > 20240530112249; "
         "UPDATE gopg_migrations SET version = 20230101000000", "Start a 0.38.1 master once"),
        ("ALTER TABLE runs DROP COLUMN hparams", "runs.hparams"),
        ("DROP TABLE gopg_migrations", "no database of an upstream master"),
    ],
)  # fmt: skip
def test_a_source_of_another_form_is_refused(
    sqlite_importer: Importer, source: Source, statement: str, message: str
) -> None:
    changed = source.copy()
    changed.execute(statement)
    events = sqlite_importer.run("--source", changed.url, status=1)
    assert message in events[-1]["message"]


def test_a_clash_stops_it_before_anything_is_written(sqlite_importer: Importer, source: Source) -> None:
    sqlite_importer.run("--source", source.url, "--only", "experiments=1")
    other = source.copy()
    other.execute("UPDATE cluster_id SET cluster_id = 'another'")
    refused = sqlite_importer.run("--source", other.url, status=1)
    assert "data of another source" in refused[-1]["message"]
    before = sqlite_importer.read(content)
    _take_id(sqlite_importer, 9)
    refused = sqlite_importer.run("--source", source.url, status=1)
    assert "experiments 9" in refused[-1]["message"]
    assert len(sqlite_importer.read(content)["experiments"]) == len(before["experiments"]) + 1


def _take_id(importer: Importer, experiment_id: int) -> None:
    """Make an experiment of our own with this id."""
    from determined.master.db import dialects

    engine = dialects.create_engine(importer.url)
    with engine.connect() as conn:
        dialects.begin_write(conn)
        row = dict(conn.execute(select(schema.experiments).where(schema.experiments.c.id == 1)).mappings().one())
        job = dict(conn.execute(select(schema.jobs).where(schema.jobs.c.id == row["job_id"])).mappings().one())
        conn.execute(schema.jobs.insert().values({**job, "id": "own"}))
        conn.execute(schema.experiments.insert().values({**row, "id": experiment_id, "job_id": "own"}))
        conn.commit()
    engine.dispose()


def test_the_source_is_only_read(sqlite_importer: Importer, source: Source) -> None:
    own = source.copy()
    own.execute("DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    own.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    sqlite_importer.run("--source", own.url.replace("postgres@", "reader@"))
    with psycopg.connect(own.url, autocommit=True) as conn:
        written = conn.execute("SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables").fetchone()
    assert written is not None
    assert written[0] == 0, "the copy of a template counts from zero"


def _killed_often(importer: Importer, source: Source, whole: Importer, times: int, seed: int) -> None:
    chance = random.Random(seed)
    whole.run("--source", source.url)
    kills = sum(importer.kill_after(chance.uniform(0, 0.6), "--source", source.url) for _ in range(times))
    importer.run("--source", source.url)
    assert kills > 0
    assert importer.read(content) == whole.read(content)


def test_a_killed_import_goes_on_and_ends_the_same(importer: Importer, source: Source, tmp_path: Path) -> None:
    _killed_often(importer, source, Importer(tmp_path / "whole", None), 5, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_at_twenty_random_moments_it_ends_the_same(
    importer: Importer, postgres_server: str, tmp_path: Path
) -> None:
    large = make_source(postgres_server, 20_000)
    _killed_often(importer, large, Importer(tmp_path / "whole", None), 20, seed=2)


def test_no_master_starts_on_half_an_import_and_abort_removes_it(importer: Importer, source: Source) -> None:
    before = None
    for attempt in range(20):
        if importer.kill_after(0.02 * attempt, "--source", source.url):
            before = importer.read(import_unit.running)
        if before is not None:
            break
    assert before is not None, "no kill came while it wrote"
    refused = importer.run("--source", source.url, "--no-logs", status=1)
    assert "other options" in refused[-1]["message"]
    from determined.master.config import load_master_config
    from determined.master.main import _check_state

    flags = {"data_dir": str(importer.data), **({"db": {"url": importer.db_url}} if importer.db_url else {})}
    with pytest.raises(Exception, match="is unfinished"):
        _check_state(load_master_config(None, {}, flags))
    assert importer.run("--abort")[-1]["event"] == "aborted"
    assert importer.read(import_unit.list_all) == []
    assert [row.username for row in importer.read(user.list_all)] == ["admin", "determined"]
    assert {importer.read(lambda conn, t=table: imported.count(conn, t)) for table in ("experiments", "trials")} == {0}
    importer.run("--source", source.url)
