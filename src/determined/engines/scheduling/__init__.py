"""Pure scheduling: requests and nodes in, what to start and whom to preempt out. No clock, no I/O, no state.

docs/architecture/scheduling.md describes the schedulers.
"""
