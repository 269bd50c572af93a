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


def worth_retrying(failed: EvershardError, *, write: bool = False) -> bool:
    """What may go away by itself. Every write names itself, so that it can be sent again; a server's `timeout` asks for just that."""
    return isinstance(failed, UnavailableError) or (write and isinstance(failed, TimeoutError) and failed.told_by_server)


def not_done(failed: EvershardError, *, several: bool) -> bool:
    """Of a change that does not name itself: it did not arrive, or was not taken. What one server says of itself, as of a full disk, is the answer."""
    if not failed.told_by_server:
        return never_sent(failed)
    return isinstance(failed, UnavailableError) and (several or type(failed) is not UnavailableError)
