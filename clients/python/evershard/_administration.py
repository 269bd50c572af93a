"""What an operator asks, with its values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import _wire
from ._connection import DEFAULT
from ._errors import ProtocolError
from ._recorded import moment_of
from .v1 import service_pb2


@dataclass(frozen=True, slots=True)
class Progress:
    """How far long work is, in its own unit."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class VerifyReport:
    events: int
    records: int
    index_rows: int
    snapshots: int
    errors: int
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    store_id: str
    shards: int
    format: int
    hash: int
    created_at_us: int
    watermark: int
    sealed: int
    tail_events: int
    commits: int
    appends: int
    refused: int
    disk_bytes: int
    disk_free_bytes: int
    memory_bytes: int
    backend_assertions: bool
    details: dict[str, int] = field(default_factory=dict)
    fork_id: str = ""  #: another one in every copy of a store

    @property
    def created_at(self) -> datetime:
        return moment_of(self.created_at_us)


def stats_of(m: service_pb2.StatsResponse) -> Stats:
    return Stats(
        m.store_id,
        m.shards,
        m.format,
        m.hash,
        m.created_at_us,
        m.watermark,
        m.sealed,
        m.tail_events,
        m.commits,
        m.appends,
        m.refused,
        m.disk_bytes,
        m.disk_free_bytes,
        m.memory_bytes,
        m.backend_assertions,
        {one.name: one.value for one in m.details},
        m.fork_id,
    )


def verify_report_of(m: service_pb2.VerifyReport) -> VerifyReport:
    return VerifyReport(m.events, m.records, m.index_rows, m.snapshots, m.errors, tuple(m.findings))


class AdministrationCalls:
    """Of the asyncio client. All but stats() need the scope `admin`. Long work has no time-out of its own; cancelling the call stops it."""

    async def stats(self, *, timeout: float | None = DEFAULT) -> Stats:
        return stats_of(await self._unary("Stats", lambda _: service_pb2.StatsRequest(), timeout))

    async def flush(self, *, timeout: float | None = DEFAULT) -> None:
        """Seals the tail: the next opening has nothing to rebuild."""
        await self._unary("Flush", lambda _: service_pb2.FlushRequest(), timeout)

    async def verify(self, progress: Callable[[Progress], None] | None = None) -> VerifyReport:
        """Every record, the order and the indexes. Damage is in the report; it is no error of the call."""
        report: VerifyReport | None = None
        async for message in self._work("Verify", service_pb2.VerifyRequest(), progress):
            if message.HasField("report"):
                report = verify_report_of(message.report)
        if report is None:
            raise ProtocolError("the server ended without a report")
        return report

    async def vacuum(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Gives back space."""
        async for _ in self._work("Vacuum", service_pb2.VacuumRequest(), progress):
            pass

    async def backup(
        self,
        target: str,
        progress: Callable[[Progress], None] | None = None,
        *,
        truth_only: bool = False,
        up_to: int | None = None,
        without_state: Callable[[str], None] | None = None,
        left_out: Callable[[str], None] | None = None,
    ) -> int:
        """A copy that opens by itself, into an absent or empty directory of the server's machine. `truth_only`: without the indexes; `up_to`: a
        clone that ends with this position; `without_state` is called for aggregates whose state cannot be made in such a clone, because events
        of theirs were removed since; `left_out` with a sentence for each damaged snapshot that the copy does without. Returns the position it ends with.
        """
        request, end = (
            _wire.checked(
                service_pb2.BackupRequest,
                target=target,
                truth_only=truth_only,
                up_to=up_to,
            ),
            0,
        )
        async for message in self._work("Backup", request, progress):
            end = message.up_to
            if without_state is not None:
                for aggregate in message.without_state:
                    without_state(aggregate)
            if left_out is not None:
                for what in message.left_out:
                    left_out(what)
        return int(end)

    # How: the client says it.

    async def _unary(self, method: str, request: Callable[[int], Any], timeout: float | None) -> Any:
        raise NotImplementedError

    def _work(self, method: str, request: Any, progress: Callable[[Progress], None] | None) -> AsyncIterator[Any]:
        raise NotImplementedError
