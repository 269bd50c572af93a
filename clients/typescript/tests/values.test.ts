// Ids, times, payloads, queries: what goes over the wire as what.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { create, fromBinary } from "@bufbuild/protobuf";

import { encodeAppend, type Append } from "../src/append.js";
import { decode, encode } from "../src/connection.js";
import { encodePayload } from "../src/event.js";
import { RecordedEventSchema } from "../src/gen/evershard/v1/event_pb.js";
import { AppendRequestSchema, ExpectedVersion_Kind, QuerySchema } from "../src/gen/evershard/v1/store_pb.js";
import { toNumber, toUint64, uuidText } from "../src/ids.js";
import {
  aggregateId,
  CorruptionError,
  EvershardError,
  InvalidArgumentError,
  newId,
  Query,
  RecordedEvent,
  splitAggregate,
  TooLargeError,
  type JsonValue,
} from "../src/index.js";
import { microseconds, timestampText } from "../src/timestamp.js";
import { root } from "./server.js";

/** The rows below a head line of docs/internals/ids.md; `\xNN` is a byte. */
function table(head: string): Buffer[][] {
  const lines = readFileSync(join(root, "docs/internals/ids.md"), "utf8").split("\n");
  const from = lines.indexOf(head) + 2;
  ok(from >= 2, head);
  const until = lines.findIndex((line, i) => i >= from && !line.startsWith("|"));
  return lines
    .slice(from, until)
    .map((line) =>
      [...line.matchAll(/`([^`]*)`/g)].map(([, cell]) =>
        Buffer.concat(
          cell!
            .split(/(\\x[0-9a-f]{2})/)
            .map((part) => (part.startsWith("\\x") ? Buffer.from(part.slice(2), "hex") : Buffer.from(part))),
        ),
      ),
    );
}

test("aggregate ids are split as docs/internals/ids.md says", () => {
  const rows = table("| text | type | value |");
  equal(rows.length, 16);
  for (const [text, type, value] of rows) {
    const parts = { type: type!.toString(), value: value!.toString() };
    deepEqual(splitAggregate(text!), parts);
    deepEqual(splitAggregate(text!.toString()), parts);
    equal(aggregateId(parts.type, parts.value), text!.toString());
  }
});

test("aggregate ids are refused as docs/internals/ids.md says", () => {
  const rows = table("| text | code | because |");
  equal(rows.length, 11);
  for (const [text, code, because] of rows) {
    throws(
      () => splitAggregate(text!),
      (error) =>
        error instanceof EvershardError &&
        error.code === code!.toString() &&
        error.message.includes(because!.toString()),
      text!.toString(),
    );
  }
  throws(() => splitAggregate(`${"t".repeat(129)}-1`), TooLargeError);
  throws(() => splitAggregate(`t-${"ü".repeat(257)}`), TooLargeError);
  throws(() => splitAggregate("order-\ud800"), InvalidArgumentError);
  throws(() => aggregateId("or-der", "1"), InvalidArgumentError);
  deepEqual(splitAggregate(`t-${"v".repeat(512)}`).value.length, 512);
});

test("times are microseconds, in both directions", () => {
  for (const [text, us] of [
    ["2026-01-31T12:00:00.123456Z", 1_769_860_800_123_456n],
    ["1970-01-01T00:00:00.000000Z", 0n],
    ["1969-12-31T23:59:59.999999Z", -1n],
    ["0001-01-01T00:00:00.000000Z", -62_135_596_800_000_000n],
    ["9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999n],
  ] as const) {
    equal(microseconds(text, "t"), us);
    equal(timestampText(us), text);
  }
  equal(microseconds("2026-01-31T13:30:00+01:30", "t"), microseconds("2026-01-31T12:00:00Z", "t"));
  equal(microseconds("2026-01-31T12:00:00.1234569z", "t"), 1_769_860_800_123_456n);
  equal(microseconds(new Date("2026-01-31T12:00:00.123Z"), "t"), 1_769_860_800_123_000n);
  equal(timestampText(253_402_300_800_000_000n), "253402300800000000us");
  for (const bad of [
    "",
    "2026-01-31",
    "2026-02-30T00:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:00:60Z",
    "2026-01-31T12:00:00",
    "2026-01-31T12:00:00+24:00",
    "0000-12-31T23:59:59Z",
    "0001-01-01T00:00:00+00:01",
  ]) {
    throws(() => microseconds(bad, "t"), InvalidArgumentError, bad);
  }
  throws(() => microseconds(new Date(NaN), "t"), InvalidArgumentError);
});

test("numbers are exact or refused", () => {
  equal(toNumber(BigInt(Number.MAX_SAFE_INTEGER)), Number.MAX_SAFE_INTEGER);
  throws(() => toNumber(2n ** 53n), RangeError);
  for (const bad of [-1, 0.5, 2 ** 53, NaN, Infinity])
    throws(() => toUint64(bad, "after"), InvalidArgumentError, `${bad}`);
});

test("payloads are bytes, text or JSON", () => {
  const bytes = new Uint8Array([0, 255]);
  deepEqual(encodePayload(bytes, "p"), { bytes, format: 0 });
  deepEqual(encodePayload("zwölf", "p"), { bytes: new TextEncoder().encode("zwölf"), format: 3 });
  for (const value of [{ total: 12 }, [1, 2], 12, true, null])
    deepEqual(encodePayload(value, "p"), { bytes: new TextEncoder().encode(JSON.stringify(value)), format: 1 });
  deepEqual(encodePayload(undefined, "p"), { bytes: new Uint8Array(), format: 0 });
  const round: Record<string, unknown> = {};
  round["self"] = round;
  for (const bad of [round, { big: 1n }, () => 1, "\udfff"])
    throws(() => encodePayload(bad as JsonValue, "p"), InvalidArgumentError);
});

test("an append holds what was given, and makes its own ids", () => {
  const event = {
    aggregate: "order-1",
    type: "Placed",
    tags: new Set(["b", "a"]),
    also: ["customer-7"],
    payload: { total: 12 },
    metadata: { by: "me" },
    occurredAt: "2026-01-31T12:00:00.000001Z",
  };
  const append: Append = {
    events: [event, { type: "Audited", id: "00010203-0405-4607-8809-0A0B0C0D0E0F", payload: "{}", payloadFormat: 1 }],
    expect: { "order-1": 3, "order-2": "none", "order-3": "exists", "order-4": "any" },
    failIf: [{ query: Query.tags("a"), after: 17 }, { query: Query.all }],
    snapshots: [{ aggregate: "order-1", payload: { open: true }, schemaRevision: 2, keep: 0, ttlS: 60 }],
    command: { aggregate: "order-1", id: "txn-1", reply: new Uint8Array([1]) },
    conflictsMax: 5,
    ack: "durable",
  };
  const request = fromBinary(AppendRequestSchema, encodeAppend(append).bytes);
  const [first, second] = request.events;
  match(uuidText(first!.id), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  equal(uuidText(second!.id), "00010203-0405-4607-8809-0a0b0c0d0e0f");
  deepEqual(
    [
      first!.aggregate!.type,
      first!.aggregate!.value,
      first!.tags,
      first!.also[0]!.value,
      first!.payloadFormat,
      first!.occurredAtUs,
    ],
    ["order", "1", ["b", "a"], "7", 1, 1_769_860_800_000_001n],
  );
  deepEqual([second!.aggregate, second!.payloadFormat, second!.occurredAtUs], [undefined, 1, undefined]);
  deepEqual(
    request.expectations.map(({ version }) => [version!.kind, version!.number]),
    [
      [ExpectedVersion_Kind.EXACTLY, 3n],
      [ExpectedVersion_Kind.NONE, 0n],
      [ExpectedVersion_Kind.EXISTS, 0n],
      [ExpectedVersion_Kind.ANY, 0n],
    ],
  );
  deepEqual(
    request.conditions.map(({ query, after }) => [query!.all, query!.items.length, after]),
    [
      [false, 1, 17n],
      [true, 0, 0n],
    ],
  );
  deepEqual(
    request.snapshots.map((s) => [s.version, s.payloadFormat, s.schemaRevision, s.keep, s.ttlS]),
    [[0n, 1, 2, 0, 60n]],
  );
  deepEqual(
    [
      Buffer.from(request.command!.id).toString(),
      [...request.command!.reply],
      request.conflictsMax,
      request.ack,
      request.requestId.length,
    ],
    ["txn-1", [1], 5, 1, 0],
  );
});

test("a request that is named leaves its events' ids to be made from the name", () => {
  const requestId = newId();
  const request = fromBinary(
    AppendRequestSchema,
    encodeAppend({ events: [{ type: "A" }, { type: "B", id: newId() }], requestId }).bytes,
  );
  deepEqual(
    [uuidText(request.requestId), request.events[0]!.id.length, request.events[1]!.id.length],
    [requestId, 0, 16],
  );
});

test("what cannot be sent as it is, is refused before it is sent", () => {
  for (const bad of [
    { events: [{ type: "A", id: "1" }] },
    { events: [{ type: "A", aggregate: "order" }] },
    { events: [{ type: "\ud800" }] },
    { events: [{ type: "A", tags: ["\udc00"] }] },
    { events: [{ type: "A", payloadFormat: -1 }] },
    { events: [{ type: 7 }] },
    { events: [{ type: "A" }], expect: { "order-1": "some" } },
    { events: [{ type: "A" }], expect: { "order-1": 1.5 } },
    { events: [{ type: "A" }], requestId: "x" },
    { events: [{ type: "A" }], failIf: { query: Query.all, after: -1 } },
  ]) {
    throws(() => encodeAppend(bad as Append), InvalidArgumentError, JSON.stringify(bad));
  }
});

test("queries are built item by item and never change", () => {
  const base = Query.types("A");
  const query = base.types("B").tags("x", "y").or().concerning("order-1").or().tags("z");
  deepEqual(query.toJSON(), {
    items: [{ types: ["A", "B"], tags: ["x", "y"] }, { concerning: ["order-1"] }, { tags: ["z"] }],
  });
  deepEqual(base.toJSON(), { items: [{ types: ["A"] }] });
  deepEqual(Query.all.toJSON(), { all: true });
  const message = create(QuerySchema, query.message());
  deepEqual(
    message.items.map((item) => [item.types, item.tags, item.concerning.map((id) => `${id.type}/${id.value}`)]),
    [
      [["A", "B"], ["x", "y"], []],
      [[], [], ["order/1"]],
      [[], ["z"], []],
    ],
  );
  equal(create(QuerySchema, Query.all.message()).all, true);
});

test("an event shows itself as JSON, whatever its payload is", () => {
  const event = new RecordedEvent(
    create(RecordedEventSchema, {
      position: 18n,
      shard: 3,
      offset: 7n,
      id: new Uint8Array(16),
      aggregate: { type: "order", value: "1" },
      seqNr: 1n,
      type: "Placed",
      tags: ["\ufeffx"],
      payload: new TextEncoder().encode('{"total":12}'),
      payloadFormat: 1,
      metadata: new Uint8Array([255]),
      occurredAtUs: 1n,
    }),
  );
  deepEqual(JSON.parse(JSON.stringify(event)), {
    position: 18,
    shard: 3,
    offset: 7,
    id: "00000000-0000-0000-0000-000000000000",
    aggregate: "order-1",
    seq_nr: 1,
    type: "Placed",
    tags: ["\ufeffx"],
    payload: { total: 12 },
    payload_format: 1,
    metadata: "/w==",
    metadata_encoding: "base64",
    occurred_at: "1970-01-01T00:00:00.000001Z",
  });
  deepEqual([event.json(), event.appendEvents, event.state], [{ total: 12 }, 1, "live"]);
  const again = decode(RecordedEventSchema, encode(RecordedEventSchema, { type: "\ufeffT" }));
  equal(again.type, "\ufeffT");
  throws(() => decode(RecordedEventSchema, new Uint8Array([0x08])), CorruptionError);
});
