"""The vocabulary, without a server: ids as docs/internals/ids.md has them, payloads, queries, versions."""

from __future__ import annotations

import datetime
import pathlib
import re
import uuid

import pytest

import evershard
from evershard import AggregateId, AppendCondition, Event, ExpectedVersion, Query

IDS = pathlib.Path(__file__).parents[3] / "docs/internals/ids.md"


def unescaped(text: str) -> str:
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    return raw.decode("utf-8", "surrogateescape")


def table(heading: str) -> list[list[str]]:
    section = IDS.read_text(encoding="utf-8").split(f"\n{heading}:\n", 1)[1]
    rows = []
    for line in section.lstrip().splitlines()[2:]:
        if not line.startswith("|"):
            break
        rows.append([cell[1:-1] for cell in re.findall(r"`[^`]*`", line)])
    return rows


def test_ids_are_split_as_the_document_says() -> None:
    rows = table("Accepted")
    assert len(rows) >= 16
    for text, kind, value in rows:
        parsed = AggregateId.parse(unescaped(text))
        assert (parsed.type, parsed.value) == (unescaped(kind), unescaped(value))
        assert str(parsed) == unescaped(text)


def test_ids_are_refused_as_the_document_says() -> None:
    rows = table("Refused")
    assert len(rows) >= 11
    for text, code, because in rows:
        with pytest.raises(evershard.InvalidArgumentError) as caught:
            AggregateId.parse(unescaped(text))
        assert caught.value.code.name.lower() == code
        assert because in caught.value.message, text


def test_ids_have_limits_in_bytes() -> None:
    AggregateId("t" * 128, "v" * 512)
    for kind, value in (("t" * 129, "v"), ("t", "v" * 513), ("t", "ü" * 257)):
        with pytest.raises(evershard.TooLargeError):
            AggregateId(kind, value)
    with pytest.raises(evershard.InvalidArgumentError):
        AggregateId("or-der", "1")


def test_payloads_become_bytes_and_formats() -> None:
    assert (
        Event("T", payload=b"\xff").payload,
        Event("T", payload=b"\xff").payload_format,
    ) == (b"\xff", 0)
    assert (
        Event("T", payload="zürich").payload,
        Event("T", payload="zürich").payload_format,
    ) == ("zürich".encode(), 3)
    assert (
        Event("T", payload={"a": [1, "ü"]}).payload,
        Event("T", payload={"a": [1, "ü"]}).payload_format,
    ) == ('{"a":[1,"ü"]}'.encode(), 1)
    assert (
        Event("T", payload='{"a":1}', payload_format=1).payload,
        Event("T").payload,
    ) == (b'{"a":1}', b"")
    assert Event("T", payload=b"", payload_format=1_000).payload_format == 1_000
    assert Event("T", metadata={"by": "me"}).metadata == b'{"by":"me"}'
    assert (Event("T").metadata, Event("T", metadata=b"").metadata) == (None, b"")
    for wrong in (object(), float("nan"), "\ud800"):
        with pytest.raises(evershard.InvalidArgumentError):
            Event("T", payload=wrong)


def test_times_have_zones_and_microseconds() -> None:
    moment = datetime.datetime(2026, 1, 31, 13, 0, 0, 123456, datetime.timezone(datetime.timedelta(hours=1)))
    assert Event("T", occurred_at=moment).occurred_at_us == 1_769_860_800_123_456
    assert (
        Event(
            "T",
            occurred_at=datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, datetime.timezone.utc),
        ).occurred_at_us
        == -1
    )
    assert Event("T").occurred_at_us is None
    with pytest.raises(evershard.InvalidArgumentError, match="time zone"):
        Event("T", occurred_at=datetime.datetime(2026, 1, 31))


def test_an_event_has_its_id_from_the_start() -> None:
    event, given = Event("T"), uuid.uuid4()
    assert event.id.version == 4 and event.id != Event("T").id
    assert Event("T", id=given).id == given
    append = evershard.Append(event)
    assert append.request_id != evershard.Append(event).request_id and append.events == (event,)


def test_queries_are_built_item_by_item() -> None:
    query = Query().types("A", "B").tags("x").tags("y").or_().concerning("order-1", AggregateId("cart", "2"))
    assert query.items == (
        evershard.QueryItem(("A", "B"), ("x", "y")),
        evershard.QueryItem(concerning=(AggregateId("order", "1"), AggregateId("cart", "2"))),
    )
    begun = Query().types("A")
    begun.tags("x")
    assert begun == Query().types("A") and Query.all().is_all and hash(query) == hash(query)


def test_a_string_is_no_list() -> None:
    with pytest.raises(evershard.InvalidArgumentError):
        Event("T", tags="customer:7")
    with pytest.raises(evershard.InvalidArgumentError):
        Event("T", also="order-1")


def test_expected_versions_and_conditions() -> None:
    append = evershard.Append(
        Event("T"),
        expect={
            "a-1": "none",
            "a-2": 3,
            AggregateId("a", "3"): ExpectedVersion("exists"),
        },
        fail_if=Query.all(),
    )
    assert [str(version) for _, version in append.expect] == ["none", "3", "exists"]
    assert append.fail_if == (AppendCondition(Query.all(), 0),)
    for wrong in ("nothing", -1, True, 1.5):
        with pytest.raises(evershard.InvalidArgumentError):
            evershard.Append(Event("T"), expect={"a-1": wrong})  # type: ignore[dict-item]
    with pytest.raises(evershard.InvalidArgumentError):
        evershard.Append(["T"])  # type: ignore[list-item]


def test_what_a_newer_server_says_has_a_number() -> None:
    assert int(evershard.EventState(9)) == 9 and evershard.EventState(1) is evershard.EventState.REMOVED
    assert evershard.PayloadFormat(1_000) == 1_000
