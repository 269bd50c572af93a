"""What the server refuses and what goes wrong on the way to it: one exception a code, with the values that decided it."""

from __future__ import annotations

import builtins
import enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._append import Append
    from ._recorded import RecordedEvent
    from ._values import AggregateId, ExpectedVersion


class ErrorCode(enum.IntEnum):
    """What the caller can do about it; the same codes as everywhere in Evershard."""

    UNSPECIFIED = 0
    VERSION_CONFLICT = 1
    CONDITION_FAILED = 2
    DUPLICATE_EVENT = 3
    NOT_FOUND = 4
    INVALID_ARGUMENT = 5
    INVALID_QUERY = 6
    TOO_LARGE = 7
    WRONG_SHARD = 8
    FENCED = 9
    UNAVAILABLE = 10
    OVERLOADED = 11
    TIMEOUT = 12
    CORRUPTION = 13
    IO = 14
    CANCELLED = 15
    UNAUTHENTICATED = 16
    PERMISSION_DENIED = 17
    ALREADY_EXISTS = 18


class EvershardError(Exception):
    """Of every error. Attributes that do not belong to its code are None, `conflicts` is empty."""

    code: ErrorCode = ErrorCode.UNSPECIFIED

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message  #: one sentence, for people
        self.aggregate: AggregateId | None = details.get("aggregate")
        self.expected: ExpectedVersion | None = details.get("expected")
        self.actual: int | None = details.get("actual")  #: the version the aggregate has
        self.condition: int | None = details.get("condition")  #: which, from 0, in the append's order
        self.position: int | None = details.get(
            "position"
        )  #: the first conflicting event, or the earlier one of the same id
        self.shard: int | None = details.get("shard")
        self.offset: int | None = details.get("offset")
        self.conflicts: tuple[RecordedEvent, ...] = details.get(
            "conflicts", ()
        )  #: as many as `conflicts_max` asked for and have room
        self.retry_after: float | None = details.get("retry_after")  #: seconds
        self.lasting: bool = details.get(
            "lasting", False
        )  #: of `unavailable`: until somebody mends it; trying again alone changes nothing
        self.told_by_server: bool = details.get("told_by_server", False)  #: else it happened on the way

    def __str__(self) -> str:
        return f"{self.code.name.lower()}: {self.message}"


class ConflictError(EvershardError):
    """Somebody else was faster: read again and decide again."""


class VersionConflictError(ConflictError):
    """An aggregate is not at the expected version: `aggregate`, `expected`, `actual`."""

    code = ErrorCode.VERSION_CONFLICT


class ConditionFailedError(ConflictError):
    """An event matches an append condition: `condition`, `position`, `conflicts`."""

    code = ErrorCode.CONDITION_FAILED


class DuplicateEventError(ConflictError):
    """An event id is stored already, by another request: `position`."""

    code = ErrorCode.DUPLICATE_EVENT


class NotFoundError(EvershardError):
    code = ErrorCode.NOT_FOUND


class InvalidArgumentError(EvershardError, ValueError):
    code = ErrorCode.INVALID_ARGUMENT


class AlreadyExistsError(InvalidArgumentError):
    """What was to be created has a name that is taken. With `if_absent=True` one of the same definition is given as it is."""

    code = ErrorCode.ALREADY_EXISTS


class InvalidQueryError(InvalidArgumentError):
    code = ErrorCode.INVALID_QUERY


class ForkChangedError(InvalidArgumentError):
    """The server's store is another fork than the one that was followed: it was restored, or is another copy. Everything up to `watermark` of the
    subscription is of the fork that was followed; of what the store has now, events in front of it may be others."""


class TooLargeError(EvershardError):
    """Over a limit, which the message names."""

    code = ErrorCode.TOO_LARGE


class UnavailableError(EvershardError):
    """Not now: no connection, a server that is stopping, a full disk. Was retried: where a server says so for `unavailable_timeout`, and not at all
    where it is `lasting`; where none answers until the time-out."""

    code = ErrorCode.UNAVAILABLE


class WrongShardError(UnavailableError):
    code = ErrorCode.WRONG_SHARD


class FencedError(UnavailableError):
    code = ErrorCode.FENCED


class OverloadedError(UnavailableError):
    """A bounded queue is full: `retry_after`. Was retried until the time-out."""

    code = ErrorCode.OVERLOADED


class TimeoutError(EvershardError, builtins.TimeoutError):  # noqa: A001
    """The time-out passed, or a position was not reached in time."""

    code = ErrorCode.TIMEOUT


class OutcomeUnknownError(TimeoutError):
    """A write was sent and no answer came: it is stored or it is not. Sending `append` again, with client.append(error.append), asks; it is
    stored once, however often it is sent. `append` is None where the write was no append. Of client.schedule(), `schedule_id` is what it can be
    asked for by, or scheduled with again.
    """

    append: Append | None = None
    schedule_id: str | None = None


class CorruptionError(EvershardError):
    """Damaged data was found; it is never served."""

    code = ErrorCode.CORRUPTION


class IoError(EvershardError):
    """The store has failed for good; the outcome of what was under way is unknown."""

    code = ErrorCode.IO


class CallCancelledError(EvershardError):
    code = ErrorCode.CANCELLED


class UnauthenticatedError(EvershardError):
    """No token, or one that is not known."""

    code = ErrorCode.UNAUTHENTICATED


class PermissionDeniedError(EvershardError):
    """The token's scopes do not reach so far; the message names the scope."""

    code = ErrorCode.PERMISSION_DENIED


class ProtocolError(EvershardError):
    """What came is not of this protocol: no Evershard server, or one of another age."""


_classes: dict[int, type[EvershardError]] = {
    kind.code: kind
    for kind in (VersionConflictError, ConditionFailedError, DuplicateEventError, NotFoundError, InvalidArgumentError, InvalidQueryError, TooLargeError,
                 UnavailableError, WrongShardError, FencedError, OverloadedError, TimeoutError, CorruptionError, IoError, CallCancelledError,
                 UnauthenticatedError, PermissionDeniedError, AlreadyExistsError)
}  # fmt: skip


def class_of(code: int) -> type[EvershardError]:
    return _classes.get(code, ProtocolError)
