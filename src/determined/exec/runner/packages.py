"""`environment.python` of a task: resolved once per experiment, built once per node."""

from determined.config.python_environment import PythonEnvironment
from determined.constants import ENV_ENVIRONMENT_CACHE
from determined.environments import install, resolve
from determined.environments.cache_directory import Place, place_of, platform_tag
from determined.environments.interpreter import Interpreter
from determined.errors import FailedPrecondition
from determined.exec.master_link import MasterLink
from determined.exec.runner import environment, process_tree
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.master_retry import persistently
from determined.rundir.layout import RunDir
from determined.wire.codec import from_json
from determined.wire.environment_lock import PostEnvironmentLockResponse
from determined.wire.report import PythonPackages, TaskSpec


def provide(
    packages_to_provide: PythonPackages, spec: TaskSpec, run_dir: RunDir, link: MasterLink, sink: LogSink
) -> Interpreter:
    """Provide the interpreter with the task's packages, ready to run.

    Raises:
        EnvironmentUnusable: it cannot be had, here or anywhere.
        FailedPrecondition: it could not be made here and now.
    """
    try:
        return _provide(packages_to_provide, spec, run_dir, link, sink)
    except OSError as e:
        raise FailedPrecondition(
            f"environment.python: {e}; tasks keep environments in ~/.cache/determined of their user, or where"
            f" {ENV_ENVIRONMENT_CACHE} says on this node"
        ) from e


def _provide(
    packages_to_provide: PythonPackages, spec: TaskSpec, run_dir: RunDir, link: MasterLink, sink: LogSink
) -> Interpreter:
    requirements = (
        tuple(packages_to_provide.requirements)
        if isinstance(packages_to_provide.requirements, list)
        else packages_to_provide.requirements
    )
    wanted = PythonEnvironment(
        requirements=requirements, lock=packages_to_provide.lock, version=packages_to_provide.version
    )
    variables = environment.for_installer(spec, run_dir)
    # Children end with the thread that forks them, which waits for each: see process_tree.die_with_parent.
    place = place_of(variables, lambda text: sink.say("INFO", text), process_tree.die_with_parent)
    platform = platform_tag(wanted.version)
    lock = packages_to_provide.locks.get(platform)
    if lock is None and spec.trial_id is None:
        lock = resolve.resolve(wanted, run_dir.model, place)  # the master keeps locks of experiments alone
    elif lock is None:
        lock = _resolve(wanted, platform, run_dir, link, place)
    # Its hold stays open as long as this process lives: nobody removes an environment under a task.
    return install.provide(lock, wanted, run_dir.model, place).interpreter


def _resolve(wanted: PythonEnvironment, platform: str, run_dir: RunDir, link: MasterLink, place: Place) -> str:
    """Resolve the requirements and return the lock that counts: the first that a node of the experiment stored."""
    lock = resolve.resolve(wanted, run_dir.model, place)
    answer = persistently(lambda: link.store_lock(platform, lock))
    return from_json(answer, PostEnvironmentLockResponse).content
