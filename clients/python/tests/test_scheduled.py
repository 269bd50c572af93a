"""Scheduled appends: against a real server, and against one that misbehaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import fake
import grpc
import pytest

import evershard
from conftest import IS_DOOR
from evershard import (
    Append,
    AppendCondition,
    Client,
    Event,
    Query,
    ScheduledAppend,
    ScheduledState,
    Snapshot,
    aio,
)
from evershard.v1 import scheduled_pb2, scheduled_pb2_grpc

PATIENCE = 40.0
HOUR = timedelta(hours=1)
of_a_server = pytest.mark.skipif(IS_DOOR, reason="needs evershard serve")


def settled(store: Client, id: str) -> ScheduledAppend:
    until = time.monotonic() + PATIENCE
    while (there := store.get_scheduled(id)).state == ScheduledState.PENDING:
        assert time.monotonic() < until, "it is never made"
        time.sleep(0.02)
    return there


@of_a_server
def test_an_append_is_made_when_it_is_due(store: Client) -> None:
    events = [Event("Reminded", "order-1", {"n": 1}), Event("Noted", tags=["x"])]
    waits = store.schedule(events, after=timedelta(milliseconds=300), expect={"order-1": "none"})
    assert waits.state == ScheduledState.PENDING and waits.id and not waits.duplicate
    assert waits.due is not None and waits.due - waits.scheduled_at > timedelta(milliseconds=200)
    assert (waits.settled_at, waits.first_position, waits.refusal) == (None, None, None)
    assert waits.append is not None and list(waits.append.events) == events
    done = settled(store, waits.id)
    assert done.state == ScheduledState.APPENDED and done.settled_at is not None and done.settled_at >= waits.due
    assert done.first_position is not None and done.last_position == done.first_position + 1
    assert store.event_at(done.first_position).id == events[0].id
    assert [event.type for event in store.read(Query().types("Reminded", "Noted"))] == ["Reminded", "Noted"]
    assert done == store.get_scheduled(waits.id) and done.append == waits.append


@of_a_server
def test_what_it_expects_is_checked_when_it_is_due(store: Client) -> None:
    store.append(Event("Placed", "order-1"))
    store.schedule(Event("Closed", "order-1"), id="late", after=timedelta(), expect={"order-1": 7})
    refused = settled(store, "late")
    assert refused.state == ScheduledState.REFUSED and refused.first_position is None
    assert isinstance(refused.refusal, evershard.VersionConflictError) and refused.refusal.actual == 1
    assert str(refused.refusal.aggregate) == "order-1" and str(refused.refusal.expected) == "7"
    store.schedule(Event("Closed", "order-1"), id="met", due=datetime.now(UTC), fail_if=Query().types("Placed"))
    assert isinstance(settled(store, "met").refusal, evershard.ConditionFailedError)
    with pytest.raises(evershard.ConditionFailedError):
        store.cancel_scheduled("met")


@of_a_server
def test_the_same_id_and_append_are_scheduled_once(store: Client) -> None:
    append = Append(
        Event("Reminded", "order-1", "text", also=["c-1"], metadata={"by": "me"}, occurred_at=datetime.now(UTC)),
        expect={"order-1": "any", "order-2": 3},
        fail_if=[Query().types("A").tags("t").or_().concerning("order-1"), AppendCondition(Query.all(), 10**6)],
    )
    due = datetime.now(UTC) + HOUR
    first = store.schedule(append, id="r-1", due=due)
    again = store.schedule(append, id="r-1", due=due)
    assert again.duplicate and not first.duplicate and again.position == first.position
    assert first.due == due and first.append is not None
    assert (first.append.events, first.append.expect, first.append.fail_if) == (
        append.events,
        append.expect,
        append.fail_if,
    )
    with pytest.raises(evershard.VersionConflictError):
        store.schedule(Event("Other"), id="r-1", due=due)
    moved = store.schedule(append, id="r-1", due=due + HOUR, replace=True)
    assert moved.due == due + HOUR and not moved.duplicate
    assert store.cancel_scheduled("r-1").state == ScheduledState.CANCELLED
    assert store.cancel_scheduled("r-1") == store.get_scheduled("r-1")
    with pytest.raises(evershard.VersionConflictError, match="cancelled"):
        store.schedule(append, id="r-1", due=due, replace=True)


@of_a_server
def test_they_are_listed_page_by_page(store: Client) -> None:
    assert list(store.list_scheduled()) == [] and list(store.list_scheduled(all=True)) == []
    begin = datetime.now(UTC) + HOUR
    for n in range(205):
        store.schedule(Event("R"), id=f"{n:03}", due=begin - timedelta(seconds=n))
    store.cancel_scheduled("100")
    pending = [one.id for one in store.list_scheduled()]
    assert pending == [f"{n:03}" for n in reversed(range(205)) if n != 100]
    assert [one.id for one in store.list_scheduled(all=True)] == [f"{n:03}" for n in range(205)]
    assert [one.id for one in store.list_scheduled(limit=103)] == pending[:103]
    assert list(store.list_scheduled(limit=0)) == []


@of_a_server
def test_what_cannot_be_scheduled_is_refused(store: Client) -> None:
    append = Append(Event("R", "order-1"), snapshots=Snapshot("order-1", {}))
    for words in ({"after": HOUR}, {"after": HOUR, "id": "x" * 201}, {"after": HOUR, "id": "a\0b"}):
        with pytest.raises((evershard.InvalidArgumentError, evershard.TooLargeError)):
            store.schedule(append, **words)  # type: ignore[arg-type]
    for words in ({}, {"after": HOUR, "due": datetime.now(UTC)}, {"due": datetime.now()}, {"after": -HOUR}):
        with pytest.raises(evershard.InvalidArgumentError):
            store.schedule(Event("R"), **words)  # type: ignore[arg-type]
    with pytest.raises(evershard.InvalidArgumentError):
        store.schedule(Event("R"), after=HOUR, id="")
    for ask in (store.get_scheduled, store.cancel_scheduled):
        with pytest.raises(evershard.NotFoundError):
            ask("nobody")


@of_a_server
def test_whoever_may_only_read_schedules_nothing(make_server: Any) -> None:
    server = make_server(tokens="anna read reader-0123456789\nbert read,append writer-0123456789\n")
    with Client(server.address, token="writer-0123456789") as store:
        store.schedule(Event("R"), id="r", after=HOUR)
    with Client(server.address, token="reader-0123456789") as store:
        assert [one.id for one in store.list_scheduled()] == ["r"]
        for refused in (lambda: store.schedule(Event("R"), after=HOUR), lambda: store.cancel_scheduled("r")):
            with pytest.raises(evershard.PermissionDeniedError):
                refused()


@of_a_server
def test_asyncio_has_the_same_words(make_server: Any) -> None:
    server = make_server()

    async def work() -> None:
        async with aio.Client(server.address) as store:
            await store.schedule(Event("R"), id="soon", after=timedelta())
            await store.schedule(Event("R"), id="later", after=HOUR)
            async with asyncio.timeout(PATIENCE):
                while (await store.get_scheduled("soon")).state != ScheduledState.APPENDED:
                    await asyncio.sleep(0.02)
            assert [one.id async for one in store.list_scheduled()] == ["later"]
            assert (await store.cancel_scheduled("later")).state == ScheduledState.CANCELLED

    asyncio.run(work())


@of_a_server
def test_what_is_due_while_the_server_is_away_is_made_when_it_is_back(make_server: Any) -> None:
    server = make_server()
    with Client(server.address) as store:
        store.schedule(Event("R", "order-1"), id="r", after=timedelta(seconds=1))
        server.kill()
        time.sleep(1)
        server.start()
        assert settled(store, "r").state == ScheduledState.APPENDED
        assert store.aggregate("order-1").version == 1


class Scheduling(scheduled_pb2_grpc.ScheduledAppendsServicer):  # type: ignore[misc]
    """Each call takes the next step; the last one stays."""

    def __init__(self, *steps: Callable[[Any, Any], Any]) -> None:
        self.steps, self.seen = list(steps), list[Any]()

    def Schedule(self, request: Any, context: Any) -> Any:
        self.seen.append(request)
        return (self.steps.pop(0) if len(self.steps) > 1 else self.steps[0])(request, context)

    Cancel = Schedule


def breaks(_: Any, context: Any) -> Any:
    context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")


def waits(request: Any, _: Any) -> Any:
    return scheduled_pb2.ScheduledAppend(id=request.id, state=1, due_us=1, scheduled_us=1, duplicate=True)


@pytest.fixture
def serve() -> Iterator[Callable[[Scheduling], str]]:
    running: list[grpc.Server] = []

    def begin(scheduling: Scheduling) -> str:
        server, address = fake.serve(fake.Fake(), scheduled=scheduling)
        running.append(server)
        return address

    yield begin
    for server in running:
        server.stop(0)


def test_it_is_sent_again_with_the_same_bytes(serve: Callable[[Scheduling], str]) -> None:
    scheduling = Scheduling(breaks, breaks, waits)
    with Client(serve(scheduling), timeout=60) as store:
        assert store.schedule(Event("R", "order-1"), after=HOUR).duplicate
        assert len(scheduling.seen) == 3 and len({one.SerializeToString() for one in scheduling.seen}) == 1
        request = scheduling.seen[0]
        assert len(request.id) == 36 and request.append.request_id == b"" and len(request.append.events[0].id) == 16
        scheduling.steps = [breaks, waits]
        assert store.cancel_scheduled("r").id == "r"


def test_without_an_answer_its_id_tells_what_to_ask_for(serve: Callable[[Scheduling], str]) -> None:
    scheduling = Scheduling(breaks)
    with Client(serve(scheduling), timeout=1) as store, pytest.raises(evershard.OutcomeUnknownError) as caught:
        store.schedule(Event("R"), after=HOUR)
    assert caught.value.schedule_id == scheduling.seen[0].id and caught.value.append is None


def test_a_state_of_a_newer_server_is_a_number(serve: Callable[[Scheduling], str]) -> None:
    newer = Scheduling(lambda request, _: scheduled_pb2.ScheduledAppend(id=request.id, state=9))  # type: ignore[arg-type]
    with Client(serve(newer)) as store:
        there = store.cancel_scheduled("r")
    assert (there.state, there.due, there.append) == (9, None, None)
