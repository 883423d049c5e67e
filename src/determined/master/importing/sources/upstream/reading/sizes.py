"""Numbers of rows by state, and bytes of upstream's tables."""

from determined.master.importing.sources.upstream.source import Source

_SIZES = """
SELECT c.relname::text, pg_total_relation_size(c.oid)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind = 'r' AND pg_total_relation_size(c.oid) > 1000000 ORDER BY 2 DESC LIMIT 12
"""


def states(source: Source) -> dict[str, dict[str, int]]:
    """Return how many experiments and trials of the source are in each state."""
    return {
        noun: {
            str(state): n
            for state, n in source.tuples(f"SELECT state::text, count(*) FROM {table} GROUP BY 1 ORDER BY 1")
        }
        for noun, table in (("experiments", "experiments"), ("trials", "runs"))
    }


def tables(source: Source) -> dict[str, int]:
    """Return the bytes of the largest tables, with their indices."""
    return {str(name): int(size) for name, size in source.tuples(_SIZES)}
