"""Append: events that are written whole or not at all, and what they depend on."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ._errors import EvershardError, InvalidArgumentError
from ._recorded import Appended
from ._values import (
    AggregateId,
    AggregateIdLike,
    AppendCondition,
    CommandRecord,
    Event,
    ExpectedVersion,
    ExpectedVersionLike,
    Query,
    Snapshot,
)


@dataclass(frozen=True, slots=True, init=False)
class Append:
    """Events of one or several aggregates. Its `request_id` is made with it: the same value, sent again, is stored once.

    `expect`: versions by aggregate, {"order-1": "none"} or {"order-1": 3}. `fail_if`: a query (no event may match it), or conditions.
    `conflicts_max`: how many conflicting events a ConditionFailedError may carry.
    """

    events: tuple[Event, ...]
    expect: tuple[tuple[AggregateId, ExpectedVersion], ...]
    fail_if: tuple[AppendCondition, ...]
    snapshots: tuple[Snapshot, ...]
    command: CommandRecord | None
    conflicts_max: int
    request_id: uuid.UUID

    def __init__(
        self,
        events: Event | Iterable[Event],
        *,
        expect: Mapping[AggregateIdLike, ExpectedVersionLike] | Mapping[str, ExpectedVersionLike] | None = None,
        fail_if: Query | AppendCondition | Iterable[Query | AppendCondition] = (),
        snapshots: Snapshot | Iterable[Snapshot] = (),
        command: CommandRecord | None = None,
        conflicts_max: int = 0,
        request_id: uuid.UUID | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "events", (events,) if isinstance(events, Event) else tuple(events))
        if not all(isinstance(event, Event) for event in self.events):
            raise InvalidArgumentError("an append takes evershard.Event values")
        put(
            self,
            "expect",
            tuple((AggregateId.of(who), ExpectedVersion.of(version)) for who, version in (expect or {}).items()),
        )
        conditions = (fail_if,) if isinstance(fail_if, (Query, AppendCondition)) else tuple(fail_if)
        put(
            self,
            "fail_if",
            tuple(AppendCondition(one) if isinstance(one, Query) else one for one in conditions),
        )
        put(
            self,
            "snapshots",
            (snapshots,) if isinstance(snapshots, Snapshot) else tuple(snapshots),
        )
        put(self, "command", command)
        put(self, "conflicts_max", conflicts_max)
        put(self, "request_id", uuid.uuid4() if request_id is None else request_id)


@dataclass(frozen=True, slots=True)
class AppendOutcome:
    """One append's own outcome among many: `appended`, or the `error` that it was refused with."""

    append: Append
    appended: Appended | None = None
    error: EvershardError | None = None

    def result(self) -> Appended:
        """What acknowledges it; raises `error` where it was refused."""
        if self.appended is None:
            raise self.error or EvershardError("no outcome")
        return self.appended
