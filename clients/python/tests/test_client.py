"""Every call against a real server, through the blocking client (which is the asyncio client underneath)."""

from __future__ import annotations

import datetime
import pathlib
import threading
import time
import uuid
from typing import Any

import pytest
from conftest import IS_DOOR

import evershard
from evershard import (
    AggregateId,
    Append,
    AppendCondition,
    Client,
    CommandRecord,
    Event,
    FeedKind,
    Query,
    Snapshot,
)


def placed(aggregate: str | None, number: int = 0, **words: Any) -> Event:
    return Event("Placed", aggregate, {"number": number}, ["customer:7"], **words)


def test_an_append_comes_back_as_it_was_given(store: Client) -> None:
    moment = datetime.datetime(2026, 1, 31, 12, 0, 0, 123456, datetime.timezone.utc)
    event = Event(
        "Placed",
        "order-1",
        {"öffnet": True},
        ["b", "a"],
        also=["cart-🛒"],
        metadata={"by": "me"},
        occurred_at=moment,
    )
    done = store.append(
        [event, Event("Audited", payload=b"\x00\xff", tags=["x"], metadata=b"")],
        expect={"order-1": "none"},
    )
    assert (done.first_position, done.last_position, done.versions, done.duplicate) == (
        1,
        2,
        {AggregateId("order", "1"): 1},
        False,
    )
    first, second = store.read(at_least=done.watermark)
    assert (
        first.position,
        first.id,
        str(first.aggregate),
        first.seq_nr,
        first.type,
        first.tags,
    ) == (1, event.id, "order-1", 1, "Placed", ("a", "b"))
    assert (
        first.json() == {"öffnet": True}
        and first.payload_format == evershard.PayloadFormat.JSON
        and first.metadata == b'{"by":"me"}'
        and second.metadata == b""
    )
    assert (
        first.also == (AggregateId("cart", "🛒"),)
        and first.occurred_at == moment
        and (first.append_index, first.append_events) == (0, 2)
    )
    assert (
        second.aggregate,
        second.seq_nr,
        second.payload,
        second.payload_format,
        second.append_index,
    ) == (None, 0, b"\x00\xff", 0, 1)
    assert second.state is evershard.EventState.LIVE and abs(second.occurred_at.timestamp() - time.time()) < 60
    assert store.event_at(2) == second and list(store.read_aggregate("order-1")) == [first] == list(
        store.read(Query().concerning("cart-🛒"))
    )


def test_the_same_append_again_is_stored_once(store: Client) -> None:
    append = Append(placed("order-1"), expect={"order-1": "none"})
    first, again = store.append(append), store.append(append)
    assert (
        not first.duplicate
        and again.duplicate
        and (first.first_position, first.versions) == (again.first_position, again.versions)
    )
    assert store.head() == 1
    with pytest.raises(evershard.DuplicateEventError) as caught:
        store.append(Append([*append.events, placed("order-2")]))
    assert caught.value.position == 1


def test_conflicts_say_what_decided_them(store: Client) -> None:
    store.append([placed("order-1", n) for n in range(3)])
    with pytest.raises(evershard.VersionConflictError) as version:
        store.append(placed("order-1"), expect={"order-1": 1})
    assert (
        version.value.aggregate,
        str(version.value.expected),
        version.value.actual,
    ) == (AggregateId("order", "1"), "1", 3)
    mine = Query().tags("customer:7")
    with pytest.raises(evershard.ConditionFailedError) as condition:
        store.append(
            placed("order-2"),
            fail_if=[
                AppendCondition(Query().types("Blocked")),
                AppendCondition(mine, 1),
            ],
            conflicts_max=10,
        )
    assert (condition.value.condition, condition.value.position) == (1, 2)
    assert [event.position for event in condition.value.conflicts] == [
        2,
        3,
    ] and condition.value.conflicts[
        0
    ].json() == {"number": 1}
    with pytest.raises(evershard.ConflictError):
        store.append(placed("order-2"), fail_if=mine)
    assert (
        store.append(
            placed("order-2"),
            fail_if=AppendCondition(mine, 3),
            expect={"order-2": "none", "order-1": "exists", "order-9": "any"},
        ).last_position
        == 4
    )


