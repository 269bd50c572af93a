"""Which history answers are of: the store's fork, and whose order a node of a cluster follows. Decisions only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ._errors import ForkChangedError, ProtocolError, UnavailableError

FORK = "evershard-fork"
LED = "evershard-led"
LED_OF = (
    "evershard-led-of"  # of which fork a client of one address heard that: where another one is by now, it says nothing
)
_KEPT = 8
_ONE = re.compile(r"([1-9][0-9]{0,19}):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")


def _leaderships(text: str) -> dict[int, str]:
    """`EPOCH:IDENTITY,EPOCH:IDENTITY`, epochs ascending. Errors: ProtocolError"""
    led: dict[int, str] = {}
    for one in text.split(","):
        found = _ONE.fullmatch(one)
        if found is None or (led and int(found[1]) <= max(led)):
            raise ProtocolError(f"{LED}: {text!r} is not EPOCH:IDENTITY,EPOCH:IDENTITY, epochs ascending")
        led[int(found[1])] = found[2]
    return led


class OtherHistoryError(UnavailableError):
    """The answer is of two coordinators' copies of one cut log, or of an older leadership: it is not taken."""


class History:
    """`several`: more than one address was given. At one address, whatever is there is what was asked for: only who follows it is told."""

    def __init__(self, several: bool) -> None:
        self.several = several
        self._led: dict[int, str] = {}
        self._last = ""
        self.fork = ""  #: of the first answer; at one address of the last one; empty: nobody has said

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """For requests: who is of another history refuses them."""
        said: list[tuple[str, str]] = []
        if self.several and self.fork:
            said.append((FORK, self.fork))
        if self._led:
            said.append((LED, ",".join(f"{epoch}:{identity}" for epoch, identity in sorted(self._led.items()))))
            if not self.several and self.fork:
                said.append((LED_OF, self.fork))
        return tuple(said)

    def hear(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> None:
        """Of an answer, before it is taken. Errors: as hear_led(); ForkChangedError"""
        said = {key: value for key, value in metadata or () if isinstance(value, str)}
        self.hear_fork(said.get(FORK, ""))
        self.hear_led(said.get(LED, ""))

    def hear_met(self, metadata: Iterable[tuple[str, str | bytes]] | None, given: bool) -> None:
        """Of a door that says whose it is; `given`: it has the one address there is. Another fork at one of several addresses is for the caller to
        look at; behind one address others name doors, and one of another fork is never used and says nothing of this one. Errors: as hear_led()
        """
        said = {key: value for key, value in metadata or () if isinstance(value, str)}
        fork = said.get(FORK, "")
        if not self.several:
            if not given and fork and fork != self.fork:
                return
            self.hear_fork(fork)
        self.hear_led(said.get(LED, ""))

    def hear_fork(self, fork: str) -> None:
        if fork and self.fork and self.several and fork != self.fork:
            raise ForkChangedError(
                f"the store is fork {fork} now, and fork {self.fork} answered this client before: "
                "the store was restored, or another one is served here: connect anew"
            )
        if fork and self.fork and fork != self.fork:  # who led the other one says nothing of this one
            self._led, self._last = {}, ""
        self.fork = fork or self.fork

    def hear_led(self, led: str) -> None:
        """Errors: OtherHistoryError: not to be taken; ProtocolError"""
        if not led or led == self._last:
            return
        said = _leaderships(led)
        for epoch, identity in said.items():
            known = self._led.get(epoch, identity)
            if known != identity:
                raise OtherHistoryError(
                    f"an answer is not taken: epoch {epoch} was led by {identity} for this node, and by {known} for nodes that answered this client "
                    "before: there are two coordinators on copies of one cut log, and two histories"
                )
        if self._led and max(said) < max(self._led):
            raise OtherHistoryError(
                f"an answer is not taken: this node follows the coordinator of epoch {max(said)}, and this client was answered under epoch "
                f"{max(self._led)}: it has not heard of the newer coordinator yet"
            )
        self._led = dict(sorted((self._led | said).items())[-_KEPT:])
        self._last = led
