"""Program of a TensorBoard task: TensorBoard on the task's service socket. `python3 -m determined.exec.tensorboard`.

Event files of mounted stores are linked into its log directory; those of object stores are copied there as they grow.
Each source has a storage of its own. Nothing listens on a TCP port.
"""
