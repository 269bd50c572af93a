// Scheduled appends: against a real server, and against one that does as told.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { fromBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { ScheduledAppendSchema, ScheduleRequestSchema } from "../src/gen/evershard/v1/scheduled_pb.js";
import {
  ConditionFailedError,
  connect,
  InvalidArgumentError,
  newId,
  NotFoundError,
  OutcomeUnknownError,
  PermissionDeniedError,
  Query,
  TooLargeError,
  VersionConflictError,
  type Client,
  type ScheduledAppend,
} from "../src/index.js";
import { scheduledOf } from "../src/scheduled.js";
import { FakeServer, type Answer } from "./fake_server.js";
import { onlyServe, refused, root, Server } from "./server.js";

const hourMs = 3_600_000;
let server: Server;
let client: Client;

before(async () => {
  server = await Server.start();
  client = connect(server.address);
});
after(async () => {
  client?.close();
  await server?.[Symbol.asyncDispose]();
});

async function settled(id: string): Promise<ScheduledAppend> {
  for (let tries = 0; tries < 2_000; ++tries) {
    const there = await client.getScheduled(id);
    if (there.state !== "pending") return there;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${id} is never made`);
}

async function ids(listed: AsyncIterable<ScheduledAppend>): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of listed) found.push(id);
  return found;
}

test("an append is made when it is due", onlyServe, async () => {
  const tag = newId();
  const id = newId();
  const waits = await client.schedule({
    events: [
      { aggregate: `order-${tag}`, type: "Reminded", tags: [tag], payload: { n: 1 }, id },
      { type: "Noted", tags: [tag], payload: new Uint8Array([0, 255]) },
    ],
    expect: { [`order-${tag}`]: "none" },
    afterMs: 300,
  });
  equal(waits.state, "pending");
  ok(new Date(waits.due!).getTime() - new Date(waits.scheduledAt).getTime() >= 200);
  deepEqual(
    [waits.settledAt, waits.firstPosition, waits.refusal, waits.duplicate],
    [undefined, undefined, undefined, false],
  );
  deepEqual(waits.append!.events[0]!.json(), { n: 1 });
  equal(waits.append!.events[1]!.id, undefined);

  const done = await settled(waits.id);
  equal(done.state, "appended");
  equal(done.lastPosition, done.firstPosition! + 1);
  ok(done.settledAt! >= done.due!);
  equal((await client.eventAt(done.firstPosition!)).id, id);
  deepEqual(
    (await client.read(Query.tags(tag)).toArray()).map(({ type }) => type),
    ["Reminded", "Noted"],
  );
});

test("what it expects is checked when it is due", onlyServe, async () => {
  const order = `order-${newId()}`;
  await client.append({ events: [{ aggregate: order, type: "Placed" }] });
  const events = [{ aggregate: order, type: "Closed" }];
  const { id } = await client.schedule({ events, expect: { [order]: 7 }, afterMs: 0 });
  const late = await settled(id);
  equal(late.state, "refused");
  ok(late.refusal instanceof VersionConflictError);
  deepEqual([late.refusal.aggregate, late.refusal.expected, late.refusal.actual], [order, 7, 1]);
  const met = await client.schedule({ events, failIf: { query: Query.concerning(order) }, due: new Date() });
  ok((await settled(met.id)).refusal instanceof ConditionFailedError);
  await refused(ConditionFailedError, client.cancelScheduled(met.id));
});

test("the same id and append are scheduled once", onlyServe, async () => {
  const order = {
    id: newId(),
    events: [{ aggregate: "order-1", type: "R", also: ["c-1"], payload: "text", metadata: { by: "me" }, subject: "" }],
    expect: { "order-1": "any", "order-2": 3 },
    failIf: [{ query: Query.types("A").tags("t").or().concerning("order-1") }, { query: Query.all, after: 1_000_000 }],
    due: new Date(Date.now() + hourMs),
  } as const;
  const first = await client.schedule(order);
  const again = await client.schedule(order); // its events have no ids: any process may ask
  deepEqual(again, { ...first, duplicate: true });
  equal(new Date(first.due!).getTime(), order.due.getTime());
  deepEqual(first.append!.expect, order.expect);
  deepEqual(first.append!.failIf, [{ ...order.failIf[0], after: 0 }, order.failIf[1]]);
  await refused(VersionConflictError, client.schedule({ ...order, events: [{ type: "Other" }] }));

  const due = new Date(Date.now() + 2 * hourMs);
  const moved = await client.schedule({ id: order.id, ...first.append!, due, replace: true });
  equal(new Date(moved.due!).getTime(), due.getTime());
  equal(moved.duplicate, false);
  equal((await client.cancelScheduled(order.id)).state, "cancelled");
  deepEqual(await client.cancelScheduled(order.id), await client.getScheduled(order.id));
  await refused(VersionConflictError, client.schedule({ ...order, replace: true, due: new Date() }));
  deepEqual(JSON.parse(JSON.stringify(first.append!.events)), [
    {
      aggregate: "order-1",
      type: "R",
      also: ["c-1"],
      payload: "dGV4dA==",
      payload_encoding: "base64",
      payload_format: 3,
      metadata: { by: "me" },
    },
  ]);
});

test("they are listed page by page", onlyServe, async () => {
  await using own = await Server.start();
  await using store = connect(own.address);
  deepEqual(await ids(store.listScheduled()), []);
  const begin = Date.now() + hourMs;
  const names = Array.from({ length: 205 }, (_, n) => `${n}`.padStart(3, "0"));
  for (const [n, id] of names.entries())
    await store.schedule({ id, events: [{ type: "R" }], due: new Date(begin - n * 1_000) });
  await store.cancelScheduled("100");
  const pending = names.filter((id) => id !== "100").reverse();
  deepEqual(await ids(store.listScheduled()), pending);
  deepEqual(await ids(store.listScheduled({ all: true })), names);
  deepEqual(await ids(store.listScheduled({ limit: 103 })), pending.slice(0, 103));
});

test("what cannot be scheduled is refused", onlyServe, async () => {
  const events = [{ type: "R" }];
  for (const order of [
    { events },
    { events, afterMs: 1, due: new Date() },
    { events, afterMs: -1 },
    { events, due: "soon" },
    { events, afterMs: 1, id: "" },
    { events, afterMs: hourMs, id: "a\0b" },
  ])
    await refused(InvalidArgumentError, client.schedule(order));
  await refused(TooLargeError, client.schedule({ events, afterMs: hourMs, id: "x".repeat(201) }));
  await refused(NotFoundError, client.getScheduled("nobody"));
  await refused(NotFoundError, client.cancelScheduled("nobody"));
});

test("whoever may only read schedules nothing", onlyServe, async () => {
  await using guarded = await Server.start({
    tokens: "anna read reader-0123456789\nbert read,append writer-0123456789\n",
  });
  await using writer = connect(guarded.address, { token: "writer-0123456789" });
  await using reader = connect(guarded.address, { token: "reader-0123456789" });
  await writer.schedule({ id: "r", events: [{ type: "R" }], afterMs: hourMs });
  deepEqual(await ids(reader.listScheduled()), ["r"]);
  await refused(PermissionDeniedError, reader.cancelScheduled("r"));
  await refused(PermissionDeniedError, reader.schedule({ events: [{ type: "R" }], afterMs: hourMs }));
});

const broken: Answer = { code: status.UNAVAILABLE, text: "Connection dropped" };

test("it is sent again with the same bytes", async () => {
  await using fake = await FakeServer.start((_, nr) => (nr < 2 ? broken : { appended: {} }));
  await using store = connect(fake.address);
  await store.schedule({ events: [{ type: "R" }], afterMs: hourMs });
  equal(fake.requests.length, 3);
  for (const request of fake.requests) deepEqual(request, fake.requests[0]);
  const sent = fromBinary(ScheduleRequestSchema, fake.requests[0]!);
  equal(sent.id.length, 36);
  deepEqual(sent.when, { case: "afterUs", value: 3_600_000_000n });
  deepEqual([sent.append!.requestId.length, sent.append!.events[0]!.id.length], [0, 0]);
});

test("without an answer its id tells what to ask for", async () => {
  await using fake = await FakeServer.start(() => broken);
  await using store = connect(fake.address, { timeoutMs: 500 });
  const error = await refused(OutcomeUnknownError, store.schedule({ events: [{ type: "R" }], afterMs: hourMs }));
  equal(error.scheduleId, fromBinary(ScheduleRequestSchema, fake.requests[0]!).id);
  await rejects(store.schedule({ id: "r", events: [{ type: "R" }], afterMs: hourMs }), { scheduleId: "r" });
});

test("one whose subject was erased has no append", () => {
  const golden = (name: string) =>
    scheduledOf(
      fromBinary(ScheduledAppendSchema, readFileSync(join(root, `tests/golden/wire/ScheduledAppend-${name}.bin`))),
    );
  const erased = golden("erased");
  deepEqual([erased.state, erased.due, erased.append], ["cancelled", undefined, undefined]);
  const late = golden("refused");
  deepEqual([late.due, late.refusal?.details.actual], ["1970-01-01T00:00:00.000000Z", 4]);
});