def test_what_is_wrong_is_refused_and_not_tried_again(store: Client) -> None:
    began = time.monotonic()
    with pytest.raises(evershard.InvalidArgumentError):
        store.append([])
    with pytest.raises(evershard.InvalidArgumentError):
        store.append(Event(""))
    with pytest.raises(evershard.InvalidArgumentError):
        store.append(Event("T", payload=b"", payload_format=-1))
    with pytest.raises(evershard.InvalidQueryError):
        list(store.read(Query()))
    with pytest.raises(evershard.InvalidQueryError):
        next(store.subscribe(Query()))
    with pytest.raises(evershard.TooLargeError):
        store.append(Event("T", payload=bytes(9 << 20)))
    with pytest.raises(evershard.TooLargeError):
        store.append(Event("T", payload=bytes(21 << 20)))  # more than a message may have
    with pytest.raises(evershard.NotFoundError):
        store.event_at(9)
    with pytest.raises(evershard.NotFoundError):
        store.aggregate("order-9")
    with pytest.raises(evershard.InvalidArgumentError):
        store.read(after=-1)
    assert time.monotonic() - began < 60 and store.head() == 0  # one that is tried again takes so long


def test_ten_thousand_events_are_read_in_any_direction(store: Client) -> None:
    for outcome in store.append_many(Append([placed(f"order-{batch}", n) for n in range(500)]) for batch in range(20)):
        outcome.result()
    events = store.read()
    assert events.watermark is None
    positions = [event.position for event in events]
    assert positions == list(range(1, 10_001)) and events.watermark == 10_000
    assert [event.position for event in store.read(backwards=True, limit=1_500)] == list(range(10_000, 8_500, -1))
    assert [event.position for event in store.read(after=10, before=21, limit=5)] == [
        11,
        12,
        13,
        14,
        15,
    ]
    assert [event.position for event in store.read(up_to=3)] == [1, 2, 3] and list(store.read(limit=0)) == []
    assert [event.seq_nr for event in store.read_aggregate("order-3", from_seq_nr=499)] == [499, 500]
    assert [event.seq_nr for event in store.read_aggregate("order-3", backwards=True, limit=2)] == [500, 499]
    assert (
        list(store.read_aggregate("order-none")) == []
        and len(list(store.read(Query().concerning("order-3").types("Placed")))) == 500
    )


def test_events_of_a_mebibyte(store: Client) -> None:
    payloads = [bytes([n]) * (1 << 20) for n in range(5)]
    for payload in payloads:
        store.append(Event("Large", "file-1", payload))
    assert [event.payload for event in store.read_aggregate("file-1")] == payloads


def test_a_read_can_be_left(store: Client) -> None:
    store.append([placed("order-1", n) for n in range(5_000)])
    with store.read() as events:
        assert next(events).position == 1
    events.close()
    assert events.next_page() == () and store.head() == 5_000


def test_append_many_answers_each_in_order(store: Client) -> None:
    appends = [Append(placed(f"order-{n}"), expect={f"order-{n}": "none"}) for n in range(1_000)]
    appends[10] = Append(placed("order-3"), expect={"order-3": "none"})
    appends[20] = Append([])
    appends[30] = appends[5]
    outcomes = list(store.append_many(iter(appends), in_flight=64))
    assert [outcome.append for outcome in outcomes] == appends
    assert isinstance(outcomes[10].error, evershard.VersionConflictError) and isinstance(
        outcomes[20].error, evershard.InvalidArgumentError
    )
    with pytest.raises(evershard.VersionConflictError):
        outcomes[10].result()
    assert (
        outcomes[30].result().duplicate and outcomes[30].result().first_position == outcomes[5].result().first_position
    )
    stored = [outcome.appended.first_position for n, outcome in enumerate(outcomes) if outcome.appended and n != 30]
    assert stored == list(range(1, 998)) and store.head() == 997 and list(store.append_many([])) == []


