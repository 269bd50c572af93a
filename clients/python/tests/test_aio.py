"""The asyncio client: the same words, cancellation, time-outs of one's own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

import evershard
from evershard import Append, Event, FeedKind, Query, aio


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(120):
            await work()

    asyncio.run(limited())


def test_both_clients_have_the_same_words() -> None:
    def words(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert words(evershard.Client) == words(aio.Client)
    assert list(inspect.signature(evershard.Client).parameters) == list(inspect.signature(aio.Client).parameters)
    for mine, other in (
        (evershard.EventReader, aio.EventReader),
        (evershard.Subscription, aio.Subscription),
    ):
        assert set(words(mine)) == set(words(other))


def test_every_kind_of_call(server: Any) -> None:
    async def work() -> None:
        async with aio.Client(server.address) as store:
            done = await asyncio.gather(
                *(store.append(Event("Placed", f"order-{n}"), expect={f"order-{n}": "none"}) for n in range(50))
            )
            assert sorted(one.first_position for one in done) == list(range(1, 51))
            assert [event.position async for event in store.read()] == list(range(1, 51))
            assert [event.seq_nr async for event in store.read_aggregate("order-7")] == [1]
            assert len([info async for info in store.aggregates(page=20)]) == 50
            outcomes = [
                outcome async for outcome in store.append_many(Append(Event("Placed", "order-0")) for _ in range(20))
            ]
            assert [outcome.result().first_position for outcome in outcomes] == list(range(51, 71))
            assert (await store.stats()).watermark == 70 == await store.head() and (await store.verify()).errors == 0

            async def source() -> AsyncIterator[Append]:
                for _ in range(3):
                    await asyncio.sleep(0.01)
                    yield Append(Event("Placed", "order-0"))

            async with store.append_many(source()) as many:
                assert [outcome.result().first_position async for outcome in many] == [
                    71,
                    72,
                    73,
                ]

    run(work)


def test_a_subscription_that_is_waited_for_in_turns_misses_nothing(server: Any) -> None:
    async def work() -> None:
        async with aio.Client(server.address) as store, store.subscribe(after=0, heartbeat=None) as subscription:
            assert (await anext(subscription)).kind is FeedKind.CAUGHT_UP
            seen: list[int] = []
            for n in range(1, 6):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(subscription), 0.05)
                await store.append([Event("T"), Event("T")])
                while len(seen) < 2 * n:
                    seen += [event.position for event in (await anext(subscription)).events]
            assert seen == list(range(1, 11)) and subscription.reconnects == 0

    run(work)


def test_cancelling_a_task_ends_its_call(server: Any) -> None:
    async def work() -> None:
        async with aio.Client(server.address) as store:
            subscription = store.subscribe(heartbeat=None)
            await anext(subscription)
            waiting = [asyncio.ensure_future(anext(subscription)), asyncio.ensure_future(store.head(at_least=9)),
                       asyncio.ensure_future(store.read(at_least=9).next_page())]  # fmt: skip
            await asyncio.sleep(0.1)
            for task in waiting:
                task.cancel()
            for task in waiting:
                with pytest.raises(asyncio.CancelledError):
                    await task
            await store.append(Event("T"))
            assert await store.head() == 1

    run(work)


def test_closing_a_subscription_ends_whoever_waits_for_it(server: Any) -> None:
    async def work() -> None:
        async with aio.Client(server.address) as store:
            subscription = store.subscribe(Query.all(), heartbeat=None)
            await anext(subscription)

            async def follow() -> list[Any]:
                return [item async for item in subscription]

            following = asyncio.ensure_future(follow())
            await asyncio.sleep(0.1)
            await subscription.close()
            assert await following == []

    run(work)


def test_leaving_many_appends_early_leaves_nothing_running(server: Any) -> None:
    async def work() -> None:
        async with aio.Client(server.address) as store:
            async with store.append_many(Append(Event("T")) for _ in range(100_000)) as many:
                assert (await anext(many)).result().first_position == 1
            while len(asyncio.all_tasks()) > 1:  # ends, or runs into the limit
                await asyncio.sleep(0.01)
            assert await store.head() < 2_000

    run(work)


def test_closing_the_client_fails_what_is_under_way(server: Any) -> None:
    async def work() -> None:
        store = aio.Client(server.address)
        waiting = asyncio.ensure_future(store.head(at_least=9))
        await asyncio.sleep(0.1)
        await store.close()
        with pytest.raises(evershard.CallCancelledError):
            await waiting
        with pytest.raises(evershard.EvershardError):
            await store.head()

    run(work)
