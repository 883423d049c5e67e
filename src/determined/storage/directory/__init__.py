"""Checkpoints in a directory that the task already has."""
