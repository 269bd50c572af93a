"""What a server refuses for good is told at once; what may pass is tried again for a while and told with its cause; what never left is not unknown."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import fake
import grpc
import pytest

import evershard
from evershard import Append, Client, ErrorCode, Event
from evershard._retry import Patience
from evershard.v1 import service_pb2, store_pb2

PATIENCE = 0.3
Call = Callable[[Client], Any]

CALLS: dict[str, Call] = {
    "append": lambda client: client.append(Event("T")),
    "append_many": lambda client: next(client.append_many([Append(Event("T"))])).result(),
    "head": lambda client: client.head(),
    "read": lambda client: list(client.read()),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@pytest.fixture
def bad() -> Iterator[fake.Fake]:
    script = fake.Fake()
    server, script.address = fake.serve(script)  # type: ignore[attr-defined]
    yield script
    server.stop(0)


def refuses(
    bad: fake.Fake,
    status: grpc.StatusCode,
    code: ErrorCode,
    message: str,
    **fields: Any,
) -> list[None]:
    """Every call, and each append of an AppendMany. Returns: an entry for each."""
    heard: list[None] = []

    def no(_: Any, context: Any) -> None:
        heard.append(None)
        fake.refuse(context, status, code, message, **fields)

    def many(requests: Any, _: Any) -> Iterator[Any]:
        for _ in requests:
            heard.append(None)
            yield service_pb2.AppendOutcome(refused=store_pb2.Error(code=int(code), message=message, **fields))  # type: ignore[arg-type]

    bad.scripts = {
        "Append": [no],
        "Head": [no],
        "Read": [no],
        "Subscribe": [no],
        "AppendMany": [many],
    }
    return heard


def client_of(bad: fake.Fake, **words: Any) -> Client:
    return Client(bad.address, **{"timeout": 60, "unavailable_timeout": PATIENCE, **words})  # type: ignore[attr-defined]


@each_call
def test_what_may_pass_is_tried_again_for_a_while_and_told_with_its_cause(bad: fake.Fake, call: Call) -> None:
    heard = refuses(bad, grpc.StatusCode.UNAVAILABLE, ErrorCode.UNAVAILABLE, "shard 3 is on no node")
    began = time.monotonic()
    with client_of(bad) as client, pytest.raises(evershard.UnavailableError, match="shard 3 is on no node") as caught:
        call(client)
    assert PATIENCE / 3 < time.monotonic() - began < 60 and len(heard) > 1
    assert type(caught.value) is evershard.UnavailableError


@each_call
@pytest.mark.parametrize(("status", "code", "kind", "fields"), [
    (grpc.StatusCode.UNAVAILABLE, ErrorCode.UNAVAILABLE, evershard.UnavailableError, {"lasting": True}),
    (grpc.StatusCode.DATA_LOSS, ErrorCode.CORRUPTION, evershard.CorruptionError, {}),
])  # fmt: skip
def test_what_no_time_mends_is_told_at_once(
    bad: fake.Fake,
    call: Call,
    status: grpc.StatusCode,
    code: ErrorCode,
    kind: type[evershard.EvershardError],
    fields: dict[str, Any],
) -> None:
    heard = refuses(bad, status, code, "shard 3 has lost data", **fields)
    with client_of(bad, unavailable_timeout=60) as client, pytest.raises(kind, match="shard 3 has lost data") as caught:
        call(client)
    assert len(heard) == 1 and caught.value.lasting == bool(fields)


def test_a_follower_is_told_at_once_what_no_time_mends(bad: fake.Fake) -> None:
    refuses(
        bad,
        grpc.StatusCode.UNAVAILABLE,
        ErrorCode.UNAVAILABLE,
        "shard 3 has lost data",
        lasting=True,
    )
    with client_of(bad) as client, pytest.raises(evershard.UnavailableError, match="lost data"):
        next(client.subscribe(after=0))


def test_a_server_that_waited_too_long_itself_is_not_asked_for_long(
    bad: fake.Fake,
) -> None:
    refuses(
        bad,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        ErrorCode.TIMEOUT,
        "the coordinator is away",
    )
    with client_of(bad) as client, pytest.raises(evershard.OutcomeUnknownError, match="the coordinator is away"):
        client.append(Event("T"))


@each_call
def test_only_what_may_have_arrived_is_unknown(bad: fake.Fake, call: Call) -> None:
    with socket.socket() as silent:  # takes the connection, and no call
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            Client(address, timeout=0.4) as client,
            pytest.raises(evershard.UnavailableError, match=f"no connection to {address}"),
        ):
            call(client)
    stay = time.sleep
    bad.scripts = {
        name: [lambda *_: stay(5) or iter([])] for name in ("Append", "Head", "Read", "AppendMany")
    }  # takes the call, and says nothing
    with client_of(bad, timeout=3) as client, pytest.raises(evershard.TimeoutError) as caught:
        call(client)
    assert isinstance(caught.value, evershard.OutcomeUnknownError) == (call in (CALLS["append"], CALLS["append_many"]))


@each_call
def test_where_nobody_listens_the_reason_is_told(call: Call) -> None:
    with Client("127.0.0.1:1", timeout=0.4) as client, pytest.raises(evershard.UnavailableError, match="connect"):
        call(client)


def test_an_absence_is_told_once_and_its_end() -> None:
    server, address = None, "127.0.0.1:0"
    told: list[evershard.EvershardError | None] = []
    script = fake.Fake()
    heartbeat = service_pb2.SubscribeResponse(kind=service_pb2.SubscribeResponse.KIND_HEARTBEAT, watermark=1)

    def once(_: Any, context: Any) -> Iterator[Any]:
        yield heartbeat
        context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")

    began = time.monotonic()

    def later(_: Any, context: Any) -> Iterator[Any]:
        if not told and time.monotonic() - began < 60:  # the node is away until its absence is told
            fake.refuse(
                context,
                grpc.StatusCode.UNAVAILABLE,
                ErrorCode.UNAVAILABLE,
                "node 2 is away",
            )
        yield heartbeat

    script.scripts["Subscribe"] = [once, later]
    server, address = fake.serve(script)
    with Client(address) as client, client.subscribe(after=0, on_away=told.append) as subscription:
        next(subscription)
        assert subscription.away is None
        next(subscription)
        assert subscription.away is None
    server.stop(0)
    assert (
        len(told) == 2
        and isinstance(told[0], evershard.UnavailableError)
        and "node 2 is away" in told[0].message
        and told[1] is None
    )


def test_patience_ends_so_long_after_the_first_refusal() -> None:
    no = evershard.UnavailableError("no", told_by_server=True)
    patience = Patience(5.0, began=0.0)
    assert patience.bears(no, 20.0), "the first one, however late"
    assert patience.bears(no, 24.0) and not patience.bears(no, 25.0)
    assert patience.bears(
        evershard.UnavailableError("Socket closed"), 99.0
    ), "nobody answered: that is borne until the time-out"
    assert patience.bears(evershard.OverloadedError("full", told_by_server=True), 99.0)
    patience.worked()
    assert patience.bears(no, 26.0)
    assert not patience.bears(evershard.UnavailableError("lost", told_by_server=True, lasting=True), 26.0)
    assert patience.bears(evershard.TimeoutError("late", told_by_server=True), 4.9)
    assert not patience.bears(evershard.TimeoutError("late", told_by_server=True), 5.0)
