"""What is decided without a connection: when to try again, what a read asks for next, what of a pipeline is sent again."""

from __future__ import annotations

import inspect

import pytest

import evershard
from evershard import AggregateId, Append, Event, Query, _wire, aio
from evershard._pipeline import Lanes, Order, Pipeline
from evershard._reading import ReadCursor
from evershard._retry import Backoff, not_done, worth_retrying
from evershard.v1 import event_pb2, groups_pb2, service_pb2, store_pb2


def test_only_what_may_go_away_is_tried_again() -> None:
    again = {
        evershard.UnavailableError,
        evershard.OverloadedError,
        evershard.FencedError,
        evershard.WrongShardError,
    }
    for name in evershard.__all__:
        kind = getattr(evershard, name)
        if isinstance(kind, type) and issubclass(kind, evershard.EvershardError):
            assert worth_retrying(kind("x")) == worth_retrying(kind("x"), write=True) == (kind in again), name
    assert worth_retrying(evershard.TimeoutError("x", told_by_server=True), write=True)
    assert not worth_retrying(evershard.TimeoutError("x", told_by_server=True))


def test_what_must_not_be_done_twice_is_tried_again_where_it_was_not_done() -> None:
    no_connection = evershard.UnavailableError("failed to connect to all addresses; last error: refused")
    assert not_done(no_connection, several=False)
    assert not_done(evershard.OverloadedError("busy", told_by_server=True), several=False)
    assert not_done(evershard.UnavailableError("it is stopping", told_by_server=True), several=True)
    assert not not_done(
        evershard.UnavailableError("the disk is full", told_by_server=True),
        several=False,
    )
    assert not not_done(evershard.UnavailableError("Socket closed"), several=True)
    assert not not_done(evershard.TimeoutError("x", told_by_server=True), several=True)
    assert not not_done(evershard.NotFoundError("x", told_by_server=True), several=True)


def test_backoff_grows_to_half_a_second_and_waits_as_long_as_it_is_told() -> None:
    backoff = Backoff()
    waits = [backoff.next() for _ in range(20)]
    assert 0.005 <= waits[0] <= 0.010 and all(0.25 <= wait <= 0.5 for wait in waits[8:])
    backoff.reset()
    assert backoff.next() <= 0.010
    assert backoff.next(evershard.OverloadedError("busy", retry_after=2.0)) >= 2.0


def page(*positions: int, watermark: int = 100, complete: bool = False) -> store_pb2.Page:
    events = [event_pb2.RecordedEvent(position=at, id=b"\0" * 16, seq_nr=at, type="T") for at in positions]
    return store_pb2.Page(events=events, watermark=watermark, complete=complete)


def cursor(source: Query | AggregateId, **bounds: object) -> ReadCursor:
    return ReadCursor(source, bounds)  # type: ignore[arg-type]


def test_a_read_that_counts_events_of_each_aggregate_goes_on_counting() -> None:
    read = cursor(Query.all(), after=2, per_aggregate=1)
    assert read.request(0).options == store_pb2.ReadOptions(after=2, per_aggregate=1)
    read.took(page(3, 4, watermark=50))
    assert read.request(0).options == store_pb2.ReadOptions(after=4, up_to=50, per_aggregate=1, per_aggregate_from=2)
    back = cursor(Query.all(), backwards=True, per_aggregate=1)
    back.took(page(40, watermark=50))
    options = back.request(0).options
    assert (options.before, options.per_aggregate_from, options.up_to) == (40, 51, 50)
    assert cursor(Query.all(), before=9, backwards=True, per_aggregate=1).request(0).options.before == 9
    with pytest.raises(TypeError, match="a read has no per_agregate"):
        cursor(Query.all(), per_agregate=1)
    with pytest.raises(TypeError, match="a read has no per_aggregate"):
        cursor(AggregateId.of("order-1"), per_aggregate=1)


