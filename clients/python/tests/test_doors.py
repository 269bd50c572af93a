"""Several addresses: servers that are gone, that stop, that are somebody else's; the map of shards; what was seen is read."""

from __future__ import annotations

import pathlib
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

import fake
import grpc
import pytest
from google.protobuf import any_pb2
from google.rpc import status_pb2

import evershard
from evershard import Append, Client, ErrorCode, Event, ForkChangedError, _route
from evershard._door_choice import DoorChoice, rest
from evershard.v1 import service_pb2, store_pb2

ROOT = pathlib.Path(__file__).parents[3]


# Decisions


def vectors() -> list[tuple[bytes, int, str, tuple[int, int, int]]]:
    """The rows of the tables of docs/internals/sharding.md: what is hashed, and what must come out."""
    rows = []
    text = (ROOT / "docs/internals/sharding.md").read_text(encoding="utf-8")
    for what, size, digest, *shards in re.findall(
        r"^\| (.+) \| (\d+) \| `([0-9a-f]{16})` \| (\d+) \| (\d+) \| (\d+) \|$",
        text,
        re.M,
    ):
        quoted = re.findall(r"`([^`]+)`", what)
        name = (quoted[0] if quoted else "").encode()
        if re.match(r"[0-9a-f]{8}-", name.decode()):
            name = uuid.UUID(name.decode()).bytes
        elif what.startswith("128 times"):
            name = b"t" * 128 + b"-" + b"v" * 512
        elif " times " in what:
            name += quoted[1].encode() * int(re.findall(r"(\d+) times", what)[0])
        rows.append((name, int(size), digest, (int(shards[0]), int(shards[1]), int(shards[2]))))
    return rows


def test_shards_are_those_of_the_published_vectors() -> None:
    rows = vectors()
    assert len(rows) == 22
    for name, size, digest, shards in rows:
        assert len(name) == size and f"{_route.xxh64(name):016x}" == digest, name
        assert tuple(_route.xxh64(name) % count for count in (16, 1, 65_535)) == shards


def test_an_append_lies_where_its_first_event_does() -> None:
    assert _route.shard_of(Append([Event("T", "order-1"), Event("T", "order-2")]), 65_535) == 51_136
    assert (
        _route.shard_of(
            Append(Event("T", id=uuid.UUID("00000000-0000-4000-8000-000000000001"))),
            65_535,
        )
        == 44_249
    )
    assert _route.shard_of(Append([]), 16) is None


def test_it_keeps_to_what_works_and_moves_once() -> None:
    assert DoorChoice(["a:1"]).current == 0
    choice = DoorChoice(["a:1", "b:1", "c:1"])
    assert (choice.current, choice.to_meet(0)) == (None, 0)
    choice.failed(0, 0, 100)
    assert choice.to_meet(0) == 1
    choice.is_ours(1, False)
    assert choice.to_meet(0) == 2
    choice.is_ours(2, True)
    assert (choice.current, choice.to_meet(1_000)) == (2, None)
    choice.is_ours(0, True)
    assert choice.current == 2, "nothing is wrong with it"
    for _ in range(5):
        choice.failed(2, 200, 50)
    assert choice.current == 0
    choice.failed(0, 210, 50)
    assert choice.current == 0, "the other rests, and the foreign one is never asked"
    choice.failed(0, 300, 50)
    assert choice.current == 2
    choice.is_ours(2, True)
    assert choice.doors[2].failures == 5, "a word alone mends no door that was tried"
    choice.worked(2)
    assert choice.to_meet(1_000) is None


def test_one_that_turns_out_to_be_anothers_is_left_for_one_that_is_ours() -> None:
    choice = DoorChoice(["a", "b", "c"])
    for number in (0, 2):
        choice.is_ours(number, True)
    assert choice.current == 0
    choice.is_ours(0, False)
    assert choice.current == 2


def test_rests_grow_and_differ() -> None:
    for failures in range(20):
        most = min(0.010 * 2**failures, 0.5) * (10 if failures > 8 else 1)
        rests = {rest(failures) for _ in range(20)}
        assert len(rests) > 1 and all(most / 2 <= one <= most for one in rests)


