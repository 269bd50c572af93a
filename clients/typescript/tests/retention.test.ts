// What is removed for good, against a real server.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  connect,
  InvalidArgumentError,
  NotFoundError,
  OutcomeUnknownError,
  Query,
  type RetentionEntry,
} from "../src/index.js";
import { onlyServe, Server, temporaryDirectory } from "./server.js";

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const row of rows) taken.push(row);
  return taken;
}
const placed = (aggregate: string, n: number) => ({ aggregate, type: "Placed", payload: { n } });

test("a backup up to a position names aggregates without state", onlyServe, async () => {
  await using server = await Server.start();
  await using client = connect(server.address);
  await client.append({ events: [placed("order-1", 0), placed("order-2", 0)] });
  const upTo = await client.head();
  await client.append({ events: [placed("order-1", 1)] });
  await client.putSnapshot({ aggregate: "order-1", version: 2, payload: { n: 1 } });
  await client.retention.truncate("order-1", 2);
  const without: string[] = [];
  const target = join(temporaryDirectory(), "copy");
  equal(await client.admin.backup(target, { upTo, onWithoutState: (aggregate) => without.push(aggregate) }), upTo);
  deepEqual(without, ["order-1"]);
});

test("an aggregate is truncated and removed", onlyServe, async () => {
  await using server = await Server.start();
  await using client = connect(server.address);
  for (let n = 0; n < 4; ++n) await client.append({ events: [placed("order-1", n), placed("order-2", n)] });
  const { retention } = client;
  await rejects(retention.truncate("order-1", 3), /no snapshot stands/);
  await client.putSnapshot({ aggregate: "order-1", version: 2, payload: { n: 2 } });
  equal((await retention.truncate("order-1", 3, { dryRun: true })).events, 2);
  const states = async (aggregate: string) =>
    (await client.readAggregate(aggregate).toArray()).map(({ state }) => state);
  deepEqual(await states("order-1"), ["live", "live", "live", "live"]);
  const done = await retention.truncate("order-1", 3, { by: "ann", reason: "old" });
  deepEqual([done.events, done.coveredBy, done.version, done.before, done.operation !== ""], [2, 2, 4, 3, true]);
  deepEqual(await states("order-1"), ["removed", "removed", "live", "live"]);
  equal((await retention.truncate("order-1", 4, { uncovered: true })).events, 1);
  equal((await retention.remove("order-2", { reason: "asked for", onProgress: () => {} })).events, 4);
  await rejects(client.aggregate("order-2"), NotFoundError);
  await rejects(retention.remove("order-9"), NotFoundError);
  const log = await all(retention.log());
  deepEqual(
    log.map(({ what }) => what),
    [
      "$TruncationOrdered",
      "$TruncationDone",
      "$TruncationOrdered",
      "$TruncationDone",
      "$RemovalOrdered",
      "$RemovalDone",
    ],
  );
  const { content, number, at } = log[0] as RetentionEntry;
  deepEqual([content["by"], content["reason"], number, at > "2000"], ["ann", "old", 1, true]);
  deepEqual(
    (await all(retention.log({ after: 4 }))).map((entry) => entry.number),
    [5, 6],
  );
  deepEqual(
    (await all(retention.log({ after: 1, limit: 2 }))).map((entry) => entry.number),
    [2, 3],
  );
});

test("policies are kept and applied", onlyServe, async () => {
  await using server = await Server.start();
  await using client = connect(server.address);
  const { retention } = client;
  await client.append({
    events: [
      { aggregate: "page-1", type: "Seen" },
      { aggregate: "page-1", type: "Kept" },
    ],
  });
  const seen = { name: "seen", kind: "events", type: "Seen", keepSeconds: 7_776_000, uncovered: true } as const;
  await retention.setPolicy(seen, { by: "ann" });
  await retention.setPolicy({ name: "carts", kind: "remove", type: "cart", keepSeconds: 3_600 });
  const policies = await retention.policies();
  deepEqual(
    policies.find(({ name }) => name === "seen"),
    seen,
  );
  equal(policies.length, 2);
  equal((await retention.apply()).events, 0);
  await retention.setPolicy({ ...seen, keepSeconds: 1 });
  while ((await retention.apply({ dryRun: true })).events === 0) continue;
  equal((await retention.apply({ reason: "nightly" })).events, 1);
  deepEqual(
    (await client.readAggregate("page-1").toArray()).map(({ state }) => state),
    ["removed", "live"],
  );
  await retention.dropPolicy("seen");
  await rejects(retention.dropPolicy("seen"), NotFoundError);
  for (const bad of [
    { ...seen, kind: "shred" as "events" },
    { ...seen, keepSeconds: 0 },
    { ...seen, keepSeconds: -1 },
    { ...seen, name: "" },
  ])
    await rejects(retention.setPolicy(bad), InvalidArgumentError);
});

test("a subject is erased with its snapshots", onlyServe, async () => {
  const keys = join(temporaryDirectory(), "keys");
  mkdirSync(keys, { mode: 0o700 });
  await using server = await Server.start({ more: ["--keys", keys] });
  await using client = connect(server.address);
  await client.append({
    events: [{ aggregate: "person-1", type: "Named", payload: { name: "Ada" }, subject: "ada" }],
    snapshots: [{ aggregate: "person-1", payload: { name: "Ada" }, subject: "ada" }],
  });
  const snapshot = await client.snapshot("person-1");
  deepEqual([snapshot?.subject, snapshot?.json()], ["ada", { name: "Ada" }]);
  equal((await client.retention.erase("ada", { dryRun: true })).events, 1);
  const done = await client.retention.erase("ada", { by: "dpo", reason: "article 17" });
  equal(done.events, 1);
  ok(done.operation);
  const [event] = await client.readAggregate("person-1").toArray();
  deepEqual([event?.state, event?.payload.length, event?.subject], ["erased", 0, ""]);
  equal(await client.snapshot("person-1"), undefined);
  await rejects(client.retention.erase("ada"), NotFoundError);
  equal((await all(client.retention.log()))[0]?.what, "$ErasureOrdered");
});

test("a removal whose end was not heard is unknown", onlyServe, async () => {
  const data = join(temporaryDirectory(), "data");
  await using server = await Server.start({ data });
  await using client = connect(server.address);
  await client.append({
    events: Array.from({ length: 100 }, (_, n) => ({
      aggregate: "order-1",
      type: "T",
      payload: `${n}`.padEnd(20_000),
    })),
  });
  const removing = client.retention.remove("order-1", { bytesPerSecond: 20_000 });
  removing.catch(() => {});
  while ((await client.read(Query.types("$RemovalOrdered")).toArray()).length === 0) continue;
  await server.kill();
  await rejects(removing, OutcomeUnknownError);
  await using again = await Server.start({ data });
  await using other = connect(again.address);
  await other.retention.remove("order-1");
  deepEqual(
    (await all(other.retention.log())).map(({ what }) => what),
    ["$RemovalOrdered", "$RemovalDone"],
  );
});
