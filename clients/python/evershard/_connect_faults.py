"""What will never work is told at once: why no connection is made, in plain words, and when that is final. Decisions, without a clock or a connection."""

from __future__ import annotations

from ._errors import EvershardError, UnavailableError
from ._wire import NO_CONNECTION, never_sent

_AT_ONCE = {
    ("certificate_verify_failed", "self-signed", "self signed", "unable to verify", "unable to get local issuer"): (
        "its certificate is not signed by anybody who is trusted here"
    ),
    ("hostname verification", "altnames", "altname_invalid"): "its certificate is made out to another name",
    ("wrong_version_number", "wrong version number"): "it does not speak TLS",
    ("handshake failed",): "the TLS handshake fails: it does not speak TLS, or its certificate is not trusted here",
    ("http1.x", "failed parsing http/2", "protocol error"): (
        "it speaks HTTP/1, not gRPC: the HTTP door has a port of its own"
    ),
}
_IN_A_MOMENT = {
    ("connection refused", "econnrefused", "no such file or directory", "enoent"): "nobody listens there",
    ("errors resolving", "dns resolution failed", "name resolution failed"): "there is no host of that name",
    ("socket closed", "connection reset", "econnreset", "last error: failed to connect ("): (
        "it closes the connection at once: it may want TLS"
    ),
}
_MOMENT_S = 1.0  # a server that is just being started again


def words_of(text: str) -> str | None:
    """Of what gRPC says where no connection was made. None: nothing that has to be mended first."""
    known = {**_AT_ONCE, **_IN_A_MOMENT}
    lower = text.lower()
    if text.startswith(NO_CONNECTION) or not never_sent(UnavailableError(text)):
        return None
    return next((words for parts, words in known.items() if any(part in lower for part in parts)), None)


class ConnectFaults:
    """Of the addresses of one client. Once anybody has answered, a server that cannot be reached is waited for, as one that is being started again.
    Before that, what no time mends is final when every address says so: at once, or, of what a start may look like, after a second.
    Times are seconds of one clock."""

    def __init__(self, addresses: int) -> None:
        self._addresses = addresses
        self._heard = False
        self._since: dict[int, float] = {}
        self._final: dict[int, EvershardError] = {}

    def heard(self) -> None:
        """A server answered."""
        self._heard = True
        self._since.clear()
        self._final.clear()

    def failed(self, number: int, address: str, error: EvershardError, now: float) -> EvershardError:
        """What the call at this address ended with, or that it is final."""
        if error.told_by_server:
            self.heard()
        words = None if self._heard else words_of(error.message)
        if words is None:
            self._since.pop(number, None)
            self._final.pop(number, None)
            return error
        since = self._since.setdefault(number, now)
        if words in _AT_ONCE.values() or now - since >= _MOMENT_S:
            self._final[number] = UnavailableError(f"{NO_CONNECTION}{address}: {words}", lasting=True)
        return self.final or error

    @property
    def final(self) -> EvershardError | None:
        """No address will ever work."""
        if self._heard or len(self._final) < self._addresses:
            return None
        return next(iter(self._final.values()))
