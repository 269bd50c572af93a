// Subscriptions: live, and over connections that break, stall, or were never there.

import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  connect,
  ForkChangedError,
  newId,
  Query,
  UnauthenticatedError,
  type Client,
  type SubscriptionItem,
} from "../src/index.js";
import { Proxy } from "./proxy.js";
import { refused, Server } from "./server.js";

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

async function put(tag: string, count: number, from = 0): Promise<number> {
  let last = 0;
  for await (const { appended, error } of client.appendMany(
    Array.from({ length: count }, (_, i) => ({ events: [{ type: "T", tags: [tag], payload: { n: from + i } }] })),
  )) {
    if (error) throw error;
    last = appended.lastPosition;
  }
  return last;
}

test("a subscription gives what was there, says that it has caught up, and goes on live", async () => {
  const tag = newId();
  await put(tag, 3);
  const items: SubscriptionItem[] = [];
  const subscription = client.subscribe(Query.tags(tag), { after: 0, heartbeatMs: 200 });
  const numbers: number[] = [];
  for await (const item of subscription) {
    items.push(item);
    equal(subscription.watermark, item.watermark);
    if (item.kind === "events") numbers.push(...item.events.map((event) => event.json<{ n: number }>().n));
    if (item.kind === "caught_up") void put(tag, 2, 3);
    if (item.kind === "heartbeat" && numbers.length === 5) break;
  }
  deepEqual(numbers, [0, 1, 2, 3, 4]);
  const kinds = items.map(({ kind }) => kind);
  ok(
    kinds.indexOf("events") < kinds.indexOf("caught_up") && kinds.lastIndexOf("events") > kinds.indexOf("caught_up"),
    kinds.join(" "),
  );
  ok(items.every(({ watermark }, i) => i === 0 || watermark >= items[i - 1]!.watermark));
});

test("a subscription that is left goes on behind the last event", async () => {
  const tag = newId();
  await put(tag, 3);
  const subscription = client.subscribe(Query.tags(tag), { after: 0 });
  const seen: number[] = [];
  for (let turn = 0; turn < 4; ++turn) {
    if (turn === 3) void put(tag, 1, 3);
    for await (const event of subscription.events()) {
      seen.push(event.json<{ n: number }>().n);
      ok(turn > 1 || subscription.watermark === event.position, "what is kept as the watermark is what was given");
      break;
    }
  }
  deepEqual(seen, [0, 1, 2, 3]);
});

