"""ControlHook: sits in the training session and does what the workloads say between two batches."""

from collections.abc import Callable

import tensorflow as tf

from determined import core
from determined._json import JsonObject
from determined.trial import Save, Train, Validate, Workloads


class ControlHook(tf.estimator.SessionRunHook):  # type: ignore[misc]
    """The last of all hooks, so that it sees what the others ask for.

    Args:
        workloads: what to do next.
        loss: of the model.
        dist: the ranks, which begin with the chief's variables.
        prepare: called once, with the session, before anything else happens in it.
        validate: with the session; the metrics.
        save: with the session; the checkpoint's storage id.
        should_stop: whether the user's code asked for it.
        report: of a chunk's metrics on this rank, those to be reported.
    """

    def __init__(
        self,
        workloads: Workloads,
        loss: "tf.Tensor",
        dist: core.DistributedContext,
        *,
        prepare: Callable[[], None],
        validate: Callable[[object], JsonObject],
        save: Callable[[object], str],
        should_stop: Callable[[], bool],
        report: Callable[[JsonObject], JsonObject],
    ) -> None:
        self.is_over = False
        self._workloads = workloads
        self._sequence = iter(workloads)
        self._loss = loss
        self._dist = dist
        self._prepare = prepare
        self._validate = validate
        self._save = save
        self._should_stop = should_stop
        self._report = report
        self._asked = self._done = 0
        self._sums: JsonObject = {}
        self._tensors: JsonObject = {}
        self._begin_alike: list[tuple[object, object, object]] = []

    def begin(self) -> None:
        """The graph is complete, and can be added to for the last time."""
        self._tensors = _scalars()
        self._tensors.setdefault("loss", self._loss)
        if self._dist.size > 1:
            self._begin_alike = [_assignment(variable) for variable in tf.compat.v1.global_variables()]

    def after_create_session(self, session: "tf.compat.v1.Session", coord: "tf.train.Coordinator") -> None:
        self._broadcast_variables(session)
        self._prepare()
        if not self._go_on(session):
            coord.request_stop()

    def before_run(self, run_context: "tf.compat.v1.train.SessionRunContext") -> "tf.compat.v1.train.SessionRunArgs":
        return tf.estimator.SessionRunArgs(self._tensors)

    def after_run(
        self, run_context: "tf.compat.v1.train.SessionRunContext", run_values: "tf.compat.v1.train.SessionRunValues"
    ) -> None:
        self._done += 1
        for name, value in run_values.results.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(value)
        if run_context.stop_requested:
            self._workloads.stop()
            # Alone among peers it goes on to the end of the chunk: they would wait for it in the next batch.
            run_context._stop_requested = self._dist.size == 1
        if self._done < self._asked and not run_context.stop_requested:
            return
        self._finish_chunk()
        if not self._go_on(run_context.session):
            run_context.request_stop()

    def _broadcast_variables(self, session: "tf.compat.v1.Session") -> None:
        if not self._begin_alike:
            return
        variables = [variable for variable, _, _ in self._begin_alike]
        values = self._dist.broadcast(session.run(variables) if self._dist.rank == 0 else None)
        feeds = {place: value for (_, place, _), value in zip(self._begin_alike, values, strict=True)}
        session.run([operation for _, _, operation in self._begin_alike], feeds)

    def _finish_chunk(self) -> None:
        means = {name: total / self._done for name, total in self._sums.items()}
        self._workloads.trained(self._report(means), self._done)
        self._done, self._sums = 0, {}
        if self._should_stop():
            self._workloads.stop()

    def _go_on(self, session: "tf.compat.v1.Session") -> bool:
        """Do all that comes before the next batch. False: there is none."""
        for workload in self._sequence:
            match workload:
                case Train(batches):
                    self._asked = batches
                    return True
                case Validate():
                    self._workloads.validated(self._validate(session))
                case Save():
                    self._workloads.saved(self._save(session))
        self.is_over = True
        return False


def _scalars() -> JsonObject:
    """The tensors of all scalar summaries, by their tags."""
    graph, scalars = tf.compat.v1.get_default_graph(), {}
    for summary in tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.SUMMARIES):
        tag = tf.get_static_value(summary.op.inputs[0]) if summary.op.type == "ScalarSummary" else None
        if tag is not None and graph.is_fetchable(summary.op.inputs[1]):
            scalars[tag.item().decode()] = summary.op.inputs[1]
    return scalars


def _assignment(variable: "tf.Variable") -> tuple[object, object, object]:
    """(variable, where its new value goes, what sets it)."""
    place = tf.compat.v1.placeholder(variable.dtype.base_dtype, variable.shape)
    return variable, place, tf.compat.v1.assign(variable, place)
