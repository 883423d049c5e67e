"""Launchers: from rendezvous to processes. Each is a program, `python3 -m determined.launch.X`."""
