"""Makes the golden messages beside it: each as NAME.bin (its bytes) and NAME.json (Protobuf's JSON). The message's type is what stands in
front of NAME's first '-'. Every client's tests decode the bytes, compare them with the JSON, and encode both to the same bytes again; a
difference means that clients and servers of two languages or releases do not understand each other.

    clients/python/stubs.py && PYTHONPATH=clients/python python3 tests/golden/wire/make.py [DIR]

A golden file never changes once it is released: what is new comes in a file of its own.
"""

import pathlib
import sys
from typing import Dict, List

from google.protobuf import json_format
from google.protobuf.message import Message

from evershard.v1 import (
    documents_pb2,
    event_pb2,
    projections_pb2,
    scheduled_pb2,
    service_pb2,
    store_pb2,
    tables_pb2,
)

U32 = 2**32 - 1
U64 = 2**64 - 1
ID = bytes.fromhex("00010203040546078809" "0a0b0c0d0e0f")
REQUEST_ID = bytes.fromhex("018f3c5e7b1a4e4e8b1a0242ac120002")
AT_US = 1_769_860_800_123_456  # 2026-01-31T12:00:00.123456Z
NOT_TEXT = bytes(range(256))


def aggregate(text: str) -> event_pb2.AggregateId:
    kind, value = text.split("-", 1)
    return event_pb2.AggregateId(type=kind, value=value)


def everything() -> store_pb2.Query:
    return store_pb2.Query(all=True)


def items() -> store_pb2.Query:
    return store_pb2.Query(
        items=[
            store_pb2.QueryItem(
                types=["Placed", "Paid"],
                tags=["customer:7", "größe:9"],
                concerning=[aggregate("order-1"), aggregate("cart-🛒")],
            ),
            store_pb2.QueryItem(types=["Blocked"]),
            store_pb2.QueryItem(tags=["customer:7"]),
            store_pb2.QueryItem(concerning=[aggregate("user--1")]),
        ]
    )


def event() -> event_pb2.Event:
    return event_pb2.Event(
        id=ID,
        aggregate=aggregate("order-1"),
        type="Placed",
        tags=["a", "b"],
        also=[aggregate("c-42"), aggregate("konto-Zürich")],
        payload=b'{"total":42}',
        payload_format=1,
        metadata=b"\0m",
        occurred_at_us=AT_US,
    )


def recorded(position: int = 300) -> event_pb2.RecordedEvent:
    return event_pb2.RecordedEvent(
        position=position,
        shard=65_535,
        offset=7,
        id=ID,
        aggregate=aggregate("order-1"),
        seq_nr=4,
        type="Placed",
        tags=["a", "b"],
        also=[aggregate("c-42")],
        payload=b'{"total":42}',
        payload_format=1,
        metadata=b'{"by":"me"}',
        occurred_at_us=AT_US,
        append_index=1,
        append_events=3,
    )


def recorded_snapshot() -> store_pb2.RecordedSnapshot:
    return store_pb2.RecordedSnapshot(
        aggregate=aggregate("order-1"),
        version=4,
        position=300,
        payload=NOT_TEXT,
        payload_format=1_000,
        schema_revision=2,
        taken_at_us=AT_US,
        expires_at_us=0,
        latest=True,
    )