# Against servers that do as told


class Node(fake.Fake):
    def __init__(self, **says: Any) -> None:
        super().__init__()
        self.says: dict[str, Any] = {
            "store_id": "shop",
            "fork_id": "f",
            "shards": 3,
            "hash": 1,
            **says,
        }
        self.met = 0
        self.server, self.address = fake.serve(self)

    def Members(self, request: Any, context: Any) -> Any:
        self.met += 1
        return service_pb2.MembersResponse(**self.says)

    def appends_at(self, position: int) -> None:
        self.scripts["Append"] = [lambda *_: fake.appended(position)]


@pytest.fixture
def nodes() -> Iterator[Any]:
    made: list[Node] = []

    def make(**says: Any) -> Node:
        made.append(Node(**says))
        return made[-1]

    yield make
    for node in made:
        node.server.stop(0)


def stopping(_: Any, context: Any) -> None:
    fake.refuse(
        context,
        grpc.StatusCode.UNAVAILABLE,
        ErrorCode.UNAVAILABLE,
        "the server is stopping",
    )


def test_an_append_goes_on_at_the_next_address_with_the_same_bytes(nodes: Any) -> None:
    stops, works = nodes(), nodes()
    stops.scripts["Append"] = [lambda *_: fake.appended(1), stopping]
    works.appends_at(2)
    with Client(["127.0.0.1:1", stops.address, works.address], timeout=60) as client:
        assert [client.append(Event("T", "a-1")).first_position for _ in range(3)] == [
            1,
            2,
            2,
        ]
    assert [len(stops.seen), len(works.seen)] == [2, 2], "it keeps to what works"
    assert stops.seen[1].SerializeToString() == works.seen[0].SerializeToString()


def test_another_store_is_never_sent_what_was_meant_for_the_first_one(
    nodes: Any,
) -> None:
    ours, foreign = nodes(), nodes(fork_id="a copy")
    ours.scripts["Append"] = [lambda *_: fake.appended(1), stopping]
    foreign.appends_at(7)
    with Client(f"{ours.address},{foreign.address}", timeout=60) as client:
        client.append(Event("T"))
        with pytest.raises(evershard.UnavailableError):
            client.append(Event("T"), timeout=2)
    assert foreign.met >= 1 and foreign.seen == []


def test_empty_addresses_are_refused() -> None:
    for wrong in ("", "a:1,,b:1", [], ["a:1", " "]):
        with pytest.raises(evershard.InvalidArgumentError):
            Client(wrong)


def test_nobody_at_several_addresses_is_unavailable() -> None:
    with Client("127.0.0.1:1,127.0.0.1:2", timeout=2) as client:
        with pytest.raises(evershard.UnavailableError, match="127.0.0.1"):
            client.append(Event("T"))
        with pytest.raises(evershard.UnavailableError):
            list(client.read())
        with pytest.raises(evershard.UnavailableError):
            next(client.subscribe(after=0, retry_for=0.3))


def test_an_append_goes_to_the_node_of_its_shard(nodes: Any) -> None:
    owner, other = nodes(), nodes()
    members = [
        {"node": 1, "address": other.address},
        {"node": 2, "address": owner.address},
    ]
    for node, here in ((other, 1), (owner, 2)):
        node.says.update(members=members, owners=[2, 2, 2], epochs=[1, 1, 1], here=here)
        node.appends_at(here)
    with Client(other.address, timeout=60) as client:
        until = time.monotonic() + 60
        while client.append(Event("T", "a-1")).first_position != 2:
            assert time.monotonic() < until, "it follows the map"
        before = len(other.seen)
        assert {client.append(Event("T", "a-1")).first_position for _ in range(5)} == {2} and len(other.seen) == before
    with Client(other.address, timeout=60, follow_shards=False) as client:
        assert {client.append(Event("T", "a-1")).first_position for _ in range(20)} == {1}


