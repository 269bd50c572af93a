"""What is sent again and what is not, against a server that misbehaves."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import threading
import time
import types
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import fake
import grpc
import pytest

import evershard
from evershard import Append, Client, ErrorCode, Event, aio
from evershard.v1 import groups_pb2, groups_pb2_grpc, service_pb2, store_pb2

BROKEN = grpc.StatusCode.UNAVAILABLE


@pytest.fixture
def bad() -> Iterator[fake.Fake]:
    script = fake.Fake()
    server, script.address = fake.serve(script)  # type: ignore[attr-defined]
    yield script
    server.stop(0)


def client_of(bad: fake.Fake, **words: Any) -> Client:
    return Client(bad.address, **{"timeout": 60, **words})  # type: ignore[attr-defined]


def breaks(_: Any, context: Any) -> Any:
    context.abort(BROKEN, "Socket closed")


def test_an_append_is_sent_again_with_the_same_bytes(bad: fake.Fake) -> None:
    def busy(_: Any, context: Any) -> None:
        fake.refuse(
            context,
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            ErrorCode.OVERLOADED,
            retry_after_ms=200,
        )

    def unknown(_: Any, context: Any) -> None:
        fake.refuse(context, grpc.StatusCode.DEADLINE_EXCEEDED, ErrorCode.TIMEOUT)

    bad.scripts["Append"] = [breaks, busy, unknown, lambda *_: fake.appended(7, True)]
    with client_of(bad) as client:
        began = time.monotonic()
        done = client.append(Event("T", "order-1", {"a": 1}))
    assert done.duplicate and done.first_position == 7 and time.monotonic() - began >= 0.2
    assert len(bad.seen) == 4 and len({request.SerializeToString() for request in bad.seen}) == 1
    assert len(bad.seen[0].request_id) == 16 and len(bad.seen[0].events[0].id) == 16


class Groups(groups_pb2_grpc.GroupsServicer):  # type: ignore[misc]
    """Creates groups, and says so when its answers are not lost."""

    def __init__(self, *answers: Callable[[Any], Any]) -> None:
        self.answers, self.asked = list(answers), 0

    def CreateGroup(self, request: Any, context: Any) -> Any:
        self.asked += 1
        return self.answers.pop(0)(context)


@pytest.mark.parametrize(
    ("first", "kind", "asked"),
    [
        (
            lambda context: context.abort(BROKEN, "Socket closed"),
            evershard.OutcomeUnknownError,
            1,
        ),
        (
            lambda context: fake.refuse(context, grpc.StatusCode.DEADLINE_EXCEEDED, ErrorCode.TIMEOUT),
            evershard.OutcomeUnknownError,
            1,
        ),
        (
            lambda context: fake.refuse(context, BROKEN, ErrorCode.UNAVAILABLE),
            evershard.UnavailableError,
            1,
        ),
        (
            lambda context: fake.refuse(context, grpc.StatusCode.INVALID_ARGUMENT, ErrorCode.INVALID_ARGUMENT),
            evershard.InvalidArgumentError,
            1,
        ),
        (
            lambda context: fake.refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorCode.OVERLOADED),
            None,
            2,
        ),
    ],
)
def test_a_change_whose_answer_was_lost_is_not_made_twice(
    first: Callable[[Any], Any], kind: type[evershard.EvershardError] | None, asked: int
) -> None:
    groups = Groups(first, lambda _: groups_pb2.GroupInfo(name="g"))
    server, address = fake.serve(fake.Fake(), groups=groups)
    with Client(address, timeout=20) as client:
        if kind is None:
            assert client.create_group("g").name == "g"
        else:
            with pytest.raises(evershard.EvershardError) as caught:
                client.create_group("g")
            assert type(caught.value) is kind
    assert groups.asked == asked
    server.stop(0)


def test_a_change_waits_for_a_server_that_is_not_there() -> None:
    with Client("127.0.0.1:1", timeout=0.5) as client, pytest.raises(evershard.UnavailableError):
        client.drop_group("g")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (
            grpc.StatusCode.ABORTED,
            ErrorCode.VERSION_CONFLICT,
            evershard.VersionConflictError,
        ),
        (
            grpc.StatusCode.ABORTED,
            ErrorCode.CONDITION_FAILED,
            evershard.ConditionFailedError,
        ),
        (
            grpc.StatusCode.ALREADY_EXISTS,
            ErrorCode.DUPLICATE_EVENT,
            evershard.DuplicateEventError,
        ),
        (grpc.StatusCode.NOT_FOUND, ErrorCode.NOT_FOUND, evershard.NotFoundError),
        (
            grpc.StatusCode.INVALID_ARGUMENT,
            ErrorCode.INVALID_ARGUMENT,
            evershard.InvalidArgumentError,
        ),
        (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            ErrorCode.TOO_LARGE,
            evershard.TooLargeError,
        ),
        (grpc.StatusCode.DATA_LOSS, ErrorCode.IO, evershard.IoError),
        (
            grpc.StatusCode.PERMISSION_DENIED,
            ErrorCode.PERMISSION_DENIED,
            evershard.PermissionDeniedError,
        ),
    ],
)
def test_what_the_server_decided_is_not_asked_again(
    bad: fake.Fake,
    status: grpc.StatusCode,
    code: ErrorCode,
    kind: type[evershard.EvershardError],
) -> None:
    bad.scripts["Append"] = [lambda _, context: fake.refuse(context, status, code)]
    with client_of(bad) as client, pytest.raises(kind):
        client.append(Event("T"))
    assert len(bad.seen) == 1


def test_without_an_answer_in_time_the_outcome_is_unknown_and_can_be_asked_for(
    bad: fake.Fake,
) -> None:
    bad.scripts["Append"] = [
        lambda *_: time.sleep(5) or fake.appended(),
        lambda *_: fake.appended(1, True),
    ]
    with client_of(bad) as client:
        with pytest.raises(evershard.OutcomeUnknownError) as caught:
            client.append(Event("T"), timeout=2)
        assert caught.value.append is not None and client.append(caught.value.append).duplicate
    assert bad.seen[0] == bad.seen[1]


def test_broken_connections_until_the_time_out_leave_the_outcome_unknown(
    bad: fake.Fake,
) -> None:
    bad.scripts["Append"] = [breaks]
    with client_of(bad, timeout=3) as client, pytest.raises(evershard.OutcomeUnknownError):
        client.append(Event("T"))
    assert len(bad.seen) > 2


def test_a_server_that_says_it_cannot_leaves_nothing_unknown(bad: fake.Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evershard._retry.Backoff.next", lambda *_: 2.0)  # the last try has time enough for an answer
    bad.scripts["Append"] = [lambda _, context: fake.refuse(context, BROKEN, ErrorCode.UNAVAILABLE, "the disk is full")]
    with client_of(bad, timeout=3.9) as client, pytest.raises(evershard.UnavailableError, match="disk is full"):
        client.append(Event("T"))
    assert len(bad.seen) == 2


def test_nobody_there_is_unavailable() -> None:
    def refused(call: Callable[[], Any], match: str | None = "connect") -> None:
        began = time.monotonic()
        with pytest.raises(evershard.UnavailableError, match=match):
            call()
        assert time.monotonic() - began < 30

    with Client("127.0.0.1:1", timeout=3) as client, concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = [
            pool.submit(refused, lambda: client.append(Event("T"))),
            pool.submit(refused, client.head),
            pool.submit(refused, lambda: list(client.read())),
            pool.submit(refused, lambda: next(client.subscribe(after=0, retry_for=0.3))),
            pool.submit(refused, lambda: list(client.append_many([Append(Event("T"))])), None),
        ]
        for one in waiting:
            one.result()


def test_closing_while_an_append_is_under_way_leaves_its_outcome_unknown(
    bad: fake.Fake,
) -> None:
    bad.scripts["Append"] = [lambda *_: threading.Timer(0.1, client.close).start() or time.sleep(3) or fake.appended()]
    client = client_of(bad)
    with pytest.raises(evershard.OutcomeUnknownError, match="closed"):
        client.append(Event("T"))


def test_what_another_try_cannot_know_leaves_the_outcome_unknown(
    bad: fake.Fake,
) -> None:
    bad.scripts["Append"] = [
        breaks,
        lambda _, context: fake.refuse(context, grpc.StatusCode.UNAUTHENTICATED, ErrorCode.UNAUTHENTICATED),
    ]
    with client_of(bad) as client, pytest.raises(evershard.OutcomeUnknownError) as caught:
        client.append(Event("T"))
    assert isinstance(caught.value.__cause__, evershard.UnauthenticatedError)
    bad.scripts["Append"] = [
        breaks,
        lambda _, context: fake.refuse(context, grpc.StatusCode.ABORTED, ErrorCode.VERSION_CONFLICT),
    ]
    with client_of(bad) as client, pytest.raises(evershard.VersionConflictError):
        client.append(Event("T"))


def test_a_read_goes_on_without_a_gap_or_a_double(bad: fake.Fake) -> None:
    def first(request: Any, context: Any) -> Iterator[Any]:
        yield store_pb2.Page(events=[fake.event(1), fake.event(2)], watermark=5)
        context.abort(BROKEN, "Socket closed")

    def then(request: Any, context: Any) -> Iterator[Any]:
        yield store_pb2.Page(
            events=[fake.event(n) for n in range(request.options.after + 1, request.options.up_to + 1)],
            watermark=9,
            complete=True,
        )

    bad.scripts["Read"] = [breaks, first, breaks, then]
    with client_of(bad) as client:
        reader = client.read()
        assert [event.position for event in reader] == [
            1,
            2,
            3,
            4,
            5,
        ] and reader.watermark == 5


def test_a_read_that_ends_early_is_not_taken_for_complete(bad: fake.Fake) -> None:
    bad.scripts["Read"] = [lambda *_: iter([store_pb2.Page(events=[fake.event(1)], watermark=2)]),
                           lambda *_: iter([store_pb2.Page(events=[fake.event(2)], watermark=2, complete=True)])]  # fmt: skip
    with client_of(bad) as client:
        assert [event.position for event in client.read()] == [1, 2]
    assert bad.seen[1].options.after == 1


def test_a_page_that_does_not_come_is_a_time_out(bad: fake.Fake) -> None:
    bad.scripts["Read"] = [lambda *_: time.sleep(5) or iter([])]
    with client_of(bad) as client, pytest.raises(evershard.TimeoutError):
        list(client.read(timeout=1))


def test_a_subscription_goes_on_behind_its_watermark(bad: fake.Fake) -> None:
    def breaking(*messages: Any) -> Any:
        def step(request: Any, context: Any) -> Iterator[Any]:
            yield from messages
            context.abort(BROKEN, "Socket closed")

        return step

    heartbeat = service_pb2.SubscribeResponse(kind=service_pb2.SubscribeResponse.KIND_HEARTBEAT, watermark=9)
    bad.scripts["Head"] = [breaks, lambda *_: service_pb2.HeadResponse(watermark=3)]
    bad.scripts["Subscribe"] = [
        breaks,
        breaking(fake.events(4, 5, watermark=6)),
        breaking(heartbeat),
        lambda *_: iter([]),
        breaking(fake.events(10)),
    ]
    with client_of(bad) as client, client.subscribe() as subscription:
        seen = [event.position for event in itertools.islice(subscription.events(), 3)]
        assert seen == [4, 5, 10] and subscription.reconnects >= 4
    afters = [request.after for request in bad.seen if isinstance(request, service_pb2.SubscribeRequest)]
    assert afters[:5] == [
        3,
        3,
        6,
        9,
        9,
    ], "from now on means from the same moment after a broken connection"


def test_silence_of_three_heartbeats_is_a_broken_connection(bad: fake.Fake) -> None:
    released = threading.Event()

    def silent(request: Any, context: Any) -> Iterator[Any]:
        yield fake.events(1)
        context.add_callback(released.set)
        released.wait(60)

    bad.scripts["Subscribe"] = [silent, lambda *_: iter([fake.events(2)])]
    with client_of(bad) as client, client.subscribe(after=0, heartbeat=0.1) as subscription:
        began = time.monotonic()
        assert [event.position for event in itertools.islice(subscription.events(), 2)] == [1, 2]
        assert 0.25 < time.monotonic() - began < 50 and bad.seen[1].after == 1 and bad.seen[0].heartbeat_ms == 100


def test_a_subscription_ends_with_what_does_not_go_away(bad: fake.Fake) -> None:
    bad.scripts["Subscribe"] = [
        lambda _, context: fake.refuse(context, grpc.StatusCode.DATA_LOSS, ErrorCode.CORRUPTION, "damaged")
    ]
    with client_of(bad) as client, pytest.raises(evershard.CorruptionError):
        next(client.subscribe(after=0))
    assert len(bad.seen) == 1


def test_many_appends_survive_broken_streams_and_full_queues(bad: fake.Fake) -> None:
    positions: dict[bytes, int] = {}
    received: list[bytes] = []
    turn = itertools.count()

    def step(requests: Any, context: Any) -> Iterator[Any]:
        breaking = next(turn) < 3
        for answered, request in enumerate(requests):
            received.append(request.request_id)
            if breaking and answered == 5:
                context.abort(BROKEN, "Socket closed")
            if len(received) % 7 == 0:
                yield service_pb2.AppendOutcome(
                    refused=store_pb2.Error(
                        code=store_pb2.ERROR_CODE_OVERLOADED,
                        message="full",
                        retry_after_ms=1,
                    )
                )
                continue
            duplicate = request.request_id in positions
            position = positions.setdefault(request.request_id, len(positions) + 1)
            yield service_pb2.AppendOutcome(appended=fake.appended(position, duplicate))

    bad.scripts["AppendMany"] = [step]
    appends = [Append(Event("T")) for _ in range(50)]
    with client_of(bad) as client:
        outcomes = list(client.append_many(appends, in_flight=10))
    assert [outcome.append for outcome in outcomes] == appends and len(positions) == 50
    assert [outcome.result().first_position for outcome in outcomes] == [
        positions[append.request_id.bytes] for append in appends
    ]
    assert len(received) > 50


def test_what_was_answered_before_a_write_failed_is_not_sent_again(bad: fake.Fake) -> None:
    sent: list[list[str]] = []
    has_six, reads_nothing, ended = threading.Event(), threading.Event(), threading.Event()

    def answers(requests: Any, context: Any) -> Iterator[Any]:
        sent.append([])
        for request in requests:
            sent[-1].append(request.events[0].aggregate.value)
            if len(sent) > 1:
                yield service_pb2.AppendOutcome(appended=fake.appended(int(sent[-1][-1])))
            elif len(sent[0]) == 6:
                has_six.set()
                assert reads_nothing.wait(60)
                yield from (service_pb2.AppendOutcome(appended=fake.appended(n)) for n in range(1, 6))
                context.add_callback(ended.set)
                context.abort(BROKEN, "Socket closed")

    async def source() -> AsyncIterator[Append]:
        for n in range(1, 7):
            yield Append(Event("T", f"a-{n}"))
        await asyncio.to_thread(has_six.wait, 60)
        reads_nothing.set()
        assert ended.wait(60)  # holds the client's loop: five answers and the end lie there as the seventh is written
        time.sleep(0.2)
        yield Append(Event("T", "a-7"))

    async def run() -> list[int]:
        async with aio.Client(bad.address, timeout=60) as client:  # type: ignore[attr-defined]
            return [outcome.result().first_position async for outcome in client.append_many(source(), in_flight=10)]

    bad.scripts["AppendMany"] = [answers]
    assert asyncio.run(run()) == [1, 2, 3, 4, 5, 6, 7]
    assert sent == [["1", "2", "3", "4", "5", "6"], ["6", "7"]]


def test_a_stream_that_breaks_while_nothing_is_under_way_ends_nothing(
    bad: fake.Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle, broke = threading.Event(), threading.Event()
    later = 0.0

    def breaking(requests: Any, context: Any) -> Iterator[Any]:
        next(requests)
        yield service_pb2.AppendOutcome(appended=fake.appended())
        idle.wait(60)
        broke.set()
        context.abort(BROKEN, "Socket closed")

    def working(requests: Any, context: Any) -> Iterator[Any]:
        for _ in requests:
            yield service_pb2.AppendOutcome(appended=fake.appended(2))

    async def source() -> AsyncIterator[Append]:
        nonlocal later
        yield Append(Event("T"))
        await first_answered.wait()
        later = 3600.0  # nothing was given, nor answered, for longer than the time-out
        idle.set()
        await asyncio.to_thread(broke.wait, 60)
        await asyncio.sleep(0.5)  # so that it is noticed; what comes too early is no test, and no failure
        yield Append(Event("T"))

    async def work() -> list[int]:
        positions = []
        async with aio.Client(bad.address, timeout=60) as client:  # type: ignore[attr-defined]
            async for outcome in client.append_many(source()):
                positions.append(outcome.result().first_position)
                first_answered.set()
        return positions

    first_answered = asyncio.Event()
    bad.scripts["AppendMany"] = [breaking, working]
    monkeypatch.setattr(
        "evershard._append_many.time",
        types.SimpleNamespace(monotonic=lambda: time.monotonic() + later),
    )
    assert asyncio.run(work()) == [1, 2]


def test_many_appends_without_an_answer_are_unknown(bad: fake.Fake) -> None:
    released = threading.Event()

    def silent(requests: Any, context: Any) -> Iterator[Any]:
        yield service_pb2.AppendOutcome(appended=fake.appended())
        context.add_callback(released.set)
        released.wait(60)

    bad.scripts["AppendMany"] = [silent]
    with client_of(bad, timeout=3) as client:
        outcomes = client.append_many([Append(Event("T")) for _ in range(3)])
        assert next(outcomes).appended
        for _ in range(2):
            lost = next(outcomes)
            assert isinstance(lost.error, evershard.OutcomeUnknownError) and lost.error.append is lost.append
        with pytest.raises(evershard.TimeoutError):
            next(outcomes)


def test_a_state_is_an_object(bad: fake.Fake) -> None:
    bad.scripts["GetState"] = [
        breaks,
        lambda *_: service_pb2.GetStateResponse(json='{"state":{"a":1}}'),
    ]
    with client_of(bad) as client:
        assert client.state("order-1", version=3, limit=0) == {"state": {"a": 1}}
    assert bad.seen[1].version == 3 and bad.seen[1].HasField("limit") and not bad.seen[1].HasField("up_to")


def test_what_is_no_evershard_says_so(bad: fake.Fake) -> None:
    with client_of(bad) as client, pytest.raises(evershard.ProtocolError, match="UNIMPLEMENTED"):
        client.stats()


def test_long_work_tells_how_far_it_is_and_is_not_repeated(bad: fake.Fake) -> None:
    def work(request: Any, context: Any) -> Iterator[Any]:
        yield service_pb2.BackupResponse(progress=service_pb2.WorkProgress(done=1, total=2))
        yield service_pb2.BackupResponse(progress=service_pb2.WorkProgress(done=2, total=2))
        yield service_pb2.BackupResponse(without_state=["order-1", "order-2"])
        yield service_pb2.BackupResponse(up_to=300, without_state=["order-3"], left_out=["a snapshot"])

    told: list[evershard.Progress] = []
    bad.scripts = {"Backup": [work], "Verify": [lambda *_: iter([])]}
    with client_of(bad) as client:
        without_state: list[str] = []
        left_out: list[str] = []
        end = client.backup(
            "/copy",
            told.append,
            truth_only=True,
            up_to=300,
            without_state=without_state.append,
            left_out=left_out.append,
        )
        assert end == 300
        assert without_state == ["order-1", "order-2", "order-3"] and left_out == ["a snapshot"]
        assert told == [evershard.Progress(1, 2), evershard.Progress(2, 2)]
        assert bad.seen[0] == service_pb2.BackupRequest(target="/copy", truth_only=True, up_to=300)
        with pytest.raises(evershard.ProtocolError):
            client.verify()
        bad.scripts["Verify"] = [breaks]
        with pytest.raises(evershard.UnavailableError):
            client.verify()
    assert len(bad.seen) == 3