def test_append_many_answers_while_its_source_waits(store: Client) -> None:
    answered = threading.Event()

    def source() -> Any:
        yield Append(placed("order-1"))
        assert answered.wait(60)
        yield Append(placed("order-1"))

    outcomes = store.append_many(source())
    assert next(outcomes).result().first_position == 1
    answered.set()
    assert next(outcomes).result().first_position == 2 and list(outcomes) == []


def test_append_many_takes_no_more_than_it_has_room_for(store: Client) -> None:
    taken = 0

    def source() -> Any:
        nonlocal taken
        for n in range(100):
            taken += 1
            yield Append(placed(f"order-{n}"))

    outcomes = store.append_many(source(), in_flight=5)
    next(outcomes)
    time.sleep(0.3)
    assert taken <= 5 + 5 + 1
    outcomes.close()
    assert list(outcomes) == [] and taken < 100


def test_append_many_can_be_left_while_its_source_waits(store: Client) -> None:
    never = threading.Event()

    def source() -> Any:
        yield Append(placed("order-1"))
        never.wait(60)

    with store.append_many(source()) as outcomes:
        assert next(outcomes).result().first_position == 1
    assert store.head() == 1 and not never.is_set()
    never.set()


def test_append_many_raises_what_its_source_raised(store: Client) -> None:
    def source() -> Any:
        yield Append(placed("order-1"))
        raise KeyError("mine")

    outcomes = store.append_many(source())
    assert next(outcomes).result().first_position == 1
    with pytest.raises(KeyError, match="mine"):
        next(outcomes)


def test_a_subscription_gives_what_was_and_what_comes(store: Client) -> None:
    store.append([placed("order-1", n) for n in range(2_500)])
    with store.subscribe(after=0, heartbeat=0.2) as subscription:
        positions: list[int] = []
        for item in subscription:
            positions += [event.position for event in item.events]
            if item.kind is FeedKind.CAUGHT_UP:
                break
        assert positions == list(range(1, 2_501)) and subscription.watermark == 2_500
        store.append(placed("order-2"))
        kinds = set()
        for item in subscription:
            kinds.add(item.kind)
            positions += [event.position for event in item.events]
            if item.kind is FeedKind.HEARTBEAT and len(positions) == 2_501:
                break
        assert (
            positions[-1] == 2_501
            and FeedKind.EVENTS in kinds
            and subscription.watermark == 2_501
            and subscription.reconnects == 0
        )


def test_a_subscription_from_now_of_a_query_and_its_events_alone(store: Client) -> None:
    store.append(placed("order-1"))
    subscription = store.subscribe(Query().types("Paid"), heartbeat=0.1)
    next(subscription)
    store.append([placed("order-1"), Event("Paid", "order-1")])
    assert next(subscription.events()).position == 3
    subscription.close()
    assert list(subscription) == []


def test_a_subscription_is_ended_from_another_thread(store: Client) -> None:
    subscription = store.subscribe(heartbeat=None)
    assert next(subscription).kind is FeedKind.CAUGHT_UP
    threading.Timer(0.2, subscription.close).start()
    began = time.monotonic()
    assert list(subscription) == [] and time.monotonic() - began < 30


def test_closing_the_client_ends_what_waits(server: Any) -> None:
    client = Client(server.address)
    subscription = client.subscribe(heartbeat=None)
    next(subscription)
    threading.Timer(0.2, client.close).start()
    assert list(subscription) == []
    with pytest.raises(evershard.EvershardError):
        client.head()


