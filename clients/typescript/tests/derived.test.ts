// Indexes, tables and documents, against a real server.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  connect,
  InvalidArgumentError,
  NotFoundError,
  PayloadFormat,
  Query,
  UnavailableError,
  VersionConflictError,
  type Client,
} from "../src/index.js";
import { Server } from "./server.js";

let server: Server;
let client: Client;

const orders = {
  fields: [
    { name: "order", type: "text", role: "key" },
    { name: "who", type: "text", role: "index" },
    { name: "total", type: "integer", nullable: true },
    { name: "weight", type: "number", nullable: true },
    { name: "paid", type: "boolean", nullable: true },
    { name: "at", type: "time" },
    { name: "photo", type: "bytes", nullable: true },
    { name: "all", type: "json" },
  ],
  rules: [
    {
      types: ["Placed"],
      action: "upsert",
      key: "aggregate",
      fields: {
        who: "$.who",
        total: "$.lines[0].price",
        weight: "$.weight",
        paid: "$.paid",
        at: "occurred_at",
        photo: "$.photo",
        all: "$",
      },
    },
  ],
};
const at = new Date("2026-01-31T12:00:00Z");
const payload = (n: number) => ({
  who: n % 2 ? "ann" : "bob",
  lines: [{ price: 10 * n }],
  weight: n / 2,
  paid: n > 2,
  photo: "AAE=",
});

before(async () => {
  server = await Server.start();
  client = connect(server.address, { timeoutMs: 60_000 });
  for (let n = 1; n <= 5; ++n)
    await client.append({ events: [{ aggregate: `order-${n}`, type: "Placed", payload: payload(n), occurredAt: at }] });
});
after(async () => {
  client?.close();
  await server?.[Symbol.asyncDispose]();
});

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const row of rows) taken.push(row);
  return taken;
}

test("a table is selected", async () => {
  const info = await client.projections.createTable("orders", orders);
  deepEqual([info.name, info.kind, info.paused], ["orders", "table", false]);
  const { lastPosition } = await client.append({
    events: [{ aggregate: "order-6", type: "Placed", payload: { who: "eve" } }],
  });
  equal((await client.projections.selectPage("orders", { where: "who = 'eve'" })).rows.length, 1); // what this client wrote is there
  deepEqual(
    await all(
      client.projections.select("orders", { where: "total = :t", parameters: { t: 30 }, atLeast: lastPosition }),
    ),
    [
      {
        order: "order-3",
        who: "ann",
        total: 30,
        weight: 1.5,
        paid: true,
        at: "2026-01-31T12:00:00.000000Z",
        photo: new Uint8Array([0, 1]),
        all: payload(3),
      },
    ],
  );
  const named = async (options: object) =>
    (await all(client.projections.select("orders", { fields: ["order"], ...options }))).map(({ order }) => order);
  deepEqual(await named({ where: "total > 0", order: ["-who", "total"] }), [
    "order-2",
    "order-4",
    "order-1",
    "order-3",
    "order-5",
  ]);
  deepEqual(await named({ where: "who = ?1 AND paid AND at = :at", parameters: { 1: "ann", at } }), [
    "order-3",
    "order-5",
  ]);
  equal((await named({ limit: 2 })).length, 2);
  const first = await client.projections.selectPage("orders", { order: ["order"], limit: 4 });
  const rest = await client.projections.selectPage("orders", { order: ["order"], limit: 4, continueFrom: first.next });
  deepEqual([first.rows.length, rest.rows.length, rest.next], [4, 2, ""]);
  for (const bad of [{ where: "nobody = 1" }, { where: "total >" }, { where: "total = :t" }, { order: ["colour"] }])
    await rejects(all(client.projections.select("orders", bad)), InvalidArgumentError);
  await rejects(all(client.projections.select("nothing")), NotFoundError);
  await client.append({ events: [{ aggregate: "order-7", type: "Placed", payload: { who: null } }] });
  await rejects(client.projections.selectPage("orders", { timeoutMs: 6_000 }), UnavailableError); // it stands before what this client wrote
  equal((await client.projections.describe("orders")).state, "failed");
  equal((await client.projections.selectPage("orders", { atLeast: 0 })).rows.length, 6);
  await client.projections.drop("orders");
  await rejects(client.projections.describe("orders"), NotFoundError);
});

test("indexes are read", async () => {
  const { name } = await client.projections.createIndex(Query.types("Placed"));
  const page = await client.projections.readIndex(name, { start: 2, limit: 2, events: true });
  deepEqual(
    page.entries.map(({ number, event }) => [number, event?.aggregate]),
    [
      [2, "order-2"],
      [3, "order-3"],
    ],
  );
  ok(page.count >= 5);
  await client.projections.createValueIndex("by-price", {
    types: ["Placed"],
    path: "$.lines[0].price",
    value: "integer",
  });
  const values = await client.projections.readValues("by-price", { from: 20, until: 50, limit: 2 });
  deepEqual(
    values.entries.map(({ value }) => value),
    [20, 30],
  );
  deepEqual(
    (await client.projections.readValues("by-price", { from: 20, until: 50, after: values.next })).entries.map(
      ({ value }) => value,
    ),
    [40],
  );
  await client.append({
    events: [
      {
        type: "Measured",
        payload: new TextEncoder().encode('{"n":9007199254740993}'),
        payloadFormat: PayloadFormat.json,
      },
      { type: "Measured", payload: { n: -7 } },
    ],
  });
  await client.projections.createValueIndex("by-n", { types: ["Measured"], path: "$.n", value: "integer" });
  deepEqual(
    (await client.projections.readValues("by-n")).entries.map(({ value }) => value),
    [-7, 9007199254740993n],
  );
  equal((await client.projections.readValues("by-n", { equal: 9007199254740993n })).entries.length, 1);
  await client.projections.drop("by-n");
  await rejects(
    client.projections.createValueIndex("other", { types: ["Placed"], path: "lines.0.price" }),
    /\$\.lines\[0\]\.price/,
  );
  await rejects(client.projections.readValues("by-price", { equal: "ten" }), InvalidArgumentError);
  deepEqual((await client.projections.list()).map((one) => one.name).sort(), ["by-price", name].sort());
});

test("documents are shown", async () => {
  const version = await client.documents.define("order", { events: { Placed: { merge: true } } });
  await rejects(
    client.documents.define("order", { events: { Placed: "ignore" } }, { expected: version + 1 }),
    VersionConflictError,
  );
  const one = await client.documents.get("order-3");
  deepEqual([one.aggregate, one.version, one.content["lines"], one.problems], ["order-3", 1, [{ price: 30 }], 0]);
  deepEqual(
    (await all(client.documents.list("order", { filter: 'who = "ann"' }))).map(({ aggregate }) => aggregate),
    ["order-1", "order-3", "order-5"],
  );
  deepEqual(
    (await all(client.documents.list("order", { after: "2", limit: 2 }))).map(({ aggregate }) => aggregate),
    ["order-3", "order-4"],
  );
  await rejects(all(client.documents.list("order", { filter: "who" })), InvalidArgumentError);
  equal(one.definition, version);
  equal(await client.documents.define("order", { events: { Placed: { merge: true } } }), version);
  const again = await client.documents.define("order", { events: { Placed: { merge: true } } }, { rebuild: true });
  deepEqual(
    [
      ...new Set(
        (await all(client.documents.list("order", { definition: again }))).map(({ definition }) => definition),
      ),
    ],
    [again],
  );
  equal((await client.documents.describe("order")).name, "order");
  await client.documents.drop("order");
  await rejects(client.documents.get("order-3"), NotFoundError);
});
