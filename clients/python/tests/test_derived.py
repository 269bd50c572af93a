"""Indexes, tables and documents, against a real server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

import evershard
from evershard import (
    Event,
    InvalidArgumentError,
    NotFoundError,
    Query,
    UnavailableError,
    aio,
)

ORDERS = {
    "fields": [
        {"name": "order", "type": "text", "role": "key"},
        {"name": "who", "type": "text", "role": "index"},
        {"name": "total", "type": "integer", "nullable": True},
        {"name": "weight", "type": "number", "nullable": True},
        {"name": "paid", "type": "boolean", "nullable": True},
        {"name": "at", "type": "time"},
        {"name": "photo", "type": "bytes", "nullable": True},
        {"name": "all", "type": "json"},
    ],
    "rules": [
        {
            "types": ["Placed"],
            "action": "upsert",
            "key": "aggregate",
            "fields": {
                "who": "$.who",
                "total": "$.lines[0].price",
                "weight": "$.weight",
                "paid": "$.paid",
                "at": "occurred_at",
                "photo": "$.photo",
                "all": "$",
            },
        }
    ],
}
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


def placed(n: int) -> Event:
    return Event(
        "Placed",
        f"order-{n}",
        {
            "who": "ann" if n % 2 else "bob",
            "lines": [{"price": 10 * n}],
            "weight": n / 2,
            "paid": n > 2,
            "photo": "AAE=",
        },
        occurred_at=AT,
    )


def test_a_table_is_selected(store: evershard.Client) -> None:
    info = store.create_table("orders", ORDERS)
    assert (info.name, info.kind, info.paused) == ("orders", "table", False)
    for n in range(1, 6):
        store.append(placed(n))
    first, *_ = store.select("orders", "total = :t", {"t": 30})  # what this client wrote is there
    assert first == {
        "order": "order-3",
        "who": "ann",
        "total": 30,
        "weight": 1.5,
        "paid": True,
        "at": AT,
        "photo": b"\0\1",
        "all": {
            "who": "ann",
            "lines": [{"price": 30}],
            "weight": 1.5,
            "paid": True,
            "photo": "AAE=",
        },
    }
    assert [row["order"] for row in store.select("orders", order=["-who", "total"], fields=["order", "who"])] == [
        "order-2",
        "order-4",
        "order-1",
        "order-3",
        "order-5",
    ]
    assert [row["total"] for row in store.select("orders", "who = ?1 AND paid AND at = :at", {1: "ann", "at": AT})] == [
        30,
        50,
    ]
    assert len(list(store.select("orders", limit=2))) == 2
    page = store.select_page("orders", order=["total"], limit=2)
    assert [row["total"] for row in page.rows] == [10, 20]
    page = store.select_page("orders", order=["total"], limit=9, continue_from=page.next)
    assert ([row["total"] for row in page.rows], page.next) == ([30, 40, 50], "")
    for where, parameters in (
        ("nobody = 1", {}),
        ("total >", {}),
        ("total = :t", {}),
        ("total = :t", {"t": 1 << 70}),
        ("total = :t", {"t": object()}),
    ):
        with pytest.raises(InvalidArgumentError):
            list(store.select("orders", where, parameters))  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        list(store.select("nothing"))
    with pytest.raises(InvalidArgumentError, match="did you mean"):
        store.create_table("bad", {"feilds": []})
    store.drop_projection("orders")
    with pytest.raises(NotFoundError):
        store.projection("orders")


def test_indexes_are_read(store: evershard.Client) -> None:
    for n in range(1, 6):
        store.append(placed(n))
    name = store.create_index(Query().types("Placed")).name
    assert store.create_index(Query().types("Placed", "Placed")).name == name
    page = store.read_index(name, start=2, limit=2, events=True)
    assert [(one.number, str(one.event.aggregate)) for one in page.entries if one.event] == [
        (2, "order-2"),
        (3, "order-3"),
    ]
    assert page.count == 5
    assert [one.number for one in store.read_index(name, backwards=True, limit=1).entries] == [5]
    store.create_value_index("by-price", ["Placed"], "$.lines[0].price", "integer")
    values = store.read_values("by-price", from_=20, until=50, limit=2)
    assert [one.value for one in values.entries] == [20, 30]
    assert [one.value for one in store.read_values("by-price", from_=20, until=50, after=values.next).entries] == [40]
    assert store.read_values("by-price", equal=10).next == ""
    with pytest.raises(InvalidArgumentError, match=r"\$\.lines\[0\]\.price"):
        store.create_value_index("other", ["Placed"], "lines.0.price")
    with pytest.raises(InvalidArgumentError):
        store.read_values("by-price", equal="ten")
    with pytest.raises(InvalidArgumentError):
        store.read_index("by-price")
    assert {one.name for one in store.projections()} == {name, "by-price"}


def test_what_is_not_there_in_time_is_told(store: evershard.Client) -> None:
    store.append(placed(1))
    store.create_table("orders", {**ORDERS, "on_error": "fail"})
    assert len(list(store.select("orders"))) == 1
    store.append(Event("Placed", "order-2", {"who": None}))
    with pytest.raises(UnavailableError, match="who"):
        list(store.select("orders", timeout=6))  # it stands before what this client wrote
    assert len(list(store.select("orders", at_least=0))) == 1
    info = store.projection("orders")
    assert info.state == "failed" and info.error is not None and "who" in info.error


def test_documents_are_shown(server: Any) -> None:
    async def work() -> None:
        async with asyncio.timeout(60), aio.Client(server.address) as store:
            version = await store.define_documents("order", {"events": {"Placed": {"merge": True}}})
            with pytest.raises(evershard.VersionConflictError):
                await store.define_documents("order", {"events": {"Placed": "ignore"}}, expected=version + 1)
            for n in range(1, 6):
                await store.append(placed(n))
            one = await store.document("order-3")
            assert (
                str(one.aggregate),
                one.version,
                one.content["lines"],
                one.problems,
            ) == ("order-3", 1, [{"price": 30}], 0)
            assert [str(each.aggregate) async for each in store.documents("order", 'who = "ann"')] == [
                "order-1",
                "order-3",
                "order-5",
            ]
            assert [str(each.aggregate) async for each in store.documents("order", after="2", limit=2)] == [
                "order-3",
                "order-4",
            ]
            with pytest.raises(InvalidArgumentError):
                [each async for each in store.documents("order", "who")]
            assert one.definition == version
            assert await store.define_documents("order", {"events": {"Placed": {"merge": True}}}) == version
            again = await store.define_documents("order", {"events": {"Placed": {"merge": True}}}, rebuild=True)
            assert again > version
            assert {each.definition async for each in store.documents("order", definition=again)} == {again}
            assert (await store.describe_documents("order")).name == "order"
            await store.drop_documents("order")
            with pytest.raises(NotFoundError):
                await store.document("order-3")
            assert [row async for row in _select(store)] == []

    asyncio.run(work())


async def _select(store: aio.Client) -> Any:
    await store.create_table("orders", ORDERS)
    async for row in store.select("orders", "order = 'none'"):
        yield row
