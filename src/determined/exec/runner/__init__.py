"""The program every engine starts, one per node of an allocation: `python -m determined.exec.runner RUN_DIR`.

It fetches what to run, runs it in a process group, journals its output, ships every journal to the master for as long
as that takes, and reports the exit as the last record. It outlives the master; its own death takes the task with it.
"""
