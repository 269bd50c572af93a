"""What is derived from events and read by key: indexes, tables, documents. See docs/projections.md, docs/documents.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from . import _wire
from ._errors import InvalidArgumentError, ProtocolError
from ._recorded import RecordedEvent, moment_of
from ._values import AggregateId, microseconds_of
from .v1 import documents_pb2, projections_pb2, tables_pb2

Scalar: TypeAlias = (
    bool | int | float | str | bytes | datetime | None
)  # of a table's field, and of a filter's parameter

_TEXT, _BYTES, _JSON = 1, 6, 7


@dataclass(frozen=True, slots=True)
class ProjectionInfo:
    """How a projection is. `state` is that of the version that is read: building, live, paused, failed, waiting."""

    name: str
    kind: str
    spec: Any
    last: int  #: what a change expects
    paused: bool
    watermark: int
    state: str
    position: int
    error: str | None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    number: int  #: from 1
    position: int
    event: RecordedEvent | None  #: where events were asked for


@dataclass(frozen=True, slots=True)
class IndexPage:
    entries: tuple[IndexEntry, ...]
    count: int  #: numbers that the index has
    watermark: int  #: every event up to here is in the index


@dataclass(frozen=True, slots=True)
class ValueEntry:
    value: Any
    position: int
    event: RecordedEvent | None


@dataclass(frozen=True, slots=True)
class ValuePage:
    entries: tuple[ValueEntry, ...]
    next: str  #: the next page's `after`; empty: nothing follows
    watermark: int


@dataclass(frozen=True, slots=True)
class TablePage:
    rows: tuple[dict[str, Any], ...]
    next: str  #: what the next page continues from; empty: nothing follows
    position: int  #: every event up to here has had its effect in these rows, none behind it


@dataclass(frozen=True, slots=True)
class Document:
    """An aggregate's current state."""

    aggregate: AggregateId
    content: dict[str, Any]
    version: int  #: of the last event that the definition has a rule for
    position: int  #: its place
    problems: int  #: steps that could not be done, and were left out
    last_problem: str
    definition: int = 0  #: the version of the definition that it is made by


def projection_info(m: projections_pb2.ProjectionInfo) -> ProjectionInfo:
    read = next(
        (one for one in reversed(m.versions) if one.serving),
        m.versions[-1] if m.versions else None,
    )
    if read is None:
        return ProjectionInfo(
            m.name,
            m.kind,
            _read_json(m.spec),
            m.last,
            m.paused,
            m.watermark,
            "waiting",
            0,
            None,
        )
    # Of a table in parts: the state that most wants to be looked at, and the least position.
    parts = [one for one in m.versions if one.HasField("part") and one.rows == read.rows] or [read]
    worst = max(parts, key=lambda one: _STATES.index(one.state) if one.state in _STATES else 0)
    error = worst.error.message if worst.HasField("error") else None
    return ProjectionInfo(
        m.name,
        m.kind,
        _read_json(m.spec),
        m.last,
        m.paused,
        m.watermark,
        worst.state,
        min(one.position for one in parts),
        error,
    )


_STATES = ("live", "building", "paused", "waiting", "failed")


def index_page(m: projections_pb2.IndexPage) -> IndexPage:
    return IndexPage(
        tuple(IndexEntry(one.number, one.position, _event(one)) for one in m.entries),
        m.count,
        m.watermark,
    )


def value_page(m: projections_pb2.ValuePage) -> ValuePage:
    return ValuePage(
        tuple(ValueEntry(_read_json(one.value), one.position, _event(one)) for one in m.entries),
        m.next,
        m.watermark,
    )


def text_of(value: Scalar) -> str | None:
    """As a value index is asked: 42, -1.5, true, 2026-01-31T12:00:00Z, a text itself."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        microseconds_of(value)  # it names its time zone
        return value.isoformat()
    if isinstance(value, (int, float)):
        return repr(value)
    raise InvalidArgumentError(f"{value!r} is no value of an index")


def table_value(value: Scalar) -> tables_pb2.TableValue:
    if value is None:
        return tables_pb2.TableValue()
    if isinstance(value, bool):
        return tables_pb2.TableValue(boolean=value)
    if isinstance(value, datetime):
        return tables_pb2.TableValue(time_us=microseconds_of(value))
    if isinstance(value, (bytes, str)):
        return tables_pb2.TableValue(string=value if isinstance(value, bytes) else value.encode())
    if isinstance(value, int):
        return _wire.checked(tables_pb2.TableValue, integer=value)  # type: ignore[no-any-return]
    if isinstance(value, float):
        return tables_pb2.TableValue(number=value)
    raise InvalidArgumentError(f"{value!r} is no value of a table")


def table_select(
    where: str,
    parameters: Mapping[str | int, Scalar] | None,
    fields: tuple[str, ...],
    order: tuple[str, ...],
) -> tables_pb2.TableSelect:
    return _wire.checked(  # type: ignore[no-any-return]
        tables_pb2.TableSelect,
        where=where,
        parameters={str(name): table_value(value) for name, value in (parameters or {}).items()},
        fields=fields,
        order_by=[tables_pb2.TableOrder(field=one.removeprefix("-"), descending=one.startswith("-")) for one in order],
    )


def table_page(m: tables_pb2.SelectResponse) -> TablePage:
    if len(m.types) != len(m.fields) or any(len(row.values) != len(m.fields) for row in m.rows):
        raise ProtocolError("a row has not a value a field")
    rows = tuple(
        {name: _value(value, kind) for name, kind, value in zip(m.fields, m.types, row.values, strict=True)}
        for row in m.rows
    )
    return TablePage(rows, m.next, m.position)


def document(m: documents_pb2.Document) -> Document:
    content = _read_json(m.json)
    if not isinstance(content, dict):
        raise ProtocolError("a document is an object")
    return Document(
        _wire.id_of(m.aggregate),
        content,
        m.version,
        m.position,
        m.problems,
        m.last_problem,
        m.definition,
    )


def _event(
    m: projections_pb2.IndexEntry | projections_pb2.ValueEntry,
) -> RecordedEvent | None:
    return _wire.recorded(m.event) if m.HasField("event") else None


def _read_json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ProtocolError(f"what should be JSON is none: {error}") from None


def _value(m: tables_pb2.TableValue, kind: int) -> Any:
    held = m.WhichOneof("value")
    if held is None:
        return None
    if held == "time_us":
        return moment_of(m.time_us)
    if held != "string" or kind == _BYTES:
        return getattr(m, held)
    return _read_json(m.string) if kind == _JSON else m.string.decode()