def messages() -> Dict[str, Message]:
    s, t = service_pb2, store_pb2
    version = t.ExpectedVersion
    stream_from_two = t.StreamOptions(limit=0, direction=t.DIRECTION_BACKWARDS, up_to=300)
    setattr(stream_from_two, "from", 2)
    at_least = s.AtLeast(position=300, timeout_ms=0)
    told = t.Error(
        code=t.ERROR_CODE_CONDITION_FAILED,
        message="condition 0 failed: the event at position 300 matches it",
        condition=0,
        position=300,
        conflicts=[recorded(), recorded(301)],
    )
    return {
        "Event": event(),
        "Event-least": event_pb2.Event(type="T"),
        "Event-zeros": event_pb2.Event(type="T", occurred_at_us=0),
        "RecordedEvent": recorded(),
        "RecordedEvent-extremes": event_pb2.RecordedEvent(
            position=U64,
            shard=U32,
            offset=U64,
            id=b"\xff" * 16,
            seq_nr=U64,
            type="ü" * 127,
            payload=NOT_TEXT,
            payload_format=U32,
            occurred_at_us=-(2**63),
            append_index=U32,
            append_events=U32,
        ),
        "RecordedEvent-removed": event_pb2.RecordedEvent(
            position=2**53 + 1,
            offset=1,
            id=ID,
            aggregate=aggregate("order---"),
            seq_nr=1,
            type="Placed",
            occurred_at_us=-1,
            state=event_pb2.EVENT_STATE_REMOVED,
        ),
        "AppendRequest-least": t.AppendRequest(events=[event_pb2.Event(type="T")]),
        "AppendRequest-everything": t.AppendRequest(
            request_id=REQUEST_ID,
            events=[event(), event_pb2.Event(type="Audited", tags=["x"])],
            expectations=[
                t.Expectation(
                    aggregate=aggregate("order-1"),
                    version=version(kind=version.KIND_EXACTLY, number=3),
                ),
                t.Expectation(aggregate=aggregate("a-1"), version=version(kind=version.KIND_ANY)),
                t.Expectation(aggregate=aggregate("a-2"), version=version(kind=version.KIND_NONE)),
                t.Expectation(
                    aggregate=aggregate("a-3"),
                    version=version(kind=version.KIND_EXISTS),
                ),
                t.Expectation(
                    aggregate=aggregate("a-4"),
                    version=version(kind=version.KIND_EXACTLY),
                ),
            ],
            conditions=[
                t.AppendCondition(query=items(), after=17),
                t.AppendCondition(query=everything(), after=U64),
            ],
            snapshots=[
                t.Snapshot(
                    aggregate=aggregate("order-1"),
                    version=4,
                    payload=b'{"open":true}',
                    payload_format=1,
                    schema_revision=2,
                    keep=0,
                    ttl_s=3_600,
                )
            ],
            command=t.CommandRecord(aggregate=aggregate("order-1"), id=b"txn-1", reply=b"\0\1"),
            ack=t.ACK_DURABLE,
            conflicts_max=10,
        ),
        "AppendResponse": t.AppendResponse(
            first_position=300,
            last_position=301,
            watermark=2**53 + 1,
            versions=[t.AggregateVersion(aggregate=aggregate("order-1"), version=4)],
        ),
        "AppendResponse-duplicate": t.AppendResponse(
            first_position=300, last_position=300, duplicate=True, watermark=301
        ),
        "AppendOutcome-appended": s.AppendOutcome(
            appended=t.AppendResponse(first_position=1, last_position=1, watermark=1)
        ),
        "AppendOutcome-refused": s.AppendOutcome(refused=told),
        "ReadRequest-query": s.ReadRequest(
            query=items(),
            options=t.ReadOptions(
                after=1,
                before=300,
                up_to=299,
                limit=0,
                direction=t.DIRECTION_BACKWARDS,
                at_least=5,
            ),
        ),
        "ReadRequest-aggregate": s.ReadRequest(
            aggregate=aggregate("order-1"), stream=stream_from_two, at_least=at_least
        ),
        "Page": t.Page(events=[recorded(), recorded(302)], watermark=302, complete=True),
        "Page-empty": t.Page(watermark=302, complete=True),
        "SubscribeRequest": s.SubscribeRequest(query=everything(), after=0, page_events_max=100, heartbeat_ms=0),
        "SubscribeRequest-from_now": s.SubscribeRequest(query=items()),
        "SubscribeResponse-events": s.SubscribeResponse(
            kind=s.SubscribeResponse.KIND_EVENTS, events=[recorded()], watermark=305
        ),
        "SubscribeResponse-caught_up": s.SubscribeResponse(kind=s.SubscribeResponse.KIND_CAUGHT_UP, watermark=305),
        "SubscribeResponse-fell_behind": s.SubscribeResponse(kind=s.SubscribeResponse.KIND_FELL_BEHIND, watermark=305),
        "SubscribeResponse-heartbeat": s.SubscribeResponse(kind=s.SubscribeResponse.KIND_HEARTBEAT, watermark=306),
        "Error-version_conflict": t.Error(
            code=t.ERROR_CODE_VERSION_CONFLICT,
            message='aggregate "order-1" is at version 0, the append expects 3',
            aggregate=aggregate("order-1"),
            expected=version(kind=version.KIND_EXACTLY, number=3),
            actual=0,
        ),
        "Error-condition_failed": told,
        "Error-duplicate_event": t.Error(
            code=t.ERROR_CODE_DUPLICATE_EVENT,
            message="stored at position 9",
            position=9,
        ),
        "Error-overloaded": t.Error(
            code=t.ERROR_CODE_OVERLOADED,
            message="the queue of shard 3 is full",
            shard=3,
            retry_after_ms=20,
        ),
        "Error-corruption": t.Error(
            code=t.ERROR_CODE_CORRUPTION,
            message="a record is damaged",
            shard=0,
            offset=0,
        ),
        "HeadRequest": s.HeadRequest(at_least=at_least),
        "HeadRequest-least": s.HeadRequest(),
        "HeadResponse": s.HeadResponse(watermark=2**63),
        "GetEventRequest": s.GetEventRequest(position=300, at_least=s.AtLeast(position=300)),
        "AggregateInfo": s.AggregateInfo(aggregate=aggregate("order-1"), version=4, last_position=300, shard=7),
        "GetAggregateRequest": s.GetAggregateRequest(aggregate=aggregate("order-1"), up_to=0, at_least=at_least),
        "ListAggregatesRequest": s.ListAggregatesRequest(
            type="order", after=aggregate("order-1"), limit=2, at_least=at_least
        ),
        "ListAggregatesResponse": s.ListAggregatesResponse(
            aggregates=[s.AggregateInfo(aggregate=aggregate("order-2"), version=1, last_position=12)]
        ),
        "GetStateRequest": s.GetStateRequest(
            aggregate=aggregate("order-1"),
            version=3,
            up_to=300,
            limit=0,
            at_least=at_least,
        ),
        "GetStateResponse": s.GetStateResponse(json='{"aggregate":"order-1","state":{"öffnet":true}}'),
        "Snapshot": t.Snapshot(
            aggregate=aggregate("order-1"),
            version=4,
            payload=b"",
            payload_format=2,
            keep=3,
            ttl_s=-1,
        ),
        "GetSnapshotRequest": s.GetSnapshotRequest(
            aggregate=aggregate("order-1"), at_or_before=0, up_to=0, at_least=at_least
        ),
        "GetSnapshotResponse": s.GetSnapshotResponse(snapshot=recorded_snapshot()),
        "GetSnapshotResponse-none": s.GetSnapshotResponse(),
        "ListSnapshotsRequest": s.ListSnapshotsRequest(aggregate=aggregate("order-1"), at_least=at_least),
        "ListSnapshotsResponse": s.ListSnapshotsResponse(snapshots=[recorded_snapshot(), recorded_snapshot()]),
        "GetTypesResponse": s.GetTypesResponse(types=NOT_TEXT),
        "MembersRequest": s.MembersRequest(),
        "MembersResponse-one_server": s.MembersResponse(store_id="8f1c", fork_id="c0ffee", shards=16, hash=1),
        "MembersResponse-cluster": s.MembersResponse(
            store_id="8f1c",
            fork_id="c0ffee",
            shards=3,
            hash=1,
            here=2,
            members=[
                s.MembersResponse.Node(node=1, address="127.0.0.1:7420"),
                s.MembersResponse.Node(node=2, address="[::1]:7421"),
                s.MembersResponse.Node(node=U32),
            ],
            owners=[1, 0, U32],
            epochs=[1, 0, U64],
        ),
        "StatsResponse": s.StatsResponse(
            store_id="8f1c",
            shards=16,
            format=1,
            hash=1,
            created_at_us=AT_US,
            watermark=306,
            sealed=300,
            tail_events=6,
            commits=100,
            appends=250,
            refused=3,
            disk_bytes=2**40,
            disk_free_bytes=2**41,
            memory_bytes=2**30,
            backend_assertions=True,
            details=[s.StatsResponse.Detail(name="runs", value=4)],
        ),
        "StatsResponse-fork": s.StatsResponse(store_id="8f1c", shards=16, fork_id="c0ffee"),
        "VerifyResponse-progress": s.VerifyResponse(progress=s.WorkProgress(done=10, total=100)),
        "VerifyResponse-report": s.VerifyResponse(
            report=s.VerifyReport(
                events=306,
                records=250,
                index_rows=900,
                snapshots=2,
                errors=1,
                findings=["shard 3: ..."],
            )
        ),
        "VacuumResponse": s.VacuumResponse(progress=s.WorkProgress(done=100, total=100)),
        "BackupRequest": s.BackupRequest(target="/var/backups/shop", truth_only=True, up_to=300),
        "BackupResponse": s.BackupResponse(progress=s.WorkProgress(done=0, total=2**40)),
        "BackupResponse-last": s.BackupResponse(progress=s.WorkProgress(done=2**40, total=2**40), up_to=300),
    }


