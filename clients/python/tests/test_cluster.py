"""Three nodes of one store, killed in the middle: each acknowledged append is there once, nothing is skipped or doubled, everybody reads his own writes."""

from __future__ import annotations

import threading
import time
from typing import Any

import evershard
from evershard import Append, Client, Event, Query


def test_nodes_are_killed_under_a_client(cluster: Any) -> None:
    acknowledged: list[tuple[Append, evershard.Appended]] = []
    followed: list[int] = []
    errors: list[BaseException] = []
    done = threading.Event()

    with (
        Client(cluster.addresses, timeout=120, unavailable_timeout=120) as store,
        Client(list(reversed(cluster.addresses)), timeout=120, unavailable_timeout=120) as other,
    ):
        subscription = store.subscribe(Query.all(), after=0, heartbeat=0.5)

        def guarded(work: Any) -> Any:
            def run() -> None:
                try:
                    work()
                except BaseException as error:
                    errors.append(error)

            return run

        def singly() -> None:
            n = 0
            while not done.is_set():
                append = Append(
                    Event("Placed", f"single-{n % 8}", {"n": n}),
                    expect={f"single-{n % 8}": n // 8},
                )
                acknowledged.append((append, store.append(append)))
                assert sum(1 for _ in store.read_aggregate(f"single-{n % 8}")) == n // 8 + 1, "one's own writes"
                n += 1

        def many() -> None:
            def source() -> Any:
                n = 0
                while not done.is_set():
                    yield Append(Event("Placed", f"many-{n}"), expect={f"many-{n}": "none"})
                    n += 1

            for outcome in store.append_many(source(), in_flight=16):
                acknowledged.append((outcome.append, outcome.result()))

        def follow() -> None:
            for event in subscription.events():
                followed.append(event.position)

        threads = [threading.Thread(target=guarded(work)) for work in (singly, many)]
        follower = threading.Thread(target=guarded(follow))
        for thread in (*threads, follower):
            thread.start()

        def wait_for_more(more: int) -> None:
            enough, until = len(acknowledged) + more, time.monotonic() + 90
            while len(acknowledged) < enough and time.monotonic() < until and not errors:
                time.sleep(0.02)

        for node in (0, 1):
            wait_for_more(30)
            cluster.kill(node)
        wait_for_more(30)
        done.set()
        for thread in threads:
            thread.join(120)
        assert errors == [] and len(acknowledged) >= 90

        other.see(store.seen)
        stored = {event.id: event.position for event in other.read()}
        head = store.head()
        assert sorted(stored.values()) == list(range(1, head + 1)) and len(stored) == len(acknowledged)
        for append, answer in acknowledged:
            assert stored[append.events[0].id] == answer.first_position
        until = time.monotonic() + 90
        while (not followed or followed[-1] < head) and time.monotonic() < until:
            time.sleep(0.02)
        subscription.close()
        follower.join(30)
        assert followed == list(range(1, head + 1))


def test_appends_go_to_the_nodes_of_their_shards(cluster: Any) -> None:
    with Client(cluster.addresses[0], timeout=60) as store:
        told = store._aio._doors
        until = time.monotonic() + 60
        homes: set[str] = set()
        while len(homes) < 3 and time.monotonic() < until:
            for n in range(24):
                append = Append(Event("Placed", f"order-{n}"))
                store.append(append)

                async def home(append: Append = append) -> str | None:
                    door = told.home(append)
                    return None if door is None else door.address

                where = store._portal.run(home())
                if where is not None:
                    homes.add(where)
        assert homes == set(cluster.addresses), "each node's own door is open"