test("at several addresses nothing is sent to another fork of the store", async () => {
  await using one = await Server.start();
  await using several = connect([one.address, "127.0.0.1:1"]);
  await using alone = connect(one.address);
  await several.append({ events: [{ type: "T", payload: 1 }] });
  await alone.append({ events: [{ type: "T", payload: 2 }] });
  await one.kill();
  const other = await Server.start({ listen: one.address });
  try {
    const error = await refused(ForkChangedError, several.append({ events: [{ type: "T", payload: 3 }] }));
    ok(error.message.includes("answered this client before"), error.message);
    // A position is of the fork that answered before.
    await refused(ForkChangedError, alone.subscribe(Query.all, { after: 1 })[Symbol.asyncIterator]().next());
    equal((await alone.append({ events: [{ type: "T", payload: 4 }] })).firstPosition, 1, "nothing else was stored");
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test("a subscription ends where the store at its address is another fork", async () => {
  await using one = await Server.start();
  await using follower = connect(one.address);
  await follower.append({ events: [{ type: "T", payload: 1 }] });
  const subscription = follower.subscribe(Query.all, { after: 0, heartbeatMs: 200 });
  const seen: number[] = [];
  let other: Server | undefined;
  const error = await refused(
    ForkChangedError,
    (async () => {
      for await (const item of subscription) {
        if (item.kind === "events") seen.push(...item.events.map((event) => event.json<number>()));
        if (item.kind !== "caught_up") continue;
        await one.kill();
        other = await Server.start({ listen: one.address });
        await using writer = connect(other.address);
        for (const n of [2, 3, 4]) await writer.append({ events: [{ type: "T", payload: n }] });
      }
    })(),
  ).finally(() => other?.[Symbol.asyncDispose]());
  ok(error.message.includes("was followed, up to position 1"), error.message);
  equal(error.code, "invalid_argument");
  deepEqual(seen, [1]);
});

test("without `after` it is from now on: from the first moment, not from a later connection", async () => {
  await using proxy = await Proxy.to(server.port);
  await using far = connect(proxy.address);
  const tag = newId();
  await put(tag, 2);
  await far.head();
  const subscription = far.subscribe(Query.tags(tag), { heartbeatMs: 1_000 });
  let first: number | undefined;
  for await (const item of subscription) {
    if (item.kind === "caught_up" && proxy.connections === 1) {
      proxy.cut();
      await put(tag, 1, 2); // while nobody is connected
    }
    if (item.kind === "events") {
      first = item.events[0]!.json<{ n: number }>().n;
      break;
    }
  }
  equal(first, 2);
  equal(proxy.connections, 2);
});

test("over a connection that is cut again and again nothing is missing and nothing comes twice", async () => {
  await using proxy = await Proxy.to(server.port);
  const retried: string[] = [];
  await using far = connect(proxy.address, { onRetry: (error) => retried.push(error.code) });
  const tag = newId();
  const count = 3_000;
  const numbers: number[] = [];
  const writing = put(tag, count);
  for await (const event of far
    .subscribe(Query.tags(tag), { after: 0, pageEventsMax: 100, heartbeatMs: 200 })
    .events()) {
    numbers.push(event.json<{ n: number }>().n);
    if (numbers.length === count) break;
    if (numbers.length % 300 === 0) proxy.cutAfterBytes = 5_000;
  }
  await writing;
  deepEqual(
    numbers,
    Array.from({ length: count }, (_, i) => i),
  );
  ok(proxy.connections >= 3 && retried.length >= 2, `${proxy.connections} connections, ${retried.length} tries`);
});

test("silence for three heartbeats is a broken connection", async () => {
  await using proxy = await Proxy.to(server.port);
  await using far = connect(proxy.address, { onRetry: () => (proxy.silent = false) });
  const tag = newId();
  let silentSince = 0;
  for await (const item of far.subscribe(Query.tags(tag), { after: 0, heartbeatMs: 100 })) {
    if (item.kind === "caught_up" && silentSince === 0) {
      silentSince = Date.now();
      proxy.silent = true;
      await put(tag, 1);
    }
    if (item.kind === "events") break;
  }
  const took = Date.now() - silentSince;
  ok(took >= 290 && took < 60_000, `${took}`);
});

test("who is slow is not thought to be cut off, and loses nothing", async () => {
  await using proxy = await Proxy.to(server.port);
  await using far = connect(proxy.address);
  const tag = newId();
  await put(tag, 500);
  const numbers: number[] = [];
  for await (const item of far.subscribe(Query.tags(tag), { after: 0, heartbeatMs: 400, pageEventsMax: 100 })) {
    if (item.kind === "events") numbers.push(...item.events.map((event) => event.json<{ n: number }>().n));
    await new Promise((resolve) => setTimeout(resolve, numbers.length === 200 ? 1_500 : 10));
    if (numbers.length === 500) break;
  }
  deepEqual(
    numbers,
    Array.from({ length: 500 }, (_, i) => i),
  );
  equal(proxy.connections, 1);
});

test("cancelled, or its client closed, the loop ends; also while nobody is there", async () => {
  const controller = new AbortController();
  let caughtUp = false;
  for await (const item of client.subscribe(Query.all, { signal: controller.signal })) {
    if (item.kind === "caught_up") {
      caughtUp = true;
      setTimeout(() => controller.abort(), 20);
    }
  }
  ok(caughtUp);

  const other = connect(server.address);
  setTimeout(() => other.close(), 100);
  for await (const _ of other.subscribe(Query.types("Nothing"), { after: await client.head() })) ok(true);

  const gone = await Proxy.to(1);
  await using nobody = connect(gone.address);
  await gone[Symbol.asyncDispose]();
  for await (const _ of nobody.subscribe(Query.all, { after: 0, signal: AbortSignal.timeout(300) })) ok(false);
});

test("what trying again does not help ends it with an error", async () => {
  await using guarded = await Server.start({ tokens: "reader read 0123456789abcdef\n" });
  await using stranger = connect(guarded.address, { token: "wrong-0123456789abcdef" });
  await refused(
    UnauthenticatedError,
    (async () => {
      for await (const _ of stranger.subscribe(Query.all, { after: 0 })) ok(false);
    })(),
  );
});
