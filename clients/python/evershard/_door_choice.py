"""Which of the addresses of a store is asked next: decisions, without a clock or a connection."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Choice:
    """An address. `ours`: whether it has said that it is of our store; None: it was not asked yet. False: it is never used."""

    address: str
    ours: bool | None = None
    failures: int = 0  # since it worked
    rests_until: float = 0.0


def rest(failures: int) -> float:
    """Seconds after which a door is tried again: 10 to 500 ms, and up to 5 s when it has been gone for long."""
    most = min(0.010 * 2 ** min(failures, 10), 0.500)
    return random.uniform(most / 2, most) * (10 if failures > 8 else 1)


class DoorChoice:
    """Keeps to the door that works; goes on to the next one in the order given when it fails, and past those that failed a moment ago. Times are
    seconds of one clock."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self.doors = [Choice(address) for address in addresses]
        if len(self.doors) == 1:
            self.doors[0].ours = True  # whatever it is, it is what was asked for
        self._at = 0

    def add(self, address: str) -> int:
        self.doors.append(Choice(address))
        return len(self.doors) - 1

    @property
    def current(self) -> int | None:
        """None: nobody has said yet that he is ours."""
        return self._at if self.doors[self._at].ours else None

    @property
    def all_foreign(self) -> bool:
        return all(door.ours is False for door in self.doors)

    def to_meet(self, now: float) -> int | None:
        """The one that should say whose it is, because nobody else works. None: none, or none yet."""
        at = self.doors[self._at]
        if at.ours and at.failures == 0:
            return None
        return self._next(self._at - 1, lambda door: door.ours is None and door.rests_until <= now)

    def is_ours(self, number: int, ours: bool) -> None:
        door = self.doors[number]
        if door.ours != ours:
            door.failures = 0  # it answered; a word alone mends no door that was tried
        door.ours = ours
        at = self.doors[self._at]
        if ours and (not at.ours or at.failures > 0):
            self._at = number
        elif at.ours is False:
            other = self._next(self._at, lambda one: one.ours is True)
            self._at = self._at if other is None else other

    def forget_all_but(self, number: int) -> None:
        """All others are to say anew whose they are."""
        for other, door in enumerate(self.doors):
            if other != number:
                door.ours = None

    def worked(self, number: int) -> None:
        self.doors[number].failures = 0

    def failed(self, number: int, now: float, rests: float) -> None:
        """It could not be reached, or said that it cannot. Many calls that fail on one door move on once."""
        door = self.doors[number]
        door.failures += 1
        door.rests_until = max(door.rests_until, now + rests)
        if number == self._at and door.ours:
            other = self._next(self._at, lambda one: one.ours is True and one.rests_until <= now)
            self._at = self._at if other is None else other

    def rests(self, number: int, now: float) -> bool:
        return self.doors[number].rests_until > now

    def _next(self, behind: int, fits: Callable[[Choice], bool]) -> int | None:
        """From the one behind it on, once around."""
        count = len(self.doors)
        return next(
            (n for n in ((behind + step) % count for step in range(1, count + 1)) if fits(self.doors[n])),
            None,
        )
