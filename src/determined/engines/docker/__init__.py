"""Runners in containers of a Docker on this machine: the same runner as everywhere, inside `environment.image`."""
