"""Import of the database of an upstream master (PostgreSQL, releases from mid 2024 to 0.38.1)."""
