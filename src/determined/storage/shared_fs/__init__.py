"""Checkpoints in a directory that every node has mounted."""
