"""Many appends in flight: which is sent next, whose an answer is, and what is sent again when a connection breaks. No clock of its own, no
connection."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from . import _wire
from ._append import Append, AppendOutcome
from ._errors import EvershardError, OutcomeUnknownError, ProtocolError, TooLargeError
from ._retry import Backoff, Patience, worth_retrying
from ._write_outcome import WriteOutcome
from .v1 import service_pb2, store_pb2

_BYTES_MAX = 16 << 20


@dataclass(slots=True)
class Slot:
    append: Append
    message: store_pb2.AppendRequest
    bytes: int
    patience: Patience
    outcome: AppendOutcome | None = None
    first_sent: float | None = None
    write: WriteOutcome = field(default_factory=WriteOutcome)
    not_before: float = 0.0
    backoff: Backoff = field(default_factory=Backoff)


class Order:
    """In which order outcomes are handed out, whatever pipelines their appends go by; and how many there may be."""

    def __init__(self, in_flight: int) -> None:
        self._in_flight = in_flight
        self._slots: deque[Slot] = deque()  # in the order given, until they are handed out
        self._bytes = 0

    @property
    def has_room(self) -> bool:
        return not self._slots or (len(self._slots) < self._in_flight and self._bytes < _BYTES_MAX)

    @property
    def is_empty(self) -> bool:
        return not self._slots

    def add(self, slot: Slot) -> None:
        self._slots.append(slot)
        self._bytes += slot.bytes

    def take(self) -> AppendOutcome | None:
        """The outcome of the first append that was not handed out yet, once it is there."""
        if not self._slots or self._slots[0].outcome is None:
            return None
        slot = self._slots.popleft()
        self._bytes -= slot.bytes
        return slot.outcome


class Lanes:
    """Which pipeline an append goes by: one for each node that decides appends, 0: any. Those of one shard are decided in the order they were
    given: they change to another lane when all before them are answered."""

    def __init__(self) -> None:
        self._of: dict[int | None, tuple[int, deque[Slot]]] = {}

    def lane(self, shard: int | None, home: int) -> int | None:
        """`shard` None: not known. `home`: the node that decides the append, 0: not known now. Returns: None: not yet, others are under way"""
        before = self._under_way(shard)
        if before is not None:
            return before if home in (0, before) else None
        if shard is not None and home != 0 and self._under_way(None) is not None:
            return None
        return home

    def goes(self, shard: int | None, lane: int, slot: Slot) -> None:
        if self._under_way(shard) is None:
            self._of[shard] = (lane, deque())
        self._of[shard][1].append(slot)

    def _under_way(self, shard: int | None) -> int | None:
        lane, slots = self._of.get(shard, (0, deque[Slot]()))
        while slots and slots[0].outcome is not None:
            slots.popleft()
        return lane if slots else None


class Pipeline:
    """By one connection at a time. Times are seconds of one clock."""

    def __init__(self, timeout: float | None, order: Order, unavailable_timeout: float = 5.0) -> None:
        self._order = order
        self._unavailable_timeout = unavailable_timeout
        self._timeout = timeout
        self._to_send: deque[Slot] = deque()
        self._sent: deque[Slot] = deque()  # in the order their answers come
        self._progressed = 0.0  # when an answer came last, or there was something to do after a silence

    @property
    def waits_for_answers(self) -> bool:
        return bool(self._sent)

    @property
    def has_work(self) -> bool:
        return bool(self._sent or self._to_send)

    def add(self, append: Append, now: float) -> Slot:
        message = _wire.append(append)
        if not self.has_work:
            self._progressed = now
        slot = Slot(
            append,
            message,
            message.ByteSize(),
            Patience(self._unavailable_timeout, now),
        )
        self._order.add(slot)
        self._to_send.append(slot)
        return slot

    def when_next(self) -> float | None:
        """When there is something to be sent; None: not before something changes."""
        return self._to_send[0].not_before if self._to_send else None

    def send_next(self, now: float) -> store_pb2.AppendRequest:
        slot = self._to_send.popleft()
        if slot.first_sent is None:
            slot.first_sent = now
        self._sent.append(slot)
        return slot.message

    def answered(self, message: service_pb2.AppendOutcome, now: float) -> None:
        """The next answer in order. What is worth it is sent again, behind what is on its way already."""
        if not self._sent:
            raise ProtocolError("an answer to nothing")
        self._progressed = now
        slot = self._sent.popleft()
        if message.WhichOneof("outcome") == "appended":
            slot.outcome = AppendOutcome(slot.append, appended=_wire.appended(message.appended))
            return
        failed = _wire.error(message.refused)
        slot.write.failed(failed)
        wait = slot.backoff.next(failed)
        if worth_retrying(failed, write=True) and slot.patience.bears(failed, now) and not self._late(slot, now + wait):
            slot.not_before = now + wait
            self._to_send.append(slot)
        else:
            self._ends(slot, failed)

    def broke(self, why: EvershardError) -> None:
        """Everything that was sent and not answered is sent again, first and in order."""
        for slot in self._sent:
            slot.write.failed(why)
        self._to_send.extendleft(reversed(self._sent))
        self._sent.clear()

    def refuse_largest(self, why: EvershardError) -> bool:
        """gRPC ends a stream as a whole for one message that a server does not take: of what was sent, the largest is one. The others go on."""
        if why.told_by_server or not isinstance(why, TooLargeError) or not self._sent:
            return False
        largest = max(self._sent, key=lambda slot: slot.bytes)
        self._sent.remove(largest)
        self._ends(largest, why)
        return True

    def give_up(self, failed: EvershardError) -> None:
        """No answer will come any more. What was sent is unknown, what was not has failed."""
        self.broke(failed)
        for slot in self._to_send:
            self._ends(slot, failed)
        self._to_send.clear()

    def refuse(self, append: Append, failed: EvershardError) -> None:
        """It is not sent any more."""
        self._ends(self.add(append, self._progressed), failed)
        self._to_send.pop()

    def _ends(self, slot: Slot, failed: EvershardError) -> None:
        error = slot.write.end(failed)
        if isinstance(error, OutcomeUnknownError):
            error.append = slot.append
        slot.outcome = AppendOutcome(slot.append, error=error)

    def left(self, now: float) -> float | None:
        """How long something may still be answered; None: without an end."""
        return None if self._timeout is None else max(self._progressed + self._timeout - now, 0.0)

    def is_late(self, now: float) -> bool:
        """Nothing was answered for the time-out."""
        return self._timeout is not None and now - self._progressed >= self._timeout

    def _late(self, slot: Slot, now: float) -> bool:
        return self._timeout is not None and slot.first_sent is not None and now - slot.first_sent >= self._timeout
