"""Program of a notebook task: JupyterLab on the task's service socket. `python3 -m determined.exec.notebook`.

The server comes from the task's Python if that has one, else from an environment of its own. Kernels always run the
task's Python, with what the task has installed. Nothing listens on a TCP port, kernels included.
"""