def test_a_read_goes_on_behind_its_last_event_and_sees_no_later_moment() -> None:
    read = cursor(Query.all(), after=0, limit=5, at_least=7)
    assert read.request(250).at_least == service_pb2.AtLeast(position=7, timeout_ms=250)
    read.took(page(3, 4, watermark=50))
    assert (
        read.request(250).options == store_pb2.ReadOptions(after=4, up_to=50, limit=3)
        and read.request(250).at_least.position == 50
    )
    read.took(page(9, watermark=60))
    assert (
        read.watermark == 50
        and read.request(0).options == store_pb2.ReadOptions(after=9, up_to=50, limit=2)
        and not read.complete
    )
    read.took(page(10, 11))
    assert read.complete


def test_where_a_group_begins_is_not_what_was_seen() -> None:
    assert _wire.seen_in(groups_pb2.GroupInfo(position=10**9, read_to=10**9, head=7)) == 7
    assert _wire.seen_in(store_pb2.AppendResponse(first_position=3, last_position=4, watermark=2)) == 4
    assert _wire.seen_in(service_pb2.HeadResponse(watermark=5)) == 5
    assert _wire.seen_in(event_pb2.RecordedEvent(position=6)) == 6
    assert _wire.seen_in(service_pb2.FlushResponse()) == 0


def test_a_read_backwards_goes_on_in_front_of_its_last_event() -> None:
    read = cursor(Query.all(), before=90, backwards=True)
    read.took(page(80, 70))
    assert read.request(0).options == store_pb2.ReadOptions(
        before=70, up_to=100, direction=store_pb2.DIRECTION_BACKWARDS
    )


def test_an_aggregate_is_read_by_number() -> None:
    forwards, backwards = cursor(AggregateId("a", "1"), from_seq_nr=2), cursor(AggregateId("a", "1"), backwards=True)
    assert getattr(forwards.request(0).stream, "from") == 2
    forwards.took(page(2, 3))
    backwards.took(page(3, 2))
    assert getattr(forwards.request(0).stream, "from") == 4 and getattr(backwards.request(0).stream, "from") == 1
    backwards.took(page(1))
    assert backwards.complete and not forwards.complete


def appended(position: int) -> service_pb2.AppendOutcome:
    return service_pb2.AppendOutcome(appended=store_pb2.AppendResponse(first_position=position, last_position=position))


def refused(code: evershard.ErrorCode, retry_after_ms: int = 0) -> service_pb2.AppendOutcome:
    return service_pb2.AppendOutcome(refused=store_pb2.Error(code=int(code), message="no", retry_after_ms=retry_after_ms))  # type: ignore[arg-type]


def filled(count: int, timeout: float | None = 30.0) -> tuple[Pipeline, Order, list[Append]]:
    order = Order(256)
    pipeline, appends = Pipeline(timeout, order), [Append(Event("T")) for _ in range(count)]
    for append in appends:
        pipeline.add(append, 0.0)
    return pipeline, order, appends


def test_a_broken_stream_sends_what_was_not_answered_again_in_order_and_with_the_same_bytes() -> None:
    pipeline, order, appends = filled(4)
    first = [pipeline.send_next(1.0) for _ in range(3)]
    pipeline.answered(appended(1), 1.0)
    pipeline.broke(evershard.UnavailableError("Socket closed"))
    again = [pipeline.send_next(2.0) for _ in range(3)]
    assert [m.request_id for m in again] == [append.request_id.bytes for append in appends[1:]]
    assert [m.SerializeToString() for m in again[:2]] == [m.SerializeToString() for m in first[1:]]
    for at in (2, 3, 4):
        pipeline.answered(appended(at), 2.0)
    outcomes = [order.take() for _ in range(5)]
    assert (
        [o.appended.first_position for o in outcomes[:4] if o and o.appended] == [1, 2, 3, 4]
        and outcomes[4] is None
        and order.is_empty
    )


def test_what_met_a_full_queue_is_sent_again_when_the_server_said_and_keeps_its_place() -> None:
    pipeline, order, appends = filled(2)
    pipeline.send_next(1.0), pipeline.send_next(1.0)
    pipeline.answered(refused(evershard.ErrorCode.OVERLOADED, 500), 1.0)
    pipeline.answered(appended(1), 1.0)
    assert order.take() is None and (pipeline.when_next() or 0) >= 1.5
    assert pipeline.send_next(2.0).request_id == appends[0].request_id.bytes
    pipeline.answered(appended(2), 2.0)
    assert [outcome.append for outcome in (order.take(), order.take()) if outcome] == appends


