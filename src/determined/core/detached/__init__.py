"""Trials outside of the cluster (detached mode): registered with a master, reported to it, run by nobody but you."""
