"""States of experiments and trials as they are after an import: nothing that a master would act on."""

from determined.master.lifecycle.states import DELETION, TERMINAL, State

_RUNNING = "RUNNING"  # of unmanaged experiments and trials


def mapped_state(state: str, *, unmanaged: bool) -> State:
    """Return the state here. What is live becomes CANCELED; a deletion must be asked for again."""
    if state in TERMINAL:
        return State(state)
    if state in DELETION:
        return State.DELETE_FAILED
    if unmanaged and state in (_RUNNING, State.ACTIVE):
        return State.ACTIVE
    return State.CANCELED


def was_live(state: str, *, unmanaged: bool) -> bool:
    return state not in TERMINAL | DELETION and mapped_state(state, unmanaged=unmanaged) == State.CANCELED