def test_a_refusal_is_an_outcome_and_ends_nothing() -> None:
    pipeline, order, _ = filled(2)
    pipeline.send_next(1.0), pipeline.send_next(1.0)
    pipeline.answered(refused(evershard.ErrorCode.VERSION_CONFLICT), 1.0)
    pipeline.answered(appended(1), 1.0)
    first, second = order.take(), order.take()
    assert first and isinstance(first.error, evershard.VersionConflictError) and second and second.appended


def test_too_late_what_was_sent_is_unknown_and_what_was_not_has_failed() -> None:
    pipeline, order, appends = filled(2, timeout=10.0)
    pipeline.send_next(1.0)
    pipeline.answered(refused(evershard.ErrorCode.OVERLOADED), 10.999)
    pipeline.send_next(11.0)
    pipeline.answered(refused(evershard.ErrorCode.OVERLOADED), 11.1)
    assert not pipeline.is_late(20.0) and pipeline.is_late(22.0)
    pipeline.give_up(evershard.UnavailableError("gone"))
    first, second = order.take(), order.take()
    assert first and second and first.append == appends[0]
    assert (
        isinstance(first.error, (evershard.OverloadedError, evershard.OutcomeUnknownError)) and second.error is not None
    )


def test_what_was_sent_and_never_answered_is_unknown() -> None:
    pipeline, order, appends = filled(2)
    pipeline.send_next(1.0)
    pipeline.give_up(evershard.UnavailableError("gone"))
    first, second = order.take(), order.take()
    assert first and isinstance(first.error, evershard.OutcomeUnknownError) and first.error.append == appends[0]
    assert second and type(second.error) is evershard.UnavailableError


def test_a_window_has_room_for_so_many_and_for_so_many_bytes() -> None:
    order = Order(2)
    pipeline = Pipeline(None, order)
    pipeline.add(Append(Event("T")), 0.0)
    assert order.has_room
    pipeline.add(Append(Event("T")), 0.0)
    assert not order.has_room
    large = Order(100)
    Pipeline(None, large).add(Append(Event("T", payload=bytes(17 << 20))), 0.0)
    assert not large.has_room


def test_appends_of_a_shard_change_their_lane_when_all_before_them_are_answered() -> None:
    order, lanes = Order(10), Lanes()
    any_door, one, two = (Pipeline(None, order) for _ in range(3))

    def send(pipeline: Pipeline, shard: int | None, lane: int) -> None:
        lanes.goes(shard, lane, pipeline.add(Append(Event("T")), 0.0))
        pipeline.send_next(0.0)

    assert lanes.lane(None, 0) == 0
    send(any_door, None, 0)
    assert lanes.lane(5, 1) is None, "what lies where is known now: one of them may be of this shard"
    any_door.answered(appended(1), 0.0)
    assert lanes.lane(5, 1) == 1
    send(one, 5, 1)
    assert lanes.lane(6, 2) == 2, "another shard does not wait"
    send(two, 6, 2)
    assert (
        lanes.lane(5, 2) is None and lanes.lane(5, 1) == 1 and lanes.lane(5, 0) == 1
    ), "it moves: behind what is under way"
    assert order.take() is not None and order.take() is None, "in the order given, over all lanes"
    two.answered(appended(3), 0.0)
    assert order.take() is None
    one.answered(appended(2), 0.0)
    assert lanes.lane(5, 2) == 2
    first, second = order.take(), order.take()
    assert (
        first
        and second
        and first.appended
        and first.appended.first_position == 2
        and second.appended
        and second.appended.first_position == 3
        and order.is_empty
    )


def test_the_blocking_client_has_each_call_of_the_asyncio_client() -> None:
    def calls(of: type) -> set[str]:
        return {name for name in dir(of) if not name.startswith("_")}

    assert calls(evershard.Client) == calls(aio.Client)
    assert calls(evershard.GroupWorker) == calls(aio.GroupWorker)
    words = inspect.signature(evershard.Client.append).parameters
    assert list(words) == list(inspect.signature(aio.Client.append).parameters)
