"""Scheduled appends: events that are stored at a later time. See protocol/v1/scheduled.proto."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from . import _wire
from ._append import Append
from ._errors import EvershardError, InvalidArgumentError
from ._recorded import moment_of
from ._values import OpenEnum, microseconds_of
from .v1 import scheduled_pb2


class ScheduledState(OpenEnum):
    PENDING = 1
    APPENDED = 2
    REFUSED = 3  #: its expectations or conditions did not hold when it was due, or it cannot be stored
    CANCELLED = 4


@dataclass(frozen=True, slots=True)
class ScheduledAppend:
    """How a scheduled append is."""

    id: str
    state: ScheduledState
    due_us: int | None  #: microseconds since 1970-01-01T00:00:00Z; None: its subject was erased
    scheduled_at_us: int
    settled_at_us: int | None  #: None: it waits
    append: Append | None  #: what is stored when it is due; None: its subject was erased
    position: int  #: of the event that scheduled it
    first_position: int | None  #: of its own events; None: none were stored
    last_position: int | None
    refusal: EvershardError | None = field(default=None, compare=False)  #: of one that was refused: why
    duplicate: bool = False  #: of an answer to schedule(): it was scheduled already

    @property
    def due(self) -> datetime | None:
        """In UTC."""
        return None if self.due_us is None else moment_of(self.due_us)

    @property
    def scheduled_at(self) -> datetime:
        return moment_of(self.scheduled_at_us)

    @property
    def settled_at(self) -> datetime | None:
        return None if self.settled_at_us is None else moment_of(self.settled_at_us)


def schedule_request(
    append: Append, due: datetime | None, after: timedelta | None, id: str | None, replace: bool
) -> scheduled_pb2.ScheduleRequest:
    """Names itself: the same bytes, sent again, are scheduled once. Errors: InvalidArgumentError"""
    if (due is None) == (after is None):
        raise InvalidArgumentError("either `due`, a time, or `after`, how long until then, is needed")
    if id == "":
        raise InvalidArgumentError("the id is empty: leave it out, and one is made")
    when: dict[str, Any] = {}
    if due is not None:
        when["due_us"] = microseconds_of(due)
    if after is not None:
        when["after_us"] = after // timedelta(microseconds=1)
    request: scheduled_pb2.ScheduleRequest = _wire.checked(
        scheduled_pb2.ScheduleRequest,
        id=str(uuid.uuid4()) if id is None else id,
        append=_wire.append(append),
        replace=replace,
        **when,
    )
    request.append.ClearField("request_id")  # it is named by its own id,
    request.append.ClearField("conflicts_max")  # and nobody waits for its answer
    return request


def scheduled(m: scheduled_pb2.ScheduledAppend) -> ScheduledAppend:
    there = m.HasField("append")
    return ScheduledAppend(
        m.id,
        ScheduledState(m.state),
        m.due_us if there else None,
        m.scheduled_us,
        m.settled_us or None,
        _wire.append_of(m.append) if there else None,
        m.position,
        m.first_position or None,
        m.last_position or None,
        _wire.error(m.refusal) if m.HasField("refusal") else None,
        m.duplicate,
    )