def test_after_wrong_shard_the_newest_word_counts(nodes: Any) -> None:
    owner, other = nodes(), nodes()
    members = [
        {"node": 1, "address": other.address},
        {"node": 2, "address": owner.address},
    ]
    owner.says.update(members=members, owners=[2, 2, 2], epochs=[5, 5, 5], here=2)
    other.says.update(members=members, owners=[1, 1, 1], epochs=[4, 4, 4], here=1)
    owner.appends_at(2)
    other.scripts["Append"] = [
        lambda *_: fake.appended(1),
        lambda _, context: fake.refuse(context, grpc.StatusCode.UNAVAILABLE, ErrorCode.WRONG_SHARD),
    ]
    with Client([other.address, owner.address], timeout=60) as client:
        assert [client.append(Event("T", "a-1")).first_position for _ in range(3)] == [
            1,
            2,
            2,
        ]


def test_reads_wait_for_what_was_seen(nodes: Any) -> None:
    node = nodes()
    node.appends_at(9)
    node.scripts["Read"] = [lambda *_: iter([store_pb2.Page(watermark=12, complete=True)])]
    node.scripts["Head"] = [lambda *_: service_pb2.HeadResponse(watermark=12)]

    def at_least() -> int | None:
        request = node.seen[-1]
        return request.at_least.position if request.HasField("at_least") else None

    with Client(node.address, timeout=60) as client:
        list(client.read())
        assert (at_least(), client.seen) == (None, 12)
        list(client.read())
        assert at_least() == 12
        list(client.read(at_least=3))
        assert at_least() == 3
        client.see(40)
        list(client.read_aggregate("a-1"))
        assert at_least() == 40
        client.head()
        assert at_least() == 40
        client.append(Event("T"))
        assert client.seen == 40
        with Client(node.address, timeout=60, seen=client.seen) as heir:
            heir.head()
            assert at_least() == 40
    with Client(node.address, timeout=60, seen=40, read_own_writes=False) as careless:
        careless.head()
        assert at_least() is None


def test_one_that_is_behind_is_left_alone_where_there_are_others(nodes: Any) -> None:
    behind, there = nodes(), nodes()
    behind.scripts["Head"] = [
        lambda _, context: fake.refuse(
            context,
            grpc.StatusCode.DEADLINE_EXCEEDED,
            ErrorCode.TIMEOUT,
            "not yet at 40",
        )
    ]
    there.scripts["Head"] = [lambda *_: service_pb2.HeadResponse(watermark=41)]
    with Client([behind.address, there.address], timeout=60, seen=40) as client:
        assert client.head() == 41
        assert behind.seen[0].at_least.timeout_ms <= 3_000
    with (
        Client(behind.address, timeout=60, seen=40) as alone,
        pytest.raises(evershard.TimeoutError, match="not yet at 40"),
    ):
        alone.head()


def test_a_read_goes_on_at_a_node_that_has_come_as_far(nodes: Any) -> None:
    breaks, goes_on = nodes(), nodes()

    def page_and_break(_: Any, context: Any) -> Iterator[Any]:
        yield store_pb2.Page(events=[fake.event(1)], watermark=5)
        stopping(_, context)

    breaks.scripts["Read"] = [page_and_break]
    goes_on.scripts["Read"] = [lambda *_: iter([store_pb2.Page(events=[fake.event(2)], watermark=9, complete=True)])]
    with Client([breaks.address, goes_on.address], timeout=60, read_own_writes=False) as client:
        assert [event.position for event in client.read()] == [1, 2]
    request = goes_on.seen[0]
    assert (
        request.options.after,
        request.options.up_to,
        request.at_least.position,
    ) == (1, 5, 5)


