"""Imports from other systems into this master's database, run while the master is stopped.

`reading` reads the source, `mapping` turns its rows into ours and is pure, `target` writes units that commit whole.
"""
