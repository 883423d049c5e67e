"""Enums of the SDK have the values that are sent: they are written down twice, for users' are plain `Enum` classes."""

from enum import Enum

import pytest

from determined.sdk import enums
from determined.wire.base import OrderBy
from determined.wire.checkpoint import CheckpointState, SortBy
from determined.wire.experiment import (
    ExperimentState,
    GetExperimentsRequestSortBy,
    GetExperimentTrialsRequestSortBy,
)
from determined.wire.log import LogLevel
from determined.wire.model import GetModelsRequestSortBy
from determined.wire.trial import TrialState


@pytest.mark.parametrize(
    ("ours", "sent"),
    [
        (enums.OrderBy, OrderBy),
        (enums.ExperimentState, ExperimentState),
        (enums.TrialState, TrialState),
        (enums.CheckpointState, CheckpointState),
        (enums.ExperimentSortBy, GetExperimentsRequestSortBy),
        (enums.TrialSortBy, GetExperimentTrialsRequestSortBy),
        (enums.CheckpointSortBy, SortBy),
        (enums.ModelSortBy, GetModelsRequestSortBy),
        (enums.LogLevel, LogLevel),
    ],
)
def test_users_have_every_value_that_is_sent_under_its_name(ours: type[Enum], sent: type[Enum]) -> None:
    assert _names(ours) == _names(sent)


def _names(enum: type[Enum]) -> dict[str, str]:
    return {member.value: name for name, member in enum.__members__.items() if name != "UNSPECIFIED"}