def derived() -> Dict[str, Message]:
    """Projections, tables, documents."""
    p, t, d = projections_pb2, tables_pb2, documents_pb2
    at_least = service_pb2.AtLeast(position=300, timeout_ms=0)
    value = t.TableValue
    version = p.ProjectionInfo.Version(
        version=1,
        rows=9,
        state="failed",
        complete=True,
        serving=True,
        position=299,
        lag=U64,
        events=4,
        errors=1,
        error=store_pb2.Error(
            code=store_pb2.ERROR_CODE_INVALID_ARGUMENT,
            message='field "größe" takes integer',
        ),
        failed_at=0,
        busy_ms=0,
        figures=[
            p.ProjectionInfo.Figure(name="rows", value=2),
            p.ProjectionInfo.Figure(name="parked"),
        ],
    )
    info = p.ProjectionInfo(
        name="orders",
        kind="table",
        spec='{"fields":[]}',
        last=9,
        paused=True,
        watermark=306,
        versions=[version, p.ProjectionInfo.Version(state="building")],
    )
    table = t.TableInfo(
        projection="orders",
        version=9,
        table="orders",
        definition="{}",
        position=300,
        complete=True,
        state="live",
        error="why",
        fields=[
            t.TableField(name="order", type=1, role=1),
            t.TableField(name="total", type=2, nullable=True),
        ],
        figures=[t.TableInfo.Figure(name="rows", value=2)],
    )
    select = t.TableSelect(
        where="total > :t AND größe = ?1",
        parameters={"1": value(string="ä".encode()), "t": value(integer=-1)},
        fields=["order"],
        order_by=[
            t.TableOrder(field="total", descending=True),
            t.TableOrder(field="order"),
        ],
        limit=0,
        continue_from="ab",
    )
    values = [
        value(),
        value(boolean=False),
        value(integer=-(2**63)),
        value(number=-0.5),
        value(time_us=-1),
        value(string=NOT_TEXT),
    ]
    document = d.Document(
        aggregate=aggregate("order-1"),
        json='{"öffnet":true}'.encode(),
        version=4,
        position=300,
        problems=1,
        last_problem="position 300, Paid: ...",
    )
    return {
        "CreateIndexRequest": p.CreateIndexRequest(query=items()),
        "CreateValueIndexRequest": p.CreateValueIndexRequest(
            name="by-total",
            types=["Placed", "Paid"],
            source="metadata",
            path="$.items[0]['größe']",
            value="integer",
        ),
        "CreateProjectionRequest": p.CreateProjectionRequest(name="orders", kind="table", spec='{"fields":[]}'),
        "ChangeProjectionRequest": p.ChangeProjectionRequest(name="orders", spec="{}", expected=0),
        "ChangeProjectionRequest-whatever": p.ChangeProjectionRequest(name="orders", spec="{}"),
        "AskProjectionRequest": p.AskProjectionRequest(name="orders", ask=p.AskProjectionRequest.ASK_DROP),
        "ProjectionInfo": info,
        "ProjectionInfo-parts": p.ProjectionInfo(
            name="orders",
            kind="table",
            versions=[
                p.ProjectionInfo.Version(version=1, part=0, home=2),
                p.ProjectionInfo.Version(version=1, part=63),
            ],
        ),
        "ListProjectionsResponse": p.ListProjectionsResponse(projections=[info, p.ProjectionInfo(name="q00")]),
        "DescribeProjectionRequest": p.DescribeProjectionRequest(name="orders"),
        "ReadIndexRequest": p.ReadIndexRequest(
            name="q00",
            start=1,
            limit=0,
            backwards=True,
            at_least=at_least,
            version=9,
            events=True,
        ),
        "ReadIndexRequest-least": p.ReadIndexRequest(name="q00"),
        "IndexPage": p.IndexPage(
            entries=[
                p.IndexEntry(number=1, position=300, event=recorded()),
                p.IndexEntry(number=U64, position=302),
            ],
            count=2,
            watermark=306,
        ),
        "ReadValuesRequest-range": p.ReadValuesRequest(
            name="by-total",
            until="",
            after="00ff",
            limit=U32,
            backwards=True,
            at_least=at_least,
            version=9,
            events=True,
            **{"from": "-1"},
        ),
        "ReadValuesRequest-equal": p.ReadValuesRequest(name="by-total", equal="größe", to="z"),
        "ValuePage": p.ValuePage(
            entries=[
                p.ValueEntry(value='"größe"', position=300, event=recorded()),
                p.ValueEntry(value="-1.5", position=302),
            ],
            next="00ff",
            watermark=306,
        ),
        "WaitForProjectionRequest": p.WaitForProjectionRequest(name="orders", at_least=at_least),
        "WaitForProjectionResponse": p.WaitForProjectionResponse(position=300),
        "SelectRequest": t.SelectRequest(table="orders", select=select, version=9, at_least=at_least),
        "SelectResponse": t.SelectResponse(
            fields=["a", "b", "c", "d", "e", "f"],
            rows=[t.TableRow(values=values), t.TableRow(values=[value()] * 6)],
            next="ab",
            position=300,
            looked_at=7,
            types=[7, 4, 2, 3, 5, 6],
        ),
        "ExplainRequest": t.ExplainRequest(table="orders", select=t.TableSelect(where="total = 1"), version=9),
        "ExplainResponse": t.ExplainResponse(path=5, field="total", sorted=True, backwards=True),
        "DescribeTableRequest": t.DescribeTableRequest(table="orders", version=9),
        "TableInfo": table,
        "ListTablesResponse": t.ListTablesResponse(tables=[table]),
        "ListParkedRowsRequest": t.ListParkedRowsRequest(table="orders", after=300, limit=1),
        "ListParkedRowsResponse": t.ListParkedRowsResponse(
            parked=[
                t.ParkedRow(
                    position=300,
                    kind="unique",
                    type="Paid",
                    aggregate="order-1",
                    reason="größe",
                    attempts=2,
                )
            ]
        ),
        "ListParkedRowsResponse-part": t.ListParkedRowsResponse(parked=[t.ParkedRow(position=300, part=0)]),
        "SettleParkedRowsRequest": t.SettleParkedRowsRequest(table="orders", positions=[1, U64], discard=True),
        "SettleParkedRowsResponse": t.SettleParkedRowsResponse(position=301),
        "DefineDocumentsRequest": d.DefineDocumentsRequest(type="order", spec=b'{"events":{}}', expected=0),
        "DocumentDefinition": d.DocumentDefinition(type="order", spec=b'{"events":{}}', version=2, since=300),
        "GetDocumentRequest": d.GetDocumentRequest(aggregate=aggregate("order-1"), eventual=True, at_least=at_least),
        "Document": document,
        "ListDocumentsRequest": d.ListDocumentsRequest(
            type="order",
            after=NOT_TEXT,
            limit=2,
            filter="total >= 10",
            at_least=at_least,
        ),
        "ListDocumentsRequest-least": d.ListDocumentsRequest(type="order"),
        "ListDocumentsResponse": d.ListDocumentsResponse(documents=[document], next=b"", position=306),
        "ListDocumentsResponse-last": d.ListDocumentsResponse(position=306),
        "RemoveDocumentRequest": d.RemoveDocumentRequest(aggregate=aggregate("order-1")),
    }


