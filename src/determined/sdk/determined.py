"""Determined: one logged-in conversation with a master, and everything that can be reached from it."""

import contextlib
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.api import checkpoint, environment, experiment, own_master, trial, user, webhook, workspace
from determined.api.login import cert_for, login, login_with_cache
from determined.api.session import CertSpec, Session
from determined.api.token_store import TokenStore
from determined.errors import Unauthenticated
from determined.rundir import context
from determined.schema.text import dump_yaml
from determined.sdk.checkpoint import Checkpoint
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import ExperimentSortBy, ExperimentState, OrderBy
from determined.sdk.experiment import Experiment
from determined.sdk.metrics import TrialMetrics, iter_metrics
from determined.sdk.model_registry import ModelRegistryMethods
from determined.sdk.oauth_client import OauthMethods
from determined.sdk.trial import Trial
from determined.sdk.user import User
from determined.sdk.webhook import Webhook
from determined.sdk.workspace import Workspace
from determined.wire import experiment as wire
from determined.wire.base import OrderBy as WireOrderBy
from determined.wire.codec import convert
from determined.wire.experiment import CreateExperimentRequest
from determined.wire.user import User as WireUser
from determined.wire.webhook import Webhook as WireWebhook
from determined.wire.workspace import ListWorkspaces, PostWorkspaceRequest

logger = logging.getLogger("determined.client")

_DEFAULT_MASTER = "localhost:8080"


