"""det config: help for those who write config files."""

import argparse
import json

from determined.cli import render
from determined.cli.grammar import arg, command, group
from determined.config.published import KINDS, json_schema

_EDITOR = """\
VS Code, with the YAML extension: write the schema into a file,
  det config schema experiment > experiment.schema.json
and name it in the first line of a config beside it:
  # yaml-language-server: $schema=experiment.schema.json
"""


def schema(args: argparse.Namespace) -> None:
    render.raw(json.dumps(json_schema(args.kind), indent=2) + "\n")


TREE = group(
    "config",
    "config files",
    command(
        "schema",
        "print the JSON schema of a kind of config, for editors",
        schema,
        arg("kind", nargs="?", default="experiment", choices=list(KINDS), help="the kind of config"),
        epilog=_EDITOR,
    ),
)
