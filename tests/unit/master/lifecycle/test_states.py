"""The transition tables and every row of the exit decision."""

import itertools

import pytest

from determined.master.lifecycle.states import (
    EXPERIMENT_TRANSITIONS,
    GENERIC_ENDS,
    STOPPING,
    TERMINAL,
    AllocationState,
    ExitKind,
    GenericState,
    RunnerEnd,
    RunnerExit,
    Signal,
    State,
    TrialAtExit,
    TrialDecision,
    classify,
    decide_exit,
    displayed_state,
    further,
    generic_state_after,
    least_advanced,
    may_become,
    signal_for,
    terminal_of,
    trial_accepts,
)

EXIT_0 = RunnerExit(RunnerEnd.EXITED, 0)
EXIT_1 = RunnerExit(RunnerEnd.EXITED, 1)
KILLED = RunnerExit(RunnerEnd.KILLED, 137)


def ended(
    *exits: RunnerExit, state: State = State.ACTIVE, killed: bool = False, acked: bool = False, **trial: object
) -> TrialDecision:
    """Return what becomes of a trial when the runners of its allocation ended so."""
    kind = classify(exits, killed=killed, acked=acked)
    at_exit = TrialAtExit(state=state, **{"restarts": 0, "max_restarts": 5, **trial})  # type: ignore[arg-type]
    return decide_exit(at_exit, kind)


def test_without_restarts_one_failure_is_an_error() -> None:
    assert ended(EXIT_1, max_restarts=0) == TrialDecision(State.ERROR, 0)


def test_an_environment_that_cannot_be_had_is_not_tried_again() -> None:
    unusable = RunnerExit(RunnerEnd.UNUSABLE, 1)
    assert ended(unusable) == TrialDecision(State.ERROR, 0)
    assert classify([KILLED, unusable], killed=False, acked=False) == ExitKind.INVALID_REQUEST
    assert classify([unusable], killed=True, acked=False) == ExitKind.KILLED


def test_five_restarts_mean_six_attempts() -> None:
    restarts = attempts = 0
    state = State.ACTIVE
    while state == State.ACTIVE:
        attempts += 1
        state, restarts = (d := ended(EXIT_1, restarts=restarts)).state, d.restarts
    assert (attempts, state) == (6, State.ERROR)


def test_failure_after_an_acknowledgement_that_nobody_asked_for_is_a_failure() -> None:
    assert classify([EXIT_1], killed=False, acked=True, asked=False) == ExitKind.ERRORED
    assert classify([EXIT_0], killed=False, acked=True, asked=False) == ExitKind.PREEMPTED
    assert classify([EXIT_1], killed=False, acked=True, asked=True) == ExitKind.PREEMPTED


def test_acknowledged_pause_keeps_paused_and_costs_no_restart() -> None:
    assert ended(EXIT_0, state=State.PAUSED, acked=True) == TrialDecision(State.PAUSED, 0)


def test_pause_ignored_until_killed_keeps_paused_and_costs_no_restart() -> None:
    assert ended(KILLED, state=State.PAUSED, killed=True) == TrialDecision(State.PAUSED, 0)


def test_pause_by_sigterm_of_a_script_that_never_asks_keeps_paused() -> None:
    exits = RunnerExit(RunnerEnd.PREEMPTED, 143)
    assert ended(exits, state=State.PAUSED) == TrialDecision(State.PAUSED, 0)


def test_exit_0_without_acknowledgement_completes_a_paused_trial() -> None:
    assert ended(EXIT_0, state=State.PAUSED).state == State.COMPLETED


def test_crash_after_acknowledgement_counts_as_clean_preemption() -> None:
    assert ended(EXIT_1, state=State.PAUSED, acked=True) == TrialDecision(State.PAUSED, 0)


def test_crash_while_canceling_without_acknowledgement_is_an_error() -> None:
    assert ended(EXIT_1, state=State.STOPPING_CANCELED).state == State.ERROR


def test_cancel_that_is_obeyed_ends_canceled() -> None:
    assert ended(EXIT_0, state=State.STOPPING_CANCELED, acked=True).state == State.CANCELED


def test_kill_while_running_ends_canceled() -> None:
    assert ended(KILLED, state=State.STOPPING_KILLED, killed=True).state == State.CANCELED


def test_lost_node_is_retried_for_free() -> None:
    lost = RunnerExit(RunnerEnd.LOST, -1)
    assert ended(lost, restarts=5) == TrialDecision(State.ACTIVE, 5)


