"""det version: this command's version and the master's."""

import argparse

from determined._version import __version__
from determined.api.login import cert_for
from determined.api.session import Session
from determined.cli import render
from determined.cli.connection import address
from determined.cli.grammar import command, group
from determined.errors import DeterminedError


def show(args: argparse.Namespace) -> None:
    answer: dict[str, object] = {"client": {"version": __version__}}
    try:
        url = address(args)
        info = Session(url, cert=cert_for(url), retries=0).get("/info")
        answer |= {"master": info, "master_address": url}
    except DeterminedError as e:
        answer |= {"master": None, "master_address": None}
        render.warn(str(e))
    args.yaml = True
    render.structured(answer, args=args)


TREE = group("version", "show versions", command("show", "show version information", show, default=True))