def later() -> Dict[str, Message]:
    """Scheduled appends, and what of them is stored."""
    s, t = scheduled_pb2, store_pb2
    version = t.ExpectedVersion
    append = t.AppendRequest(
        events=[event(), event_pb2.Event(type="Audited", subject="ada")],
        expectations=[
            t.Expectation(
                aggregate=aggregate("order-1"),
                version=version(kind=version.KIND_EXACTLY, number=3),
            )
        ],
        conditions=[t.AppendCondition(query=items(), after=17)],
    )
    refusal = t.Error(
        code=t.ERROR_CODE_VERSION_CONFLICT,
        message='aggregate "order-1" is at version 4, the append expects 3',
        aggregate=aggregate("order-1"),
        expected=version(kind=version.KIND_EXACTLY, number=3),
        actual=4,
    )
    pending = s.ScheduledAppend(
        id="erinnerung-größe",
        state=s.SCHEDULED_STATE_PENDING,
        due_us=AT_US,
        scheduled_us=AT_US - 60_000_000,
        append=append,
        position=300,
    )
    appended = s.ScheduledAppend(
        id="b",
        state=s.SCHEDULED_STATE_APPENDED,
        due_us=AT_US,
        scheduled_us=AT_US - 1,
        settled_us=AT_US + 1,
        append=append,
        position=300,
        first_position=2**53 + 1,
        last_position=U64,
        duplicate=True,
    )
    return {
        "ScheduleRequest": s.ScheduleRequest(id="erinnerung-größe", due_us=AT_US, append=append, replace=True),
        "ScheduleRequest-after": s.ScheduleRequest(after_us=0, append=t.AppendRequest(events=[event()])),
        "ScheduledAppend-pending": pending,
        "ScheduledAppend-appended": appended,
        "ScheduledAppend-refused": s.ScheduledAppend(
            id="c",
            state=s.SCHEDULED_STATE_REFUSED,
            due_us=0,
            scheduled_us=AT_US,
            settled_us=AT_US,
            append=append,
            position=1,
            refusal=refusal,
        ),
        "ScheduledAppend-erased": s.ScheduledAppend(
            id="d",
            state=s.SCHEDULED_STATE_CANCELLED,
            scheduled_us=AT_US,
            settled_us=AT_US,
            position=2,
        ),
        "CancelScheduledRequest": s.CancelScheduledRequest(id="b"),
        "GetScheduledRequest": s.GetScheduledRequest(id="b", at_least=service_pb2.AtLeast(position=300, timeout_ms=0)),
        "ListScheduledRequest": s.ListScheduledRequest(
            all=True, after="b", limit=2, at_least=service_pb2.AtLeast(position=300)
        ),
        "ListScheduledRequest-least": s.ListScheduledRequest(),
        "ListScheduledResponse": s.ListScheduledResponse(scheduled=[pending, appended], next="1769860800123456:300"),
        "ListScheduledResponse-last": s.ListScheduledResponse(),
        "StoredSchedule": s.StoredSchedule(due_us=AT_US, append=append),
        "StoredSettlement": s.StoredSettlement(state=s.SCHEDULED_STATE_REFUSED, refusal=refusal),
        "StoredSettlement-appended": s.StoredSettlement(state=s.SCHEDULED_STATE_APPENDED),
    }


def write(folder: pathlib.Path) -> List[str]:
    made = {**messages(), **derived(), **later()}
    for name, message in made.items():
        (folder / f"{name}.bin").write_bytes(message.SerializeToString(deterministic=True))
        (folder / f"{name}.json").write_text(
            json_format.MessageToJson(message, ensure_ascii=False) + "\n",
            encoding="utf-8",
        )
    return sorted(made)


if __name__ == "__main__":
    print(
        len(write(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent)),
        "messages",
    )
