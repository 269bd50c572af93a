"""What is removed from a store's history, for good, and the record of it. See docs/removal.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from . import _wire
from ._errors import InvalidArgumentError, ProtocolError
from ._recorded import moment_of
from .v1 import retention_pb2

_KINDS = {"events": 1, "truncate": 2, "remove": 3}
_NAMES = {number: name for name, number in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """What was done, or would be."""

    operation: str  #: its name in the log; empty: nothing was to be done, or a dry run
    aggregates: int
    events: int  #: that are gone now and were not before
    snapshots: int
    records: int  #: of the journal, written again
    bytes_before: int
    bytes_after: int  #: of those; the disk has them back after a vacuum
    version: int  #: of one aggregate: its version
    before: int  #: the same: its events below are gone
    covered_by: int | None  #: the version of the snapshot that stands for them
    covered_revision: int  #: that snapshot's schema revision


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Time to live by a rule. `kind`: events (of a type, one by one), truncate or remove (aggregates of a type)."""

    name: str
    kind: str
    type: str  #: of events, or of aggregates
    keep: timedelta  #: whole seconds
    uncovered: bool = False  #: of events: also where no snapshot stands for them


@dataclass(frozen=True, slots=True)
class RetentionEntry:
    """One step, as the log has it."""

    position: int
    number: int  #: in the log, from 1
    at_us: int
    what: str  #: the event's type: $TruncationOrdered, $RemovalDone, ...
    content: dict[str, Any]

    @property
    def at(self) -> datetime:
        return moment_of(self.at_us)


def order(by: str, reason: str, dry_run: bool = False, bytes_per_second: int = 0) -> retention_pb2.RetentionOrder:
    return _wire.checked(retention_pb2.RetentionOrder, by=by, reason=reason, dry_run=dry_run, bytes_per_second=bytes_per_second)  # type: ignore[no-any-return]


def result(m: retention_pb2.RetentionResult) -> RetentionResult:
    return RetentionResult(
        m.operation,
        m.aggregates,
        m.events,
        m.snapshots,
        m.records,
        m.bytes_before,
        m.bytes_after,
        m.version,
        m.before,
        m.covered_by if m.HasField("covered_by") else None,
        m.covered_revision,
    )


def policy_message(given: RetentionPolicy) -> retention_pb2.RetentionPolicy:
    if given.kind not in _KINDS:
        raise InvalidArgumentError(f"{given.kind!r} is no kind of policy: events, truncate or remove")
    return _wire.checked(  # type: ignore[no-any-return]
        retention_pb2.RetentionPolicy,
        name=given.name,
        kind=_KINDS[given.kind],
        type=given.type,
        keep_seconds=int(given.keep.total_seconds()),
        uncovered=given.uncovered,
    )


def policy(m: retention_pb2.RetentionPolicy) -> RetentionPolicy:
    return RetentionPolicy(
        m.name,
        _NAMES.get(m.kind, f"kind {m.kind}"),
        m.type,
        timedelta(seconds=m.keep_seconds),
        m.uncovered,
    )


def entry(m: retention_pb2.RetentionEntry) -> RetentionEntry:
    try:
        content = json.loads(m.json)
    except ValueError as error:
        raise ProtocolError(f"an entry of the log is no JSON: {error}") from None
    return RetentionEntry(m.position, m.number, m.at_us, m.what, content)
