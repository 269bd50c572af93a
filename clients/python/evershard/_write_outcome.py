"""What a write ends with, where tries may have arrived whose answer nobody heard: a decision, without a clock or a connection."""

from __future__ import annotations

from ._errors import (
    CallCancelledError,
    ConflictError,
    EvershardError,
    InvalidArgumentError,
    NotFoundError,
    OutcomeUnknownError,
    TimeoutError,
    TooLargeError,
    UnavailableError,
)
from ._wire import never_sent

# A server that says so has looked at the write: an earlier try that was stored would have been answered with that.
_DECISIONS = (ConflictError, InvalidArgumentError, NotFoundError, TooLargeError)


class WriteOutcome:
    """Of one write, over all its tries. Once a byte of a try may have arrived, it is unknown whether the write was done until a server answers by
    looking at the write: that a token is refused, or a shard closed, or a queue full, says nothing about the try before.
    Source: docs/server.md, "What is tried again"; tests/clients/outcomes.json has the cases."""

    def __init__(self) -> None:
        self.unknown = False  #: a try of it may have arrived, and nobody has answered for it

    def failed(self, error: EvershardError) -> None:
        """A try that was sent ended so."""
        if error.told_by_server:
            arrived = isinstance(error, TimeoutError)
        else:
            arrived = isinstance(error, (UnavailableError, TimeoutError, CallCancelledError)) and not never_sent(error)
        self.unknown = self.unknown or arrived

    def end(self, last: EvershardError) -> EvershardError:
        """What the caller is told, when `last` is what the last try ended with."""
        answered = not self.unknown or (last.told_by_server and isinstance(last, _DECISIONS))
        if answered or isinstance(last, OutcomeUnknownError):
            return last
        error = OutcomeUnknownError(f"no answer says whether it was done; the same again tells: {last.message}")
        error.__cause__ = last
        return error
