"""Sources of imports: a folder for each kind of `wire/import_kinds.py`, whose `entry` runs the import."""