def test_pause_before_the_containers_are_ready_kills_them_and_stays_paused() -> None:
    assert ended(state=State.PAUSED, killed=True) == TrialDecision(State.PAUSED, 0)


def test_searcher_stop_completes_however_it_left_unless_it_failed() -> None:
    assert ended(EXIT_0, early_stopped=True, acked=True).state == State.COMPLETED
    assert ended(KILLED, early_stopped=True, killed=True).state == State.COMPLETED
    assert ended(EXIT_1, early_stopped=True).state == State.ERROR


def test_invalid_request_is_never_retried() -> None:
    trial = TrialAtExit(state=State.ACTIVE, restarts=0, max_restarts=5)
    assert decide_exit(trial, ExitKind.INVALID_REQUEST).state == State.ERROR


def test_matched_log_policy_ends_a_failing_trial_without_counting() -> None:
    assert ended(EXIT_1, retries_canceled=True) == TrialDecision(State.ERROR, 0)


def test_invalid_hyperparameters_complete_the_trial_even_if_killed_or_failing() -> None:
    assert ended(EXIT_0, early_exit=True).state == State.COMPLETED
    assert ended(KILLED, early_exit=True, killed=True).state == State.COMPLETED
    assert ended(EXIT_1, early_exit=True).state == State.COMPLETED


def test_out_of_operations_exit_keeps_a_classic_trial_until_it_is_finished() -> None:
    assert ended(EXIT_0, acked=True).state == State.ACTIVE
    assert ended(EXIT_0, acked=True, finished=True).state == State.COMPLETED


def test_a_hook_that_fails_costs_a_restart() -> None:
    assert ended(RunnerExit(RunnerEnd.FAILED, 1)) == TrialDecision(State.ACTIVE, 1)


def test_first_failure_decides_for_the_rest_that_was_killed() -> None:
    assert classify([EXIT_1, KILLED], killed=False, acked=False) == ExitKind.ERRORED
    lost = RunnerExit(RunnerEnd.LOST, -1)
    assert classify([lost, EXIT_1], killed=False, acked=False) == ExitKind.TRANSIENT


def test_node_that_vanished_is_the_cause_of_its_peers_failures_whoever_is_heard_first() -> None:
    lost = RunnerExit(RunnerEnd.LOST, -1)
    for exits in ([EXIT_1, lost], [lost, EXIT_1], [EXIT_1, KILLED, lost], [RunnerExit(RunnerEnd.FAILED, 1), lost]):
        assert classify(exits, killed=False, acked=False) == ExitKind.TRANSIENT
        assert ended(*exits) == TrialDecision(State.ACTIVE, 0)


def test_vanished_node_of_a_daemon_is_a_cause_as_well_unless_the_workers_left_cleanly() -> None:
    lost = RunnerExit(RunnerEnd.LOST, -1, daemon=True)
    assert classify([EXIT_1, lost], killed=False, acked=False) == ExitKind.TRANSIENT
    assert classify([lost, EXIT_1], killed=False, acked=False) == ExitKind.TRANSIENT
    assert classify([EXIT_0, lost], killed=False, acked=False) == ExitKind.COMPLETED


def test_daemons_killed_after_clean_workers_are_no_failure() -> None:
    daemon = RunnerExit(RunnerEnd.EXITED, 137, daemon=True)
    assert classify([EXIT_0, daemon], killed=False, acked=False) == ExitKind.COMPLETED
    assert classify([daemon, EXIT_0], killed=False, acked=False) == ExitKind.ERRORED


def test_nothing_allocated_is_no_error() -> None:
    assert classify([], killed=False, acked=False) == ExitKind.KILLED


@pytest.mark.parametrize(
    ("current", "allowed"),
    [
        ("ACTIVE", "PAUSED STOPPING_CANCELED STOPPING_KILLED STOPPING_COMPLETED STOPPING_ERROR ERROR"),
        ("PAUSED", "ACTIVE STOPPING_CANCELED STOPPING_KILLED STOPPING_COMPLETED STOPPING_ERROR ERROR"),
        ("STOPPING_CANCELED", "CANCELED STOPPING_KILLED STOPPING_ERROR ERROR"),
        ("STOPPING_KILLED", "CANCELED STOPPING_ERROR ERROR"),
        ("STOPPING_COMPLETED", "COMPLETED STOPPING_ERROR ERROR"),
        ("STOPPING_ERROR", "ERROR ACTIVE"),
        ("CANCELED", "DELETING"),
        ("COMPLETED", "DELETING"),
        ("ERROR", "DELETING"),
        ("DELETE_FAILED", "DELETING"),
        ("DELETING", "DELETED DELETE_FAILED"),
        ("DELETED", ""),
    ],
)
def test_experiments_change_only_as_the_table_allows(current: str, allowed: str) -> None:
    assert {s for s in State if may_become(State(current), s)} == {State(s) for s in allowed.split()}


