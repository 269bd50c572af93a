"""What is left, cancelled or broken off in its middle: nothing is lost by it, nobody else is ended by it, and nothing runs on."""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import fake
import grpc
import pytest

import evershard
from evershard import Append, Client, Event, aio
from evershard.v1 import groups_pb2, groups_pb2_grpc, service_pb2

PATIENCE = 40.0


@pytest.fixture
def store() -> Iterator[fake.Fake]:
    script = fake.Fake()
    server, script.address = fake.serve(script)  # type: ignore[attr-defined]

    def each(requests: Any, _: Any) -> Iterator[Any]:
        for number, _ in enumerate(requests, 1):
            yield service_pb2.AppendOutcome(appended=fake.appended(number))

    script.scripts["AppendMany"] = [each]
    script.scripts["Append"] = [lambda *_: fake.appended(1)]
    yield script
    server.stop(0)


def client_of(store: fake.Fake) -> Client:
    return Client(store.address, timeout=PATIENCE, follow_shards=False)  # type: ignore[attr-defined]


def threads_of_appends() -> int:
    return sum(thread.name == "evershard-appends" for thread in threading.enumerate())


def test_what_exits_in_the_appends_ends_its_own_program_alone(store: fake.Fake) -> None:
    def appends() -> Iterator[Append]:
        yield Append(Event("T"))
        sys.exit(3)

    with client_of(store) as mine, client_of(store) as others:
        given = []
        with pytest.raises(SystemExit) as left:
            given += mine.append_many(appends())
        assert left.value.code == 3
        assert others.append(Event("T")).first_position == 1, "the loop that all clients share goes on"


def test_leaving_the_loop_over_many_appends_ends_their_thread(store: fake.Fake) -> None:
    with client_of(store) as client:
        for _ in range(3):
            for outcome in client.append_many(Append(Event("T")) for _ in itertools.count()):
                assert outcome.result().first_position == 1
                break
        gc.collect()
        until = time.monotonic() + PATIENCE
        while threads_of_appends() > 0 and time.monotonic() < until:
            time.sleep(0.01)
        assert threads_of_appends() == 0


def test_a_subscription_that_is_left_goes_on_behind_the_last_event(store: fake.Fake) -> None:
    def step(request: Any, _: Any) -> Iterator[Any]:
        if request.after == 0:
            yield fake.events(1, 2, 3, watermark=5)
        yield fake.events(6, watermark=6)

    store.scripts["Subscribe"] = [step]
    seen = []
    with client_of(store) as client, client.subscribe(after=0, heartbeat=None) as subscription:
        for wanted in (1, 2, 3, 6):
            for event in subscription.events():
                seen.append((event.position, subscription.watermark))
                break
            assert seen[-1][0] == wanted
    assert seen == [(1, 1), (2, 2), (3, 5), (6, 6)], "what is kept as the watermark is what was given"


def test_one_append_that_is_too_large_ends_nobody_elses() -> None:
    small = [service_pb2.AppendOutcome(appended=fake.appended())]

    class Store(fake.Fake):
        def AppendMany(self, request: Any, context: Any) -> Iterator[Any]:
            for _ in request:
                yield small[0]

    server = grpc.server(fake.futures.ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", 1 << 16)])
    fake.service_pb2_grpc.add_EventStoreServicer_to_server(Store(), server)  # type: ignore[no-untyped-call]
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    appends = [Append(Event("T", payload=b"x" * size)) for size in (10, 100_000, 20, 200_000, 30)]
    with Client(address, timeout=PATIENCE, follow_shards=False) as client:
        outcomes = list(client.append_many(appends))
    server.stop(0)
    assert [outcome.append for outcome in outcomes] == appends
    assert [type(outcome.error) for outcome in outcomes] == [
        type(None),
        evershard.TooLargeError,
        type(None),
        evershard.TooLargeError,
        type(None),
    ]


class Work(groups_pb2_grpc.GroupsServicer):  # type: ignore[misc]
    """Gives one event to each stay; `ends`: that one breaks when its event is settled."""

    def __init__(self, ends: int = 0) -> None:
        self.stays, self.ends, self.settled = 0, ends, list[int]()

    def Work(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        next(requests)
        self.stays += 1
        stay = self.stays
        yield groups_pb2.WorkResponse(joined=groups_pb2.WorkResponse.Joined(lease_ms=30_000, takes_begun=True))
        yield groups_pb2.WorkResponse(
            deliveries=[groups_pb2.WorkResponse.Delivery(event=fake.event(7), delivery=stay, attempt=1)]
        )
        for request in requests:
            if request.leave:
                return
            if request.batch == 0:
                continue
            if stay == self.ends:
                context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
            self.settled.append(stay)
            yield groups_pb2.WorkResponse(batch=request.batch, outcomes=[groups_pb2.WorkResponse.Outcome()])


def with_worker(groups: Work, work: Callable[[Any], Any]) -> None:
    server, address = fake.serve(fake.Fake(), groups=groups)

    async def run() -> None:
        async with aio.Client(address, timeout=PATIENCE) as client, client.work("g") as worker:
            await work(worker)

    asyncio.run(run())
    server.stop(0)


def test_cancelling_who_takes_an_event_leaves_it_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(worker: Any) -> None:
        begun, write = asyncio.Event(), worker._write

        async def slow(stay: Any, request: Any) -> None:
            if request.settlements:
                begun.set()
                await asyncio.Event().wait()
            await write(stay, request)

        worker._write = slow
        taking = asyncio.ensure_future(worker.next())
        await asyncio.wait_for(begun.wait(), PATIENCE)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
        worker._write = write
        delivery = await worker.next(PATIENCE)
        assert delivery is not None and delivery.event.position == 7
        assert await worker.acknowledge(delivery)

    groups = Work()
    with_worker(groups, work)
    assert groups.settled == [1]


def test_cancelling_who_writes_ends_nothing_of_the_worker() -> None:
    async def work(worker: Any) -> None:
        delivery = await worker.next(PATIENCE)
        for steps in range(6):
            renewing = asyncio.ensure_future(worker.renew(delivery))
            for _ in range(steps):
                await asyncio.sleep(0)
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        assert await worker.acknowledge(delivery)

    groups = Work()
    with_worker(groups, work)
    assert (groups.stays, groups.settled) == (1, [1])


def test_a_loop_goes_on_where_the_server_went_before_it_had_settled() -> None:
    settled = []

    async def work(worker: Any) -> None:
        async for delivery in worker:
            settled.append(await worker.acknowledge(delivery))
            if len(settled) == 2:
                assert not worker._stay.over
                break

    groups = Work(ends=1)
    with_worker(groups, work)
    assert settled == [False, True] and groups.settled == [2]