def test_a_slow_consumer_misses_nothing(store: Client) -> None:
    with store.subscribe(after=0, page_events_max=10, heartbeat=0.2) as subscription:
        positions: list[int] = []
        for _ in range(5):
            store.append([placed("order-1", n) for n in range(200)])
        while len(positions) < 1_000:
            positions += [event.position for event in next(subscription).events]
            time.sleep(0.005)
    assert positions == list(range(1, 1_001)) and subscription.reconnects == 0


def test_waiting_for_a_position(store: Client) -> None:
    began = time.monotonic()
    with pytest.raises(evershard.TimeoutError, match=r"\b2$") as caught:
        store.head(at_least=2, timeout=0.3)
    assert 0.25 < time.monotonic() - began < 30 and not isinstance(caught.value, evershard.OutcomeUnknownError)
    with pytest.raises(evershard.TimeoutError):
        list(store.read(at_least=2, timeout=0.2))
    threading.Timer(0.2, store.append, ([placed("order-1"), placed("order-1")],)).start()
    assert store.head(at_least=2) == 2 and len(list(store.read(at_least=2))) == 2


def test_the_position_at_a_time(store: Client) -> None:
    moment = datetime.datetime(2026, 1, 31, 12, 0, 0, 0, datetime.timezone.utc)
    hour = datetime.timedelta(hours=1)
    store.append(placed("order-1", occurred_at=moment))
    store.append([placed("order-2", occurred_at=moment + hour), placed("order-3", occurred_at=moment + hour)])
    assert store.position_at(moment - hour) == 0
    assert store.position_at(moment) == 1
    assert store.position_at(moment + hour, at_least=3) == 3
    assert store.position_at(datetime.datetime(9999, 1, 1, tzinfo=datetime.timezone.utc)) == 3
    with pytest.raises(ValueError, match="time zone"):
        store.position_at(datetime.datetime(2026, 1, 31))


def test_the_directory_comes_page_by_page(store: Client) -> None:
    for outcome in store.append_many(Append(placed(f"{kind}-{n:02}")) for kind in ("a", "b") for n in range(25)):
        outcome.result()
    assert [str(info.aggregate) for info in store.aggregates("b", page=10)] == [f"b-{n:02}" for n in range(25)]
    assert len(list(store.aggregates(page=7))) == 50 and str(next(store.aggregates(after="a-24")).aggregate) == "b-00"
    info = store.aggregate("a-03")
    assert (info.version, info.last_position, str(info.aggregate)) == (1, 4, "a-03")


def test_snapshots_alone_and_with_an_append(store: Client) -> None:
    assert store.snapshot("order-1") is None and store.snapshots("order-1") == []
    store.append(
        [placed("order-1"), placed("order-1")],
        snapshots=Snapshot("order-1", {"open": True}, schema_revision=2, keep=3),
    )
    store.append(placed("order-1"))
    store.put_snapshot(
        Snapshot(
            "order-1",
            b"\0",
            3,
            payload_format=1_000,
            keep=3,
            ttl=datetime.timedelta(hours=1),
        )
    )
    latest, earlier = store.snapshot("order-1"), store.snapshot("order-1", at_or_before=2)
    assert latest and (
        latest.version,
        latest.payload,
        latest.payload_format,
        latest.latest,
    ) == (3, b"\0", 1_000, True)
    assert earlier and (
        earlier.version,
        earlier.json(),
        earlier.schema_revision,
        earlier.position,
    ) == (2, {"open": True}, 2, 2)
    assert earlier == store.snapshot("order-1", up_to=2) and abs(earlier.taken_at.timestamp() - time.time()) < 60
    assert {one.version for one in store.snapshots("order-1")} == {2, 3}
    with pytest.raises(evershard.NotFoundError):
        store.put_snapshot(Snapshot("order-9", b"", 1))
    with pytest.raises(evershard.InvalidArgumentError):
        store.snapshot("order-1", at_or_before=1, up_to=1)


