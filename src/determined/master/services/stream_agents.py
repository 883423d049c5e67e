"""Nodes on `/stream`: they live in memory, so they are looked at and compared; each master counts changes anew."""

import msgspec

from determined.master.context import MasterContext
from determined.master.services import agent
from determined.master.services.stream_rows import Message, agent_message, deletion
from determined.master.services.stream_spec import Noun, Subscription
from determined.wire.agent import ListAgents


class AgentFeed:
    """Feed of nodes: what was last seen of each."""

    def __init__(self, ctx: MasterContext) -> None:
        self._ctx = ctx
        self._seq = 0
        self._seen: dict[str, tuple[bytes, Message]] = {}

    async def look(self) -> list[Message]:
        """Return what differs from the last look."""
        agents = await agent.list_agents(self._ctx, ListAgents())
        changed: list[Message] = []
        for one in agents:
            state = msgspec.json.encode(one)
            if one.id in self._seen and self._seen[one.id][0] == state:
                continue
            self._seq += 1
            message = Message(Noun.AGENTS, one.id, None, self._seq, False, agent_message(one, self._seq))
            self._seen[one.id] = (state, message)
            changed.append(message)
        for gone in self._seen.keys() - {one.id for one in agents}:
            del self._seen[gone]
            self._seq += 1
            changed.append(Message(Noun.AGENTS, gone, None, self._seq, True, deletion(Noun.AGENTS, [gone])))
        return changed

    def everything(self, subscription: Subscription) -> list[bytes]:
        """Return, for a new subscription, all nodes, and those that it knows and that are gone."""
        gone = subscription.known.get(Noun.AGENTS, frozenset()) - self._seen.keys()
        there = [message.data for _, message in self._seen.values()]
        return [deletion(Noun.AGENTS, list(gone)), *there] if gone else there
