"""The server killed and stopped under load, with a durable store: each acknowledged append is there once, nothing is skipped or doubled."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

import evershard
from evershard import Append, Client, Event, Query


def test_killed_under_load(make_server: Any) -> None:
    server = make_server()
    acknowledged: list[tuple[Append, evershard.Appended]] = []
    followed: list[int] = []
    errors: list[BaseException] = []
    done = threading.Event()

    with Client(server.address, timeout=120) as store:
        subscription = store.subscribe(Query.all(), after=0, heartbeat=0.2)

        def singly(who: int) -> None:
            try:
                n = 0
                while not done.is_set():
                    append = Append(
                        Event("Placed", f"single-{who}", {"n": n}),
                        expect={f"single-{who}": n},
                    )
                    acknowledged.append((append, store.append(append)))
                    n += 1
            except BaseException as error:
                errors.append(error)

        def many() -> None:
            def source() -> Any:
                n = 0
                while not done.is_set():
                    yield Append(Event("Placed", f"many-{n}"), expect={f"many-{n}": "none"})
                    n += 1

            try:
                for outcome in store.append_many(source(), in_flight=32):
                    acknowledged.append((outcome.append, outcome.result()))
            except BaseException as error:
                errors.append(error)

        def follow() -> None:
            for event in subscription.events():
                followed.append(event.position)

        writers = [threading.Thread(target=singly, args=(who,)) for who in range(3)] + [threading.Thread(target=many)]
        follower = threading.Thread(target=follow)
        for thread in (*writers, follower):
            thread.start()

        def wait_for_more(more: int) -> None:
            enough, until = len(acknowledged) + more, time.monotonic() + 60
            while len(acknowledged) < enough and time.monotonic() < until:
                time.sleep(0.05)

        for _ in range(3):
            wait_for_more(50)
            time.sleep(0.1)
            server.kill()
            server.start()
        wait_for_more(50)
        done.set()
        for thread in writers:
            thread.join(120)
        assert errors == [] and len(acknowledged) > 100

        head = store.head()
        until = time.monotonic() + 90
        while (not followed or followed[-1] < head) and time.monotonic() < until:
            time.sleep(0.02)
        reconnects = subscription.reconnects
        subscription.close()
        follower.join(30)
        assert followed == list(range(1, head + 1)) and reconnects >= 3

        stored = {event.id: event.position for event in store.read()}
        assert len(stored) == head == len(acknowledged)
        for append, answer in acknowledged:
            assert stored[append.events[0].id] == answer.first_position
        for append, answer in acknowledged[:: max(1, len(acknowledged) // 20)]:
            again = store.append(append)
            assert again.duplicate and again.first_position == answer.first_position


def test_a_server_that_hangs_is_waited_for(make_server: Any) -> None:
    server = make_server()
    with Client(server.address, timeout=120) as store:
        store.append(Event("T"))
        subscription = store.subscribe(after=0, heartbeat=0.1)
        assert next(subscription.events()).position == 1
        server.signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(evershard.OutcomeUnknownError) as caught:
                store.append(Event("T"), timeout=2)
            with pytest.raises(evershard.TimeoutError):
                store.head(timeout=0.2)
            assert time.monotonic() - began < 30
        finally:
            server.signal(signal.SIGCONT)
        assert caught.value.append is not None and store.append(caught.value.append).first_position == 2
        assert next(subscription.events()).position == 2 and store.head() == 2


def test_a_server_that_stops_and_comes_back(make_server: Any) -> None:
    server = make_server()
    with Client(server.address, timeout=120) as store:
        store.append(Event("T"))
        subscription = store.subscribe(after=0, heartbeat=0.5)
        assert next(subscription.events()).position == 1
        server.stop()
        threading.Timer(0.5, server.start).start()
        assert store.append(Event("T")).first_position == 2
        assert next(subscription.events()).position == 2 and subscription.reconnects >= 1