def test_an_aggregates_state(make_server: Any) -> None:
    if IS_DOOR:
        pytest.skip("the door's test server has no types")
    with Client(make_server().address) as store:
        store.append(placed("order-1"), snapshots=Snapshot("order-1", {"open": True}))
        store.append(placed("order-1", 1))
        state, earlier = store.state("order-1"), store.state("order-1", version=1)
        assert (
            state["aggregate"],
            state["version"],
            state["state"],
            state["state_version"],
            state["events_after"],
        ) == ("order-1", 2, {"open": True}, 1, 1)
        assert (
            state["events"][0]["payload"] == {"number": 1}
            and not state["exact"]
            and earlier["exact"]
            and earlier["events"] == []
        )
        with pytest.raises(evershard.NotFoundError):
            store.state("nobody-1")


def test_a_commands_reply_is_stored(store: Client) -> None:
    done = store.append(
        placed("order-1"),
        command=CommandRecord(AggregateId("order", "1"), b"txn-1", b"reply"),
    )
    assert done.last_position == 1


def test_administration(make_server: Any, tmp_path: pathlib.Path) -> None:
    with Client(make_server().address) as store:
        administer(store, tmp_path)


def administer(store: Client, tmp_path: pathlib.Path) -> None:
    store.append([placed("order-1", n) for n in range(100)])
    told: list[evershard.Progress] = []
    stats = store.stats()
    assert stats.watermark == 100 and stats.shards >= 1 and stats.store_id and stats.details and stats.created_at.tzinfo
    store.flush()
    report = store.verify(told.append)
    assert (report.events, report.errors, report.findings) == (100, 0, ())
    store.vacuum(told.append)
    assert store.backup(str(tmp_path / "copy"), told.append) == 100
    assert any((tmp_path / "copy").iterdir()) and all(progress.done <= progress.total for progress in told)
    with pytest.raises(evershard.EvershardError):
        store.backup(str(tmp_path / "copy"))
    with pytest.raises(evershard.InvalidArgumentError):
        store.backup("")
    assert isinstance(store.types(), bytes)


def test_tokens_and_scopes(make_server: Any) -> None:
    reader, writer = "r" * 20, "w" * 20
    server = make_server(tokens=f"anna read {reader}\nbert read,append {writer}\n")
    for token in (None, "x" * 20):
        with Client(server.address, token=token) as client:
            for call in (
                client.head,
                lambda: client.append(placed("order-1")),
                lambda: next(client.subscribe()),
                lambda: list(client.read()),
            ):
                with pytest.raises(evershard.UnauthenticatedError):
                    call()
            with pytest.raises(evershard.UnauthenticatedError):
                list(client.append_many([Append(placed("order-1"))]))
    with Client(server.address, token=writer) as client:
        client.append(placed("order-1"))
        with pytest.raises(evershard.PermissionDeniedError, match="admin"):
            client.verify()
    with Client(server.address, token=reader) as client:
        assert client.head() == 1 and client.stats().watermark == 1
        with pytest.raises(evershard.PermissionDeniedError, match="append"):
            client.append(placed("order-1"))


def test_over_a_unix_socket(make_server: Any, tmp_path: pathlib.Path) -> None:
    server = make_server(listen=f"unix:{tmp_path}/socket")
    with Client(server.address) as client:
        assert client.append(placed("order-1")).last_position == 1 and client.head() == 1


def test_from_many_threads(store: Client) -> None:
    def work(who: int) -> None:
        for n in range(20):
            store.append(placed(f"order-{who}"), expect={f"order-{who}": n})

    threads = [threading.Thread(target=work, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.head() == 160 and all(info.version == 20 for info in store.aggregates())


def test_an_event_id_of_ones_own(store: Client) -> None:
    mine = uuid.UUID("018f3c5e-7b1a-7e4e-8b1a-0242ac120002")
    store.append(Event("T", id=mine))
    assert store.event_at(1).id == mine
