"""Pure search methods: event in, operations out, snapshot to JSON. No I/O, no clock, a seeded generator passed in.

docs/architecture/search.md describes each of them.
"""
