"""Fork server: single-threaded process that has imported what runners and trials need, and forks runners.

One for each OS user and preload list, started by the local engine (docs/architecture/fork_server.md).
"""
