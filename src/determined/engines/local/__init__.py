"""The local engine: runners are processes of this machine. No root, no container, nothing to install."""
