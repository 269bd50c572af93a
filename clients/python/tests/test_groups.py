"""Workers of a consumer group, against a real server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import evershard
from evershard import Event, NotFoundError, Query, aio

PATIENCE = 40.0


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(50):
            await work()

    asyncio.run(limited())


def test_a_worker_settles_what_it_is_given(server: Any) -> None:
    with evershard.Client(server.address) as store:
        store.append([Event("Placed", f"order-{n}", {"n": n}) for n in range(4)])
        store.create_group("g", Query().types("Placed"), settings={"attempts_max": 2, "retry_first_ms": 1})
        with pytest.raises(evershard.InvalidArgumentError):
            store.create_group("g")
        with store.work("g", worker="w", credit=1) as worker:
            seen = []
            while len(seen) < 5:
                delivery = worker.next(PATIENCE)
                assert delivery is not None
                seen.append((delivery.event.json()["n"], delivery.attempt))
                if delivery.event.json()["n"] == 0:
                    worker.reject(delivery, "not this one")
                elif delivery.event.json()["n"] == 1:
                    worker.park(delivery, "never")
                else:
                    worker.renew(delivery)
                    worker.acknowledge(delivery)
                    worker.acknowledge(delivery)  # the same again
            assert sorted(seen) == [(0, 1), (0, 2), (1, 1), (2, 1), (3, 1)]
            assert worker.next(0.05) is None
            group, = store.groups()
            assert group.workers == ("w",)
            assert (group.parked, group.unsettled, group.acknowledged) == (2, 0, 2)
        assert store.groups()[0].workers == ()
        store.drop_group("g")
        with store.work("g") as nobody, pytest.raises(NotFoundError):
            nobody.next(PATIENCE)


def test_workers_share_and_one_that_leaves_hands_over(server: Any) -> None:
    with evershard.Client(server.address) as store:
        for n in range(60):
            store.append(Event("Placed", f"order-{n % 6}"))
        store.create_group("g", Query().types("Placed"))
        lock, given = threading.Lock(), dict[str, list[int]]()

        def work() -> None:
            with evershard.Client(server.address) as mine, mine.work("g", credit=3) as worker:
                while (delivery := worker.next(1.0)) is not None:
                    with lock:
                        given.setdefault(str(delivery.event.aggregate), []).append(delivery.event.seq_nr)
                    worker.acknowledge(delivery)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert all(numbers == list(range(1, 11)) for numbers in given.values()) and len(given) == 6


def test_a_worker_outlives_its_server(make_server: Any) -> None:
    durable = make_server()

    async def work() -> None:
        async with aio.Client(durable.address) as store:
            await store.append([Event("Placed", "order-1"), Event("Placed", "order-1")])
            await store.create_group("g", Query().types("Placed"))
            async with store.work("g") as worker:
                first = await worker.next(PATIENCE)
                assert first is not None
                await asyncio.to_thread(durable.kill)
                with pytest.raises(evershard.EvershardError):
                    await worker.acknowledge(first)
                assert await worker.next(0.05) is None
                await asyncio.to_thread(durable.start)
                again = await worker.next(PATIENCE)
                assert again is not None and again.event.position == first.event.position and again.attempt == 1
                await worker.acknowledge(again)
                async for delivery in worker:
                    assert delivery.event.seq_nr == 2
                    break

    run(work)
