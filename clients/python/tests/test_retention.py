"""What is removed for good, against a real server."""

from __future__ import annotations

import asyncio
import os
import pathlib
from datetime import timedelta
from typing import Any

import pytest

import evershard
from conftest import IS_DOOR
from evershard import Event, EventState, Query, RetentionPolicy, Snapshot, aio

pytestmark = pytest.mark.skipif(IS_DOOR, reason="needs evershard serve")


def test_an_aggregate_is_truncated_and_removed(store: evershard.Client) -> None:
    for n in range(4):
        store.append([Event("Placed", "order-1", {"n": n}), Event("Placed", "order-2", {"n": n})])
    with pytest.raises(evershard.InvalidArgumentError, match="no snapshot stands"):
        store.truncate_aggregate("order-1", 3)
    store.put_snapshot(Snapshot("order-1", {"n": 2}, 2))
    assert store.truncate_aggregate("order-1", 3, dry_run=True).events == 2
    assert {event.state for event in store.read_aggregate("order-1")} == {EventState.LIVE}
    done = store.truncate_aggregate("order-1", 3, by="ann", reason="old")
    assert (done.events, done.covered_by, done.version, done.before) == (
        2,
        2,
        4,
        3,
    ) and done.operation
    assert [event.state for event in store.read_aggregate("order-1")] == [EventState.REMOVED] * 2 + [
        EventState.LIVE
    ] * 2
    assert store.truncate_aggregate("order-1", 4, uncovered=True).events == 1
    told: list[evershard.Progress] = []
    assert store.remove_aggregate("order-2", reason="asked for", progress=told.append).events == 4
    with pytest.raises(evershard.NotFoundError):
        store.aggregate("order-2")
    with pytest.raises(evershard.NotFoundError):
        store.remove_aggregate("order-9")
    log = store.retention_log()
    assert [entry.what for entry in log] == [
        "$TruncationOrdered",
        "$TruncationDone",
    ] * 2 + ["$RemovalOrdered", "$RemovalDone"]
    assert (log[0].content["by"], log[0].content["reason"], log[0].number) == (
        "ann",
        "old",
        1,
    ) and log[0].at.year > 2000
    assert [entry.number for entry in store.retention_log(after=4)] == [5, 6]
    assert [entry.number for entry in store.retention_log(after=1, limit=2)] == [2, 3]


def test_policies_are_kept_and_applied(store: evershard.Client) -> None:
    store.append([Event("Seen", "page-1"), Event("Kept", "page-1")])
    rule = RetentionPolicy("seen", "events", "Seen", timedelta(days=90), uncovered=True)
    store.set_retention_policy(rule, by="ann")
    store.set_retention_policy(RetentionPolicy("carts", "remove", "cart", timedelta(hours=1)))
    assert rule in store.retention_policies() and len(store.retention_policies()) == 2
    assert store.apply_retention().events == 0
    store.set_retention_policy(RetentionPolicy("seen", "events", "Seen", timedelta(seconds=1), uncovered=True))
    while store.apply_retention(dry_run=True).events == 0:
        pass
    assert store.apply_retention(reason="nightly").events == 1
    assert [event.state for event in store.read_aggregate("page-1")] == [
        EventState.REMOVED,
        EventState.LIVE,
    ]
    store.drop_retention_policy("seen")
    with pytest.raises(evershard.NotFoundError):
        store.drop_retention_policy("seen")
    for bad in (
        RetentionPolicy("x", "shred", "T", timedelta(days=1)),
        RetentionPolicy("x", "events", "T", timedelta(0)),
        RetentionPolicy("", "events", "T", timedelta(days=1)),
    ):
        with pytest.raises(evershard.InvalidArgumentError):
            store.set_retention_policy(bad)


def test_a_subject_is_erased_with_its_snapshots(make_server: Any, tmp_path: pathlib.Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    server = make_server(extra=("--keys", str(keys)))
    with evershard.Client(server.address) as store:
        store.append(
            Event("Named", "person-1", {"name": "Ada"}, subject="ada"),
            snapshots=Snapshot("person-1", {"name": "Ada"}, subject="ada"),
        )
        found = store.snapshot("person-1")
        assert found is not None and found.subject == "ada" and found.json() == {"name": "Ada"}
        assert next(store.read_aggregate("person-1")).subject == "ada"
        assert store.erase_subject("ada", dry_run=True).events == 1
        done = store.erase_subject("ada", by="dpo", reason="article 17")
        assert (done.events, done.operation != "") == (1, True)
        event = next(store.read_aggregate("person-1"))
        assert (event.state, event.payload, event.subject) == (
            EventState.ERASED,
            b"",
            "",
        )
        assert store.snapshot("person-1") is None
        with pytest.raises(evershard.NotFoundError):
            store.erase_subject("ada")
        assert store.retention_log()[0].what == "$ErasureOrdered" and "ada" not in str(store.retention_log())
    assert os.listdir(keys)


def test_a_removal_whose_end_was_not_heard_is_unknown(make_server: Any) -> None:
    server = make_server()

    async def work() -> None:
        async with aio.Client(server.address) as store:
            await store.append([Event("T", "order-1", "x" * 20_000) for _ in range(100)])
            removing = asyncio.create_task(store.remove_aggregate("order-1", bytes_per_second=20_000))
            while not [event async for event in store.read(Query().types("$RemovalOrdered"))]:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(server.kill)
            with pytest.raises(evershard.OutcomeUnknownError, match="the same again tells"):
                await removing
            await asyncio.to_thread(server.start)
            await store.remove_aggregate("order-1")
            assert [entry.what for entry in await store.retention_log()] == [
                "$RemovalOrdered",
                "$RemovalDone",
            ]

    asyncio.run(work())
