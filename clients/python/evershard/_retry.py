"""When to try again, and when not: decisions, without a clock or a connection."""

from __future__ import annotations

import random

from ._errors import EvershardError, OverloadedError, TimeoutError, UnavailableError
from ._wire import never_sent

_LEAST_S = 0.010
_MOST_S = 0.500


class Backoff:
    """Waits between tries: doubling from 10 to 500 ms, each drawn from its upper half, so that many clients do not come back at once."""

    def __init__(self) -> None:
        self._step = _LEAST_S

    def next(self, failed: EvershardError | None = None) -> float:
        """Seconds; not before the server wants to be asked again."""
        wait = random.uniform(self._step / 2, self._step)
        self._step = min(self._step * 2, _MOST_S)
        if isinstance(failed, OverloadedError) and failed.retry_after is not None:
            wait += failed.retry_after
        return wait

    def reset(self) -> None:
        self._step = _LEAST_S


class Patience:
    """How long, in one call, what a server answers as "not now" is asked for again: `most` seconds from the first time on. That nobody answers is
    another matter: it is borne until the call's time-out. So is `overloaded`, which says itself when to come again. Times are seconds of one clock.
    Source: docs/server.md, "What is tried again"."""

    def __init__(self, most: float, began: float) -> None:
        self._most = most
        self._began = began
        self._since: float | None = None

    def bears(self, failed: EvershardError, now: float) -> bool:
        if not failed.told_by_server or isinstance(failed, OverloadedError):
            return True
        if failed.lasting:
            return False
        if isinstance(failed, TimeoutError):  # the server has waited itself
            return now - self._began < self._most
        if self._since is None:
            self._since = now
        return now - self._since < self._most

    def worked(self) -> None:
        self._since = None


def worth_retrying(failed: EvershardError, *, write: bool = False) -> bool:
    """What may go away by itself. Every write names itself, so that it can be sent again; a server's `timeout` asks for just that."""
    return (isinstance(failed, UnavailableError) and not failed.lasting) or (
        write and isinstance(failed, TimeoutError) and failed.told_by_server
    )


def not_done(failed: EvershardError, *, several: bool) -> bool:
    """Of a change that does not name itself: it did not arrive, or was not taken. What one server says of itself, as of a full disk, is the answer."""
    if not failed.told_by_server:
        return never_sent(failed)
    return (
        isinstance(failed, UnavailableError)
        and not failed.lasting
        and (several or type(failed) is not UnavailableError)
    )