def test_a_subscription_goes_on_at_another_node_behind_what_it_gave(nodes: Any) -> None:
    breaks, goes_on = nodes(), nodes()

    def events_and_break(_: Any, context: Any) -> Iterator[Any]:
        yield fake.events(1, 2, watermark=6)
        stopping(_, context)

    def break_at_once(_: Any, context: Any) -> Iterator[Any]:
        stopping(_, context)
        yield

    breaks.scripts["Subscribe"] = [events_and_break, break_at_once]
    caught_up_before = service_pb2.SubscribeResponse(kind=service_pb2.SubscribeResponse.KIND_CAUGHT_UP, watermark=4)
    goes_on.scripts["Subscribe"] = [
        lambda *_: iter([caught_up_before]),
        lambda *_: iter([fake.events(7)]),
    ]
    with Client([breaks.address, goes_on.address], timeout=60) as client, client.subscribe(after=0) as subscription:
        seen, watermarks = [], []
        for item in subscription:
            seen += [event.position for event in item.events]
            watermarks.append(item.watermark)
            if item.watermark == 7:
                break
    assert seen == [1, 2, 7] and watermarks == [6, 6, 7]
    assert {request.after for request in goes_on.seen} == {6}, "a node that is behind takes nothing back"


def test_a_subscription_ends_where_the_store_is_another_fork(nodes: Any) -> None:
    node = nodes()

    def first_history(request: Any, context: Any) -> Iterator[Any]:
        assert request.fork_id == "", "nobody said so yet"
        yield service_pb2.SubscribeResponse(
            kind=service_pb2.SubscribeResponse.KIND_EVENTS, events=[fake.event(1)], watermark=5, fork_id="one"
        )
        yield fake.events(6)
        stopping(request, context)

    def other_history(request: Any, context: Any) -> Iterator[Any]:
        assert (request.after, request.fork_id) == (6, "one")
        yield service_pb2.SubscribeResponse(
            kind=service_pb2.SubscribeResponse.KIND_EVENTS, events=[fake.event(7)], watermark=7, fork_id="two"
        )

    node.scripts["Subscribe"] = [first_history, other_history]
    seen: list[int] = []
    with Client(node.address, timeout=60) as client, client.subscribe(after=0) as subscription:
        with pytest.raises(ForkChangedError, match="is fork two now, and fork one was followed, up to position 6"):
            for item in subscription:
                seen += [event.position for event in item.events]
    assert seen == [1, 6], "nothing of the other history"


X, Y = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"


def led_by(led: str, answer: Any) -> Any:
    def answers(_: Any, context: Any) -> Any:
        context.send_initial_metadata((("evershard-fork", "f"), ("evershard-led", led)))
        return answer

    return answers


def test_an_answer_of_another_history_is_not_taken(nodes: Any) -> None:
    one, other = nodes(), nodes()
    one.scripts["Append"] = [led_by(f"2:{X}", fake.appended(7)), stopping, led_by(f"2:{X}", fake.appended(8))]
    other.scripts["Append"] = [led_by(f"2:{Y}", fake.appended(7))]
    with Client([one.address, other.address], timeout=60) as client:
        positions = [client.append(Event("T", "a-1")).first_position for _ in range(2)]
    assert positions == [7, 8], "the second is not the other history's 7"


def test_many_appends_of_another_history_are_not_taken(nodes: Any) -> None:
    one, other = nodes(), nodes()

    def some(led: str, first: int, most: int) -> Any:
        def answers(requests: Any, context: Any) -> Iterator[Any]:
            for n, request in enumerate(requests):
                if n == most:
                    stopping(None, context)
                position = first + int(request.events[0].aggregate.value)  # an append that comes again has its place
                yield service_pb2.AppendOutcome(appended=fake.appended(position), led=led)

        return answers

    one.scripts["AppendMany"] = [some(f"2:{X}", 7, 2), some(f"2:{X}", 7, 9)]
    other.scripts["AppendMany"] = [some(f"2:{Y}", 1, 9)]
    with Client([one.address, other.address], timeout=60) as client:
        outcomes = list(client.append_many([Append(Event("T", f"a-{n}")) for n in range(5)]))
    assert [outcome.appended and outcome.appended.first_position for outcome in outcomes] == [7, 8, 9, 10, 11]


