// Everything a client does, against a real server.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { getEventListeners } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  CancelledError,
  ConditionFailedError,
  connect,
  DuplicateEventError,
  InvalidArgumentError,
  InvalidQueryError,
  newId,
  NotFoundError,
  OutcomeUnknownError,
  Query,
  TimeoutError,
  TooLargeError,
  VersionConflictError,
  type Append,
  type Client,
  type Outcome,
} from "../src/index.js";
import { onlyServe, refused, Server, temporaryDirectory } from "./server.js";

let server: Server;
let client: Client;
let number = 0;
/** An aggregate, and a tag, of this test alone. */
const fresh = (): string => `order-${++number}`;

before(async () => {
  server = await Server.start();
  client = connect(server.address);
});
after(async () => {
  client?.close();
  await server?.[Symbol.asyncDispose]();
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("what was appended is read as it was given", async () => {
  const order = fresh();
  const id = newId();
  const done = await client.append({
    events: [
      {
        aggregate: order,
        type: "Placed",
        id,
        tags: ["b", "a", "\ufeffbom", "größe:9"],
        also: ["customer-7"],
        payload: { total: 12 },
        metadata: { by: "me" },
        occurredAt: "2026-01-31T12:00:00.123456Z",
      },
      { type: "Audited", payload: new Uint8Array([0, 255]) },
      { aggregate: order, type: "Noted", payload: "zwölf 🛒" },
    ],
    expect: { [order]: "none" },
  });
  deepEqual([done.lastPosition - done.firstPosition, done.versions, done.duplicate], [2, { [order]: 2 }, false]);
  ok(done.watermark >= done.lastPosition);

  const [placed, noted] = await client.readAggregate(order).toArray();
  const audited = await client.eventAt(done.firstPosition + 1);
  deepEqual(
    [
      placed!.position,
      placed!.id,
      placed!.aggregate,
      placed!.seqNr,
      placed!.tags,
      placed!.also,
      placed!.json(),
      placed!.payloadFormat,
      Buffer.from(placed!.metadata!).toString(),
      placed!.occurredAt,
    ],
    [
      done.firstPosition,
      id,
      order,
      1,
      ["a", "b", "größe:9", "\ufeffbom"],
      ["customer-7"],
      { total: 12 },
      1,
      '{"by":"me"}',
      "2026-01-31T12:00:00.123456Z",
    ],
  );
  deepEqual(
    [noted!.seqNr, noted!.text(), noted!.payloadFormat, noted!.appendIndex, noted!.appendEvents],
    [2, "zwölf 🛒", 3, 2, 3],
  );
  deepEqual(
    [audited.aggregate, audited.seqNr, audited.payload, audited.payloadFormat, audited.state],
    [undefined, 0, new Uint8Array([0, 255]), 0, "live"],
  );
});

test("the same append again is answered with what was stored", async () => {
  const order = fresh();
  const append: Append = {
    events: [{ aggregate: order, type: "Placed" }],
    expect: { [order]: "none" },
    requestId: newId(),
  };
  const first = await client.append(append);
  const { watermark: _, ...again } = await client.append(append);
  deepEqual(again, {
    firstPosition: first.firstPosition,
    lastPosition: first.lastPosition,
    versions: first.versions,
    duplicate: true,
  });

  const id = newId();
  await client.append({ events: [{ type: "A", id }] });
  equal((await client.append({ events: [{ type: "A", id }] })).duplicate, true);
  const error = await refused(DuplicateEventError, client.append({ events: [{ type: "B", id }] }));
  equal((await client.eventAt(error.position!)).id, id);
});

test("conflicts are errors with what decided them", async () => {
  const order = fresh();
  const { firstPosition } = await client.append({
    events: [{ aggregate: order, type: "Placed", tags: [order], payload: { n: 1 } }],
  });
  await client.append({
    events: Array.from({ length: 30 }, (_, n) => ({
      aggregate: order,
      type: "Changed",
      tags: [order],
      payload: { n },
    })),
  });

  const version = await refused(
    VersionConflictError,
    client.append({ events: [{ aggregate: order, type: "X" }], expect: { [order]: 7 } }),
  );
  deepEqual([version.aggregate, version.expected, version.actual], [order, 7, 31]);
  equal(
    (
      await refused(
        VersionConflictError,
        client.append({ events: [{ aggregate: order, type: "X" }], expect: { [order]: "none" } }),
      )
    ).expected,
    "none",
  );
  equal(
    (
      await refused(
        VersionConflictError,
        client.append({ events: [{ aggregate: fresh(), type: "X" }], expect: { [`order-${number}`]: "exists" } }),
      )
    ).actual,
    0,
  );

  const failIf = [
    { query: Query.types("Nothing").tags("never") },
    { query: Query.tags(order).or().types("Blocked"), after: firstPosition },
  ];
  const condition = await refused(
    ConditionFailedError,
    client.append({ events: [{ type: "X" }], failIf, conflictsMax: 1_000 }),
  );
  deepEqual([condition.condition, condition.position], [1, firstPosition + 1]);
  ok(condition.conflicts.length >= 20, `${condition.conflicts.length}`);
  deepEqual(
    condition.conflicts.map((event) => [event.position, event.json()]),
    condition.conflicts.map((_, n) => [firstPosition + 1 + n, { n }]),
  );
  equal((await refused(ConditionFailedError, client.append({ events: [{ type: "X" }], failIf }))).conflicts.length, 0);
  ok(await client.append({ events: [{ type: "X" }], failIf: { query: Query.tags(order), after: firstPosition + 30 } }));
});

test("what the server refuses is refused in its words", async () => {
  const invalid = await refused(InvalidArgumentError, client.append({ events: [] }));
  ok(invalid.message.length > 10);
  await refused(InvalidArgumentError, client.append({ events: [{ type: "" }] }));
  await refused(TooLargeError, client.append({ events: [{ type: "t".repeat(256) }] }));
  await refused(TooLargeError, client.append({ events: [{ type: "A", payload: new Uint8Array((1 << 20) + 1) }] }));
  await refused(TooLargeError, client.append({ events: [{ type: "A", payload: new Uint8Array(30 << 20) }] }));
  await refused(InvalidQueryError, client.read(Query.of({})).toArray());
  await refused(InvalidQueryError, client.read(Query.of()).toArray());
  await refused(InvalidQueryError, collect(client.subscribe(Query.of())));
  await refused(NotFoundError, client.eventAt(1_000_000));
  await refused(NotFoundError, client.aggregate("nobody-1"));
  await refused(NotFoundError, client.putSnapshot({ aggregate: "nobody-1", version: 1, payload: "s" }));
  await refused(InvalidArgumentError, collect(client.subscribe(Query.all, { heartbeatMs: 1 })));
  equal((await client.readAggregate("nobody-1").toArray()).length, 0);
});

test("a payload of 1 MiB comes back as it was", async () => {
  const payload = new Uint8Array(1 << 20).map((_, i) => (i * 31) & 255);
  const { firstPosition } = await client.append({ events: [{ type: "Big", payload }] });
  deepEqual((await client.eventAt(firstPosition)).payload, payload);
});

test("reads go both ways, within their bounds", async () => {
  const order = fresh();
  const { firstPosition: p } = await client.append({
    events: Array.from({ length: 10 }, (_, i) => ({ aggregate: order, type: i % 2 ? "Odd" : "Even", tags: [order] })),
  });
  const positions = async (options: object, query = Query.tags(order)) =>
    (await client.read(query, options).toArray()).map((event) => event.position - p);
  deepEqual(await positions({}), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  deepEqual(await positions({ after: p + 2, before: p + 6 }), [3, 4, 5]);
  deepEqual(await positions({ upTo: p + 3 }), [0, 1, 2, 3]);
  deepEqual(await positions({ limit: 2, backwards: true }), [9, 8]);
  deepEqual(await positions({ limit: 0 }), []);
  deepEqual(
    await positions({}, Query.types("Odd").tags(order).or().concerning(order).types("Nothing")),
    [1, 3, 5, 7, 9],
  );
  const numbers = async (options: object) =>
    (await client.readAggregate(order, options).toArray()).map((event) => event.seqNr);
  deepEqual(await numbers({ from: 4, limit: 3 }), [4, 5, 6]);
  deepEqual(await numbers({ backwards: true, limit: 2 }), [10, 9]);
  deepEqual(await numbers({ from: 2, backwards: true }), [2, 1]);
  deepEqual(await numbers({ upTo: p + 1 }), [1, 2]);
  const reading = client.read(Query.tags(order));
  equal(reading.watermark, undefined);
  await reading.toArray();
  ok(reading.watermark! >= p + 9);
});

test("the position at a time", async () => {
  await using own = await Server.start();
  const client = connect(own.address);
  try {
    const at = (hour: number): string => `2026-01-31T${hour}:00:00.000000Z`;
    await client.append({ events: [{ type: "A", occurredAt: at(12) }] });
    await client.append({
      events: [
        { type: "A", occurredAt: at(13) },
        { type: "B", occurredAt: at(13) },
      ],
    });
    equal(await client.positionAt(at(11)), 0);
    equal(await client.positionAt(new Date(at(12))), 1);
    equal(await client.positionAt(at(13), { atLeast: 3 }), 3);
    equal(await client.positionAt("9999-01-01T00:00:00Z"), 3);
    await rejects(client.positionAt("yesterday"), InvalidArgumentError);
  } finally {
    client.close();
  }
});

test("at_least waits for what is written, no longer than it may", async () => {
  const head = await client.head();
  const waiting = client.head({ atLeast: head + 1 });
  const reading = client.read(Query.all, { after: head, atLeast: head + 1 }).toArray();
  const { lastPosition } = await client.append({ events: [{ type: "A" }] });
  ok((await waiting) >= lastPosition);
  ok((await reading).length >= 1);
  equal((await client.eventAt(lastPosition, { atLeast: lastPosition })).position, lastPosition);
  await refused(TimeoutError, client.head({ atLeast: lastPosition + 1_000_000, atLeastTimeoutMs: 50 }));
  await refused(TimeoutError, client.head({ atLeast: lastPosition + 1_000_000, timeoutMs: 50 }));
  await refused(
    TimeoutError,
    client.read(Query.all, { atLeast: lastPosition + 1_000_000, atLeastTimeoutMs: 50 }).toArray(),
  );
  await refused(TimeoutError, client.read(Query.all, { atLeast: lastPosition + 1_000_000, timeoutMs: 50 }).toArray());
});

test("10,000 appends in flight, each with its own outcome, in order; then they are read", async () => {
  const kind = fresh().slice(6);
  let taken = 0;
  const outcomes: Outcome[] = [];
  function* appends(): Generator<Append> {
    for (let i = 0; i < 10_000; ++i) {
      taken += 1;
      if (i === 5_000)
        yield { events: [{ type: "\ud800" }] }; // refused here
      else if (i === 6_000)
        yield { events: [{ aggregate: `many${kind}-1`, type: "T" }], expect: { [`many${kind}-1`]: "none" } }; // refused there
      else
        yield { events: [{ aggregate: `many${kind}-${i % 100}`, type: "T", tags: [`many:${kind}`], payload: { i } }] };
    }
  }
  for await (const outcome of client.appendMany(appends(), { inFlightMax: 200 })) {
    outcomes.push(outcome);
    ok(taken - outcomes.length <= 200, "no more are taken than may be in flight");
  }
  equal(outcomes.length, 10_000);
  ok(outcomes[5_000]!.error instanceof InvalidArgumentError);
  ok(outcomes[6_000]!.error instanceof VersionConflictError);
  equal(outcomes.filter(({ error }) => error).length, 2);

  const events = await client.read(Query.tags(`many:${kind}`)).toArray();
  deepEqual(
    events.map((event) => event.json<{ i: number }>().i),
    Array.from({ length: 10_000 }, (_, i) => i).filter((i) => i !== 5_000 && i !== 6_000),
  );
  const positions = outcomes.flatMap(({ appended }) => (appended ? [appended.firstPosition] : []));
  deepEqual(
    events.map(({ position }) => position),
    positions,
  );
});

test("who does not take outcomes is not given more room; who leaves ends it", async () => {
  let taken = 0;
  let returned = false;
  async function* endless(): AsyncGenerator<Append> {
    try {
      for (;;) {
        taken += 1;
        yield { events: [{ type: "Endless", payload: new Uint8Array(1_000) }] };
      }
    } finally {
      returned = true;
    }
  }
  for await (const outcome of client.appendMany(endless(), { inFlightMax: 50 })) {
    ok(outcome.appended);
    await new Promise((resolve) => setTimeout(resolve, 100));
    equal(taken, 51); // one more was asked for when the first one's outcome was taken
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  ok(returned, "the source is told");

  for await (const _ of client.appendMany(endless(), { inFlightBytesMax: 10_000 })) break;
  ok(taken < 51 + 20, `${taken}`);
});

test("what the source of appends throws comes when what it gave before is answered", async () => {
  const outcomes: Outcome[] = [];
  function* source(): Generator<Append> {
    for (let i = 0; i < 20; ++i) yield { events: [{ type: "A" }] };
    throw new SyntaxError("line 21");
  }
  await rejects(async () => {
    for await (const outcome of client.appendMany(source())) outcomes.push(outcome);
  }, /line 21/);
  deepEqual(
    outcomes.map(({ appended }) => appended !== undefined),
    Array(20).fill(true),
  );
  deepEqual(await collect(client.appendMany([])), []);
});

test("reads and streams of appends are cancelled by their signal, or by leaving the loop", async () => {
  const controller = new AbortController();
  let seen = 0;
  await refused(
    CancelledError,
    (async () => {
      for await (const _ of client.read(Query.all, { signal: controller.signal }))
        if (++seen === 10) controller.abort();
    })(),
  );
  ok(seen >= 10 && seen < 5_000, `${seen}`);
  for await (const _ of client.read()) break;
  const slow = new AbortController();
  setTimeout(() => slow.abort(), 50);
  await refused(
    CancelledError,
    collect(
      client.appendMany(
        (async function* () {
          await new Promise(() => setTimeout(() => {}, 1));
        })(),
        { signal: slow.signal },
      ),
    ),
  );
  await refused(
    CancelledError,
    client.read(Query.all, { atLeast: 1_000_000_000, signal: AbortSignal.timeout(50) }).toArray(),
  );
});

test("a signal that lives long gathers no listeners", async () => {
  const { signal } = new AbortController();
  for (let i = 0; i < 5; ++i) {
    await client.head({ signal });
    await refused(NotFoundError, client.eventAt(1_000_000, { signal }));
    for await (const _ of client.read(Query.all, { signal })) break;
    for await (const _ of client.subscribe(Query.all, { after: 0, signal })) break;
    await collect(client.appendMany([{ events: [{ type: "A" }] }], { signal }));
  }
  equal(getEventListeners(signal, "abort").length, 0);
});

test("a slow reader gets everything, one page after the other", async () => {
  let seen = 0;
  let last = 0;
  for await (const event of client.read(Query.types("T"))) {
    ok(event.position > last);
    last = event.position;
    if (++seen % 2_000 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
  }
  equal(seen, 9_998);
});

test("the directory is listed page by page", async () => {
  const type = `dir${fresh().slice(6)}`;
  await collect(
    client.appendMany(
      Array.from({ length: 25 }, (_, i) => ({
        events: [
          { aggregate: `${type}-${String(i).padStart(2, "0")}`, type: "A" },
          { aggregate: `${type}-${String(i).padStart(2, "0")}`, type: "B" },
        ],
      })),
    ),
  );
  const all = await collect(client.aggregates({ type, pageAggregatesMax: 10 }));
  deepEqual(
    all.map((info) => [info.aggregate, info.version]),
    Array.from({ length: 25 }, (_, i) => [`${type}-${String(i).padStart(2, "0")}`, 2]),
  );
  equal((await collect(client.aggregates({ type, after: `${type}-20` }))).length, 4);
  deepEqual(await client.aggregate(`${type}-07`), all[7]);
  equal((await client.aggregate(`${type}-07`, { upTo: all[7]!.lastPosition - 1 })).version, 1);
  await refused(InvalidArgumentError, collect(client.aggregates({ pageAggregatesMax: 0 })));
});

test("snapshots are put, with an append and alone, found and listed", async () => {
  const order = fresh();
  equal(await client.snapshot(order), undefined);
  const first = await client.append({
    events: [
      { aggregate: order, type: "A" },
      { aggregate: order, type: "B" },
    ],
    snapshots: [{ aggregate: order, payload: { v: 2 }, schemaRevision: 3, keep: 5 }],
  });
  await client.append({ events: [{ aggregate: order, type: "C" }] });
  await client.putSnapshot({ aggregate: order, version: 3, payload: "three", keep: 5, ttlS: 3_600 });

  const latest = await client.snapshot(order);
  deepEqual(
    [latest!.version, latest!.text(), latest!.payloadFormat, latest!.latest, latest!.aggregate],
    [3, "three", 3, true, order],
  );
  const second = await client.snapshot(order, { atOrBefore: 2 });
  deepEqual(
    [second!.version, second!.json(), second!.schemaRevision, second!.position],
    [2, { v: 2 }, 3, first.lastPosition],
  );
  equal((await client.snapshot(order, { upTo: first.lastPosition }))!.version, 2);
  ok((await client.snapshots(order)).length >= 2);
  await refused(InvalidArgumentError, client.snapshot(order, { atOrBefore: 2, upTo: 3 }));
});

test("a command's id and reply are stored with its events", async () => {
  const order = fresh();
  const command = { aggregate: order, id: "txn-1", reply: new Uint8Array([1, 2]) };
  const append: Append = { events: [{ aggregate: order, type: "A", id: newId() }], command };
  equal((await client.append(append)).duplicate, false);
  equal((await client.append(append)).duplicate, true);
});

test("operators see figures, seal, verify, vacuum and back up", async () => {
  const stats = await client.admin.stats();
  deepEqual([stats.watermark, stats.shards > 0, stats.storeId.length > 0], [await client.head(), true, true]);
  JSON.stringify(stats);
  await client.admin.flush();
  const progress: number[][] = [];
  const report = await client.admin.verify({ onProgress: (done, total) => progress.push([done, total]) });
  deepEqual([report.errors, report.findings, report.events], [0, [], stats.watermark]);
  await client.admin.vacuum();
  const target = join(temporaryDirectory(), "copy");
  equal(await client.admin.backup(target), stats.watermark);
  ok(existsSync(target));
  await using copy = await Server.start({ data: target });
  await using other = connect(copy.address);
  equal(await other.head(), stats.watermark);
  await refused(InvalidArgumentError, client.admin.backup(""));
  await refused(CancelledError, client.admin.verify({ signal: AbortSignal.abort() }));
});

test("an aggregate's state, and the registered types", onlyServe, async () => {
  const order = fresh();
  await client.append({
    events: [{ aggregate: order, type: "A" }],
    snapshots: [{ aggregate: order, payload: { open: true } }],
  });
  await client.append({ events: [{ aggregate: order, type: "B", payload: { n: 1 } }] });
  equal((await client.types()).length, 0);
  const state = await client.state(order);
  deepEqual(
    [state.aggregate, state.version, state.state, state.state_version, state.events_after],
    [order, 2, { open: true }, 1, 1],
  );
  equal((await client.state(order, { version: 1 })).events_after, 0);
  await refused(NotFoundError, client.state("nobody-1"));
});

test("an append whose time is over before it is answered says so", async () => {
  const error = await refused(
    TimeoutError,
    client.append({ events: [{ type: "A", payload: new Uint8Array(900_000) }] }, { timeoutMs: 1 }),
  );
  equal(error.code, "timeout");
  equal(error instanceof OutcomeUnknownError, error.outcomeUnknown); // it may not even have been sent
});
