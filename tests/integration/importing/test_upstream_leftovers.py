"""What has no place here is counted and named with its reason; some of it is listed for whoever makes it anew."""

import json
from pathlib import Path

from importer import Importer

from conftest import Source
from determined.config import parse_yaml


def test_everything_that_is_not_taken_is_named(sqlite_importer: Importer, source: Source) -> None:
    files = [Path(path) for path in sqlite_importer.run("--source", source.url)[-1]["files"]]
    report = next(path for path in files if path.name == "report.json")
    notes = json.loads(report.read_text())["notes"]
    assert notes["other_tasks"]["examples"] == ["2 of type COMMAND", "1 of type NOTEBOOK"]
    assert notes["other_logs"]["examples"] == ["2 of type COMMAND", "1 of type NOTEBOOK", "1 of type unknown"]
    assert notes["policies"]["examples"] == ["policy of EXPERIMENT", "policy of NTSC in workspace 2"]
    assert notes["profiling"]["examples"] == ["6 rows of system_metrics"]
    assert notes["old_profiling"]["examples"] == ["2 rows of trial_profiler_metrics"]
    assert notes["internals"]["examples"] == ["1 rows of resource_aggregates", "1 rows of scim.users"]
    assert notes["roles"]["examples"] == ["alice: Editor in workspace 2"]
    text = (report.parent / "report.md").read_text()
    assert all(note["text"] in text for note in notes.values())
    leftover = {path.name: parse_yaml(path.read_text()) for path in files if path.suffix == ".yaml"}
    assert sorted(leftover) == ["groups.yaml", "namespace-bindings.yaml", "policies.yaml", "roles.yaml"]
    assert leftover["groups.yaml"] == {
        "groups": [{"name": "operators", "members": ["dave"], "roles": ["ClusterAdmin"]}]
    }
    assert leftover["roles.yaml"] == {"roles": [{"username": "alice", "roles": ["Editor in workspace 2"]}]}
    (binding,) = leftover["namespace-bindings.yaml"]["namespace-bindings"]
    assert (binding["workspace"], binding["namespace"]) == ("Vision", "vision")
    assert leftover["policies.yaml"]["policies"][0]["invariant_config"] == {"max_restarts": 1}


def test_a_role_that_may_not_see_a_table_reads_the_rest(sqlite_importer: Importer, source: Source) -> None:
    own = source.copy()
    own.execute("DO $$ BEGIN CREATE ROLE narrow LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    own.execute(
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO narrow; REVOKE SELECT ON user_profile_images FROM narrow"
    )
    events = sqlite_importer.run("--source", own.url.replace("postgres@", "narrow@"), "--dry-run")
    notes = events[0]["notes"]
    assert "profile_images" not in notes
    assert notes["internals"]["examples"] == ["1 rows of resource_aggregates"]