class Determined(ModelRegistryMethods, OauthMethods):
    """Log in and work.

    Args:
        master: its address; else $DET_MASTER, else the master you run on this machine, else localhost:8080.
        user: the user; else $DET_USER with $DET_PASS, else who is logged in, else `determined`.
        password: the user's password.
        cert_path: a PEM file to trust. cert_name: the name the certificate carries. noverify: trust anything.

    Raises:
        Unauthenticated: the password is wrong, or nobody is logged in.
    """

    def __init__(
        self,
        master: str | None = None,
        user: str | None = None,
        password: str | None = None,
        cert_path: str | None = None,
        cert_name: str | None = None,
        noverify: bool = False,
    ) -> None:
        own = None if master or environment.master() else own_master.find(environment.state_dir())
        address = master or environment.master() or (own.url if own else _DEFAULT_MASTER)
        cert = _cert(address, cert_path, cert_name, noverify)
        if user is not None and password is not None:
            token = login(address, user, password, cert=cert)
            self._session = Session(address, token=token, cert=cert, username=user)
            TokenStore(address, environment.config_dir()).save(user, token)
            return
        fallback = password if own is None else password or own.password
        self._session = login_with_cache(address, user, fallback, cert=cert)

    @classmethod
    def _from_session(cls, session: Session) -> "Determined":
        """Use a session that is logged in already; scripts on `determined.common.api` have one."""
        made = cls.__new__(cls)
        made._session = session
        return made

    def create_experiment(
        self,
        config: str | Path | dict[str, Any],
        model_dir: str | Path | None = None,
        includes: Iterable[str | Path] | None = None,
        project_id: int | None = None,
        template: str | None = None,
    ) -> Experiment:
        """Submit and activate. A file's text is sent as it is, comments and all.

        Raises:
            ValueError: `config` is neither a path nor a dict.
            InvalidConfig: the master refuses it, with every violation by path.
        """
        request = submission(config, model_dir, includes, project_id=project_id, template=template)
        answer = experiment.create(self._session, request)
        for warning in answer.messages:
            logger.warning("experiment %s: %s", answer.experiment.id, warning)
        return Experiment._from_wire(self._session, answer.experiment)

    def get_experiment(self, experiment_id: int) -> Experiment:
        return Experiment._from_wire(self._session, experiment.get(self._session, experiment_id))

    def list_experiments(
        self,
        sort_by: ExperimentSortBy | None = None,
        order_by: OrderBy | None = None,
        experiment_ids: list[int] | None = None,
        labels: list[str] | None = None,
        users: list[str] | None = None,
        states: list[ExperimentState] | None = None,
        name: str | None = None,
        project_id: int | None = None,
    ) -> list[Experiment]:
        params = wire.ListExperiments(
            sort_by=wire.GetExperimentsRequestSortBy(sort_by.value) if sort_by else None,
            order_by=WireOrderBy(order_by.value) if order_by else None,
            ids=experiment_ids,
            labels=labels,
            users=users,
            states=[wire.ExperimentState(s.value) for s in states] if states else None,
            name=name,
            project_id=project_id,
        )
        return [Experiment._from_wire(self._session, e) for e in experiment.iterate(self._session, params)]

    def get_trial(self, trial_id: int) -> Trial:
        return Trial._from_wire(self._session, trial.get(self._session, trial_id))

    def get_checkpoint(self, uuid: str) -> Checkpoint:
        return Checkpoint._from_wire(self._session, checkpoint.get(self._session, uuid))

    def create_user(self, username: str, admin: bool, password: str | None = None, remote: bool = False) -> User:
        """Create a user. Raises ValueError when the password is too weak."""
        if password is not None:
            user.check_password(password)
        account = WireUser(username=username, admin=admin, active=True, remote=remote)
        return User._from_wire(self._session, user.create(self._session, account, password))

    def get_user_by_id(self, user_id: int) -> User:
        return User._from_wire(self._session, user.get(self._session, user_id))

    def get_user_by_name(self, user_name: str) -> User:
        return User._from_wire(self._session, user.by_name(self._session, user_name))

    def whoami(self) -> User:
        return User._from_wire(self._session, user.me(self._session))

    def get_session_username(self) -> str:
        return self._session.username or ""

    def list_users(self, active: bool | None = None) -> list[User]:
        return [User._from_wire(self._session, u) for u in user.listing(self._session, active=active)]

    def logout(self) -> None:
        """Revoke the token and forget it."""
        name = self._session.username
        with contextlib.suppress(Unauthenticated):  # it has expired or was revoked: only the copy here is left
            user.logout(self._session)
        if name is not None:
            TokenStore(self._session.master_url, environment.config_dir()).drop(name)

    def get_workspace(self, name: str) -> Workspace:
        return Workspace(self._session, workspace_name=name)

    def list_workspaces(self) -> list[Workspace]:
        made = []
        for row in workspace.iterate(self._session, ListWorkspaces()):
            each = Workspace(self._session, workspace_id=row.id)
            each.name = row.name
            made.append(each)
        return made

    def create_workspace(self, name: str) -> Workspace:
        made = workspace.create(self._session, PostWorkspaceRequest(name=name))
        each = Workspace(self._session, workspace_id=made.id)
        each.name = made.name
        return each

    def delete_workspace(self, name: str) -> None:
        workspace.delete(self._session, workspace.by_name(self._session, name).id)

    def list_webhooks(self) -> list[Webhook]:
        """List the webhooks of the whole cluster and of own workspaces; administrators see all."""
        return [Webhook._from_wire(self._session, row) for row in webhook.listing(self._session)]

    def create_webhook(
        self,
        url: str,
        triggers: Iterable[JsonObject],
        *,
        name: str = "",
        webhook_type: str = "DEFAULT",
        mode: str = "WORKSPACE",
        workspace_id: int | None = None,
    ) -> Webhook:
        """Create a webhook.

        Args:
            url: the address that is sent to.
            triggers: what it is told of: dicts such as `{"type": "TASK_LOG", "condition": {"regex": "out of memory"}}`.
            name: by which configs may name it.
            webhook_type: DEFAULT or SLACK.
            mode: WORKSPACE, or SPECIFIC: only for experiments whose config names it.
            workspace_id: None for one of the whole cluster, which needs an administrator.
        """
        body = {
            "url": url,
            "name": name,
            "webhookType": f"WEBHOOK_TYPE_{webhook_type}",
            "mode": f"WEBHOOK_MODE_{mode}",
            "workspaceId": workspace_id,
            "triggers": [
                {"triggerType": f"TRIGGER_TYPE_{one['type']}", "condition": one.get("condition")} for one in triggers
            ],
        }
        answer = webhook.create(self._session, convert(body, WireWebhook))
        for message in answer.messages:
            logger.warning("webhook %s: %s", answer.webhook.id, message)
        return Webhook._from_wire(self._session, answer.webhook)

    def stream_trials_metrics(self, trial_ids: list[int], group: str) -> Iterator[TrialMetrics]:
        """Deprecated: iter_trials_metrics."""
        warn_deprecated("stream_trials_metrics()", "iter_trials_metrics()")
        return self.iter_trials_metrics(trial_ids, group)

    def stream_trials_training_metrics(self, trial_ids: list[int]) -> Iterator[TrialMetrics]:
        """Deprecated: iter_trials_metrics."""
        warn_deprecated("stream_trials_training_metrics()", 'iter_trials_metrics(group="training")')
        return self.iter_trials_metrics(trial_ids, "training")

    def stream_trials_validation_metrics(self, trial_ids: list[int]) -> Iterator[TrialMetrics]:
        """Deprecated: iter_trials_metrics."""
        warn_deprecated("stream_trials_validation_metrics()", 'iter_trials_metrics(group="validation")')
        return self.iter_trials_metrics(trial_ids, "validation")

    def iter_trials_metrics(self, trial_ids: list[int], group: str) -> Iterator[TrialMetrics]:
        return iter_metrics(self._session, trial_ids, group)


def submission(
    config: str | Path | dict[str, Any],
    model_dir: str | Path | None,
    includes: Iterable[str | Path] | None,
    *,
    project_id: int | None = None,
    template: str | None = None,
) -> CreateExperimentRequest:
    """Build the request of `create_experiment`, for an experiment that is active at once."""
    return CreateExperimentRequest(
        activate=True,
        config=_config_text(config),
        model_definition=_files(model_dir, includes),
        project_id=project_id,
        template=template,
    )


def _cert(address: str, path: str | None, name: str | None, noverify: bool) -> CertSpec | None:
    if noverify:
        return CertSpec("noverify", name)
    if path or name:
        return CertSpec(path, name)
    return cert_for(address)


def _config_text(config: str | Path | dict[str, Any]) -> str:
    if isinstance(config, dict):
        return dump_yaml(config)
    if isinstance(config, str | Path):
        return Path(config).read_text()
    raise ValueError(f"config must be a path or a dict, got {type(config).__name__}")


def _files(model_dir: str | Path | None, includes: Iterable[str | Path] | None) -> list[Any]:
    paths = [Path(i) for i in includes or []]
    if model_dir is None and not paths:
        return []
    return context.read_directory(Path(model_dir) if model_dir is not None else None, paths)
