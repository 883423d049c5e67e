"""How many large submissions of one user are read at once."""

import asyncio
from types import SimpleNamespace
from typing import Any

from determined.master.auth.identity import Caller
from determined.master.routes.submit_turns import AT_ONCE, LARGE, SubmitTurns

ADA, BOB = Caller(1, "ada", admin=False), Caller(2, "bob", admin=False)


async def _submit(turns: SubmitTurns, caller: Caller, headers: dict[str, str], inside: list[str], go: Any) -> None:
    request: Any = SimpleNamespace(headers=headers)
    async with turns.turn(request, caller):
        inside.append(caller.username)
        await go.wait()


async def _begin(turns: SubmitTurns, asked: list[tuple[Caller, dict[str, str]]]) -> list[str]:
    """Whose submissions are read when nobody has finished."""
    inside: list[str] = []
    go = asyncio.Event()
    tasks = [asyncio.create_task(_submit(turns, caller, headers, inside, go)) for caller, headers in asked]
    for _ in range(5):
        await asyncio.sleep(0)
    seen = list(inside)
    go.set()
    await asyncio.gather(*tasks)
    assert sorted(inside) == sorted(caller.username for caller, _ in asked), "in the end all are"
    return seen


def test_large_submissions_wait_for_those_of_the_same_user_alone() -> None:
    turns = SubmitTurns()
    large = {"content-length": str(LARGE + 1)}
    seen = asyncio.run(_begin(turns, [(ADA, large)] * 5 + [(BOB, large)]))
    assert seen == ["ada"] * AT_ONCE + ["bob"]
    assert not turns.present


def test_small_submissions_never_wait_and_those_of_unknown_length_count_as_large() -> None:
    small = {"content-length": str(LARGE)}
    assert asyncio.run(_begin(SubmitTurns(), [(ADA, {})] * 3 + [(ADA, small)] * 3)) == ["ada"] * (AT_ONCE + 3)
