"""Python environments for tasks, made by uv: resolved once, built once per node, shared by all who want the same.

The runner builds them for trials, the command line for `det e create --local`; both clean up by the same rules.
"""