def test_every_stopping_state_has_an_end_that_the_table_allows() -> None:
    for state in STOPPING:
        assert terminal_of(state) in EXPERIMENT_TRANSITIONS[state] & TERMINAL


def test_trials_stop_only_more_severely() -> None:
    order = [
        State.ACTIVE,
        State.STOPPING_COMPLETED,
        State.STOPPING_CANCELED,
        State.STOPPING_KILLED,
        State.STOPPING_ERROR,
    ]
    for (i, a), (j, b) in itertools.product(enumerate(order), repeat=2):
        assert trial_accepts(a, b) == (j >= i)
    assert not any(trial_accepts(end, state) for end in TERMINAL for state in State)
    assert not any(trial_accepts(State.ACTIVE, end) for end in TERMINAL)


@pytest.mark.parametrize(
    ("state", "signal"),
    [
        (State.ACTIVE, None),
        (State.PAUSED, Signal.TERMINATE),
        (State.STOPPING_CANCELED, Signal.TERMINATE),
        (State.STOPPING_COMPLETED, Signal.TERMINATE),
        (State.STOPPING_KILLED, Signal.KILL),
        (State.STOPPING_ERROR, Signal.KILL),
    ],
)
def test_each_state_sends_its_signal(state: State, signal: Signal | None) -> None:
    assert signal_for(state) == signal


@pytest.mark.parametrize(
    ("allocation", "shown"),
    [
        (None, "QUEUED"),
        ("PENDING", "QUEUED"),
        ("ASSIGNED", "QUEUED"),
        ("PULLING", "PULLING"),
        ("STARTING", "STARTING"),
        ("RUNNING", "RUNNING"),
        ("WAITING", "RUNNING"),
        ("TERMINATING", "RUNNING"),
        ("TERMINATED", "QUEUED"),
    ],
)
def test_active_shows_how_far_the_newest_allocation_is(allocation: str | None, shown: str) -> None:
    assert displayed_state("ACTIVE", allocation) == shown
    assert displayed_state("PAUSED", allocation) == "PAUSED"


def test_allocations_never_move_back() -> None:
    for a, b in itertools.combinations(AllocationState, 2):
        assert further(a, b) == further(b, a) == b
    assert least_advanced([AllocationState.RUNNING, AllocationState.PULLING]) == AllocationState.PULLING


GENERIC_OUTCOMES = {
    (GenericState.ACTIVE, ExitKind.COMPLETED): GenericState.COMPLETED,
    (GenericState.ACTIVE, ExitKind.PREEMPTED): GenericState.ACTIVE,
    (GenericState.ACTIVE, ExitKind.KILLED): GenericState.CANCELED,
    (GenericState.ACTIVE, ExitKind.ERRORED): GenericState.ERROR,
    (GenericState.ACTIVE, ExitKind.TRANSIENT): GenericState.ERROR,
    (GenericState.ACTIVE, ExitKind.INVALID_REQUEST): GenericState.ERROR,
    (GenericState.STOPPING_PAUSED, ExitKind.COMPLETED): GenericState.COMPLETED,
    **{
        (GenericState.STOPPING_PAUSED, kind): GenericState.PAUSED for kind in ExitKind if kind is not ExitKind.COMPLETED
    },
    **{(GenericState.STOPPING_CANCELED, kind): GenericState.CANCELED for kind in ExitKind},
    **{(state, kind): state for state in (GenericState.PAUSED, *GENERIC_ENDS) for kind in ExitKind},
}


@pytest.mark.parametrize(("state", "kind"), list(itertools.product(GenericState, ExitKind)))
def test_every_end_of_an_allocation_has_its_meaning_for_a_generic_task(state: GenericState, kind: ExitKind) -> None:
    assert generic_state_after(state, kind) == GENERIC_OUTCOMES[state, kind]
