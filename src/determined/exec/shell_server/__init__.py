"""Program of a shell task: an SSH server on the task's service socket. `python3 -m determined.exec.shell_server`.

Nothing listens on a TCP port: the runner's tunnel connects to the socket. A program in a terminal outlives a lost
connection; the next login returns to it (terminal.py, detached.py).
"""
