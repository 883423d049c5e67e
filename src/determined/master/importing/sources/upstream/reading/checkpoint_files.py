"""A sample of upstream's checkpoints with their files and storages."""

from collections.abc import Sequence

import msgspec

from determined.master.importing.sources.upstream.source import Source


class FileSample(msgspec.Struct, frozen=True):
    uuid: str
    resources: object  # JSON
    storage_id: int | None
    own_storage: object  # JSON: the section of the experiment's config


# the order by a hash is random as to time, and the same in every run
_SAMPLE = """
SELECT c.uuid::text, c.resources, c.storage_id, e.config->'checkpoint_storage'
FROM checkpoints_v2 c
JOIN LATERAL (SELECT rc.run_id FROM run_checkpoints rc WHERE rc.checkpoint_id = c.uuid ORDER BY 1 LIMIT 1) x ON true
JOIN runs r ON r.id = x.run_id JOIN experiments e ON e.id = r.experiment_id
WHERE c.state::text = 'COMPLETED' AND r.id = ANY(%(ids)s) ORDER BY md5(c.uuid::text) LIMIT %(count)s
"""


def sample(source: Source, trial_ids: Sequence[int], count: int) -> list[FileSample]:
    return source.rows(_SAMPLE, FileSample, {"ids": list(trial_ids), "count": count})