def test_the_fork_that_a_server_refuses_with_is_told(nodes: Any) -> None:
    node = nodes()

    def another(_: Any, context: Any) -> None:
        packed = any_pb2.Any()
        packed.Pack(store_pb2.Error(code=int(ErrorCode.INVALID_ARGUMENT), message="the store is fork two now"))  # type: ignore[arg-type]
        whole = status_pb2.Status(code=3, message="fork", details=[packed]).SerializeToString()
        context.set_trailing_metadata((("grpc-status-details-bin", whole), ("evershard-fork", "two")))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "fork")

    node.scripts["Append"] = [led_by(f"2:{X}", fake.appended(1)), another]
    with Client([node.address, "127.0.0.1:1"], timeout=60) as client:
        client.append(Event("T"))
        with pytest.raises(ForkChangedError, match="fork two now"):
            client.append(Event("T"))


def test_many_appends_go_on_at_the_next_address(nodes: Any) -> None:
    breaks, goes_on = nodes(), nodes()
    stored: list[bytes] = []

    def some(requests: Any, context: Any) -> Iterator[Any]:
        for n, request in enumerate(requests):
            if n == 3:
                stopping(None, context)
            stored.append(request.request_id)
            yield service_pb2.AppendOutcome(appended=fake.appended(len(stored)))

    def rest_of_them(requests: Any, context: Any) -> Iterator[Any]:
        for request in requests:
            if request.request_id not in stored:
                stored.append(request.request_id)
            yield service_pb2.AppendOutcome(appended=fake.appended(stored.index(request.request_id) + 1))

    breaks.scripts["AppendMany"] = [some]
    goes_on.scripts["AppendMany"] = [rest_of_them]
    appends = [Append(Event("T")) for _ in range(10)]
    with Client([breaks.address, goes_on.address], timeout=60) as client:
        outcomes = list(client.append_many(appends, in_flight=4))
    assert [outcome.result().first_position for outcome in outcomes] == list(range(1, 11))
    assert stored == [append.request_id.bytes for append in appends]


def storing(log: list[tuple[int, str]], node: int) -> Any:
    def answers(requests: Any, _: Any) -> Iterator[Any]:
        for request in requests:
            log.append((node, str(request.events[0].aggregate.value)))
            yield service_pb2.AppendOutcome(appended=fake.appended(len(log)))

    return answers


def test_many_appends_go_to_the_nodes_of_their_shards(nodes: Any) -> None:
    first, second = nodes(shards=2, owners=[1, 2], epochs=[1, 1], here=1), nodes(
        shards=2, owners=[1, 2], epochs=[1, 1], here=2
    )
    log: list[tuple[int, str]] = []
    for number, node in ((1, first), (2, second)):
        node.says.update(
            members=[
                {"node": 1, "address": first.address},
                {"node": 2, "address": second.address},
            ]
        )
        node.scripts["AppendMany"] = [storing(log, number)]
    by_shard = {
        shard: [f"{n}" for n in range(40) if _route.shard_of(Append(Event("T", f"a-{n}")), 2) == shard]
        for shard in (0, 1)
    }

    def source(client: Client) -> Iterator[Append]:
        for n in range(40):
            yield Append(Event("T", f"a-{n}"))
        until = time.monotonic() + 60
        while time.monotonic() < until and not ({node for node, _ in log[40:]} == {1, 2}):
            yield Append(Event("T", f"a-{by_shard[0][0]}"))
            yield Append(Event("T", f"a-{by_shard[1][0]}"))
            time.sleep(0.01)
        log.append((0, "from here on each goes to its own"))
        for n in range(40):
            yield Append(Event("T", f"a-{n}"))

    with Client([first.address, second.address], timeout=60) as client:
        outcomes = list(client.append_many(source(client), in_flight=8))
    assert all(outcome.appended for outcome in outcomes)
    begin = log.index((0, "from here on each goes to its own"))
    last = log[-40:]
    assert (
        begin > 40
        and {value for node, value in last if node == 1} == set(by_shard[0])
        and {value for node, value in last if node == 2} == set(by_shard[1])
    )
    for node in (1, 2):
        assert [value for at, value in last if at == node] == by_shard[
            node - 1
        ], "those of one shard, as they were given"
