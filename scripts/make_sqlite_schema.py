"""Write the schema of a new SQLite database from the migrations, which take 20 times as long to make it."""

import sqlite3
import sys
import tempfile
from pathlib import Path

from determined.master.db import dialects, migrate, new_database

TARGET = new_database.FILE


def main() -> int:
    TARGET.write_text(reference())
    print(f"wrote {TARGET}")
    return 0


def reference() -> str:
    """Return the file that is up to date."""
    with tempfile.TemporaryDirectory(prefix="det-schema-") as folder:
        file = Path(folder) / "migrated.db"
        engine = dialects.create_engine(f"sqlite:///{file}")
        try:
            migrate.run_migrations(engine)
        finally:
            engine.dispose()
        database = sqlite3.connect(file)
        try:
            return new_database.text_of(database)
        finally:
            database.close()


if __name__ == "__main__":
    sys.exit(main())
