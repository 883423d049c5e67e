"""det notebook: start JupyterLab on the cluster, open it, look at notebooks, end them."""

import argparse

from determined.api import submitted_task as api
from determined.api.session import Session
from determined.cli import render, served_task, submitted_tasks, task_ids
from determined.cli.connection import connect
from determined.cli.grammar import OWN_TASKS, arg, command, group
from determined.wire.notebook import LaunchNotebookRequest
from determined.wire.submitted_task import ServedTask, SubmittedTask

_NOUN = api.NOTEBOOK


def start(args: argparse.Namespace) -> None:
    session = connect(args, start=True)
    if args.preview:
        return _preview(session, args)
    launched = submitted_tasks.launch(
        session, _NOUN, args, lambda raw: LaunchNotebookRequest(config=raw, checkpoint_uuid=args.checkpoint)
    )
    words = "Jupyter Notebook is running at:"
    return served_task.show_launched(session, _NOUN, launched.task.id, args, words, _say_server)


def open_notebook(args: argparse.Namespace) -> None:
    served_task.open_task(args, _NOUN, "Notebook")


def _say_server(session: Session, task: SubmittedTask) -> None:
    if isinstance(task, ServedTask) and task.service_address:
        server = f"{session.master_url}{task.service_address}"
        render.line(f"Connect to remote Jupyter server: {server}", style="blue")
        render.warn("Whoever has this address uses the notebook as you do, without a login. Do not pass it on.")


def _preview(session: Session, args: argparse.Namespace) -> None:
    """Show the config that it would have."""
    from determined.config import dump_yaml

    raw = submitted_tasks.read_config(args, {})
    request = LaunchNotebookRequest(config=raw, template_name=args.template, preview=True)
    answer = session.call(_NOUN.launch, request)
    if args.json:
        return render.structured(answer.config)
    if answer.from_template:
        render.line(f"# from template {args.template}: {', '.join(answer.from_template)}")
    render.raw(dump_yaml(answer.config))
    return None


TREE = task_ids.accepting_short(
    group(
        "notebook",
        "manage notebooks",
        *submitted_tasks.common(_NOUN),
        *served_task.share_commands(_NOUN),
        command(
            "start",
            "start a new notebook",
            start,
            *submitted_tasks.LAUNCH_ARGS,
            arg(
                "--checkpoint",
                metavar="UUID",
                help="start with the code of its experiment and a notebook that loads it",
            ),
            served_task.NO_BROWSER,
            arg("--preview", action="store_true", help="print the config that it would have, and start nothing"),
        ),
        command(
            "open", "open a notebook", open_notebook, arg("task_id", metavar="ID", completes=OWN_TASKS), render.JSON
        ),
    )
)
