// Reads and appends over connections that break, and a server that is killed under load.

import { deepEqual, equal, ok } from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import {
  connect,
  EvershardError,
  newId,
  OutcomeUnknownError,
  Query,
  UnavailableError,
  type Append,
  type Outcome,
} from "../src/index.js";
import { Proxy } from "./proxy.js";
import { refused, Server, temporaryDirectory } from "./server.js";

function one(tag: string, n: number, bytes = 0, aggregates = 7): Append {
  return {
    events: [{ aggregate: `load-${n % aggregates}`, type: "T", tags: [tag], payload: { n, more: "x".repeat(bytes) } }],
  };
}

test("reads go on after the last event that was given, as of the same watermark, both ways", async () => {
  await using server = await Server.start();
  await using proxy = await Proxy.to(server.port);
  await using near = connect(server.address);
  await using far = connect(proxy.address);
  const tag = newId();
  for await (const { error } of near.appendMany(Array.from({ length: 3_500 }, (_, n) => one(tag, n, 400, 2))))
    if (error) throw error;
  const stored = Array.from({ length: 3_500 }, (_, n) => n);
  const odd = (n: number) => n % 2 === 1;

  for (const [reading, expected] of [
    [far.read(Query.tags(tag)), () => stored.slice()],
    [far.read(Query.tags(tag), { backwards: true, limit: 3_000 }), () => [...stored].reverse().slice(0, 3_000)],
    [
      far.read(Query.tags(tag), { perAggregate: 1_600 }),
      () =>
        [...stored.filter((n) => !odd(n)).slice(0, 1_600), ...stored.filter(odd).slice(0, 1_600)].sort((a, b) => a - b),
    ],
    [far.readAggregate("load-1"), () => stored.filter(odd)],
    [
      far.readAggregate("load-1", { backwards: true, limit: 1_600 }),
      () => stored.filter(odd).reverse().slice(0, 1_600),
    ],
  ] as const) {
    const before = proxy.connections;
    const should = expected();
    const numbers: number[] = [];
    proxy.cutAfterBytes = 700_000; // in the second page of 1,000 events
    for await (const event of reading) {
      numbers.push(event.json<{ n: number }>().n);
      if (numbers.length !== 1) continue;
      stored.push(stored.length * 2 + 1); // behind the read's watermark: not to be seen
      await near.append(one(tag, stored.at(-1)!, 400, 2));
    }
    deepEqual(numbers, should);
    ok(proxy.connections > before, `${proxy.connections - before} connections`);
    proxy.cutAfterBytes = Infinity;
  }
});

test("a stream of appends goes on over broken connections: each is stored once, in order, and answered", async () => {
  await using server = await Server.start();
  await using proxy = await Proxy.to(server.port);
  await using near = connect(server.address);
  await using far = connect(proxy.address);
  const tag = newId();
  const count = 3_000;
  let answered = 0;
  let duplicates = 0;
  for await (const { appended, error } of far.appendMany(Array.from({ length: count }, (_, n) => one(tag, n)))) {
    if (error) throw error;
    if (++answered % 500 === 100) proxy.cut();
    if (answered === 300) proxy.cutAfterBytes = 0; // something is stored, and its answer is lost
    duplicates += Number(appended.duplicate);
  }
  equal(answered, count);
  ok(proxy.connections >= 5, `${proxy.connections}`);
  ok(duplicates > 0, "what was stored and not answered was sent again");
  const events = await near.read(Query.tags(tag)).toArray();
  deepEqual(
    events.map((event) => event.json<{ n: number }>().n),
    Array.from({ length: count }, (_, n) => n),
  );
});

test("an answer that is lost is given again: the append is stored once", async () => {
  await using server = await Server.start();
  await using proxy = await Proxy.to(server.port);
  await using near = connect(server.address);
  await using far = connect(proxy.address);
  const tag = newId();
  await far.append(one(tag, 0));
  proxy.cutAfterBytes = 0; // the request gets through, the answer does not

  const done = await far.append(one(tag, 1));

  ok(done.duplicate);
  equal((await near.read(Query.tags(tag)).toArray()).length, 2);
});

test("a server that says nothing any more leaves the outcome unknown, within the time", async () => {
  await using server = await Server.start();
  await using proxy = await Proxy.to(server.port);
  await using far = connect(proxy.address, { timeoutMs: 4_000 });
  await far.head();
  proxy.silent = true;
  const began = Date.now();

  await refused(OutcomeUnknownError, far.append(one("t", 0)));
  const outcomes: Outcome[] = [];
  await refused(
    UnavailableError,
    (async () => {
      for await (const outcome of far.appendMany([one("t", 1), one("t", 2)])) outcomes.push(outcome);
    })(),
  );

  deepEqual(
    outcomes.map(({ error }) => error?.name),
    ["OutcomeUnknownError", "OutcomeUnknownError"],
  );
  ok(Date.now() - began < 40_000);
});

test("one append that is too large ends nobody else's, here or there", async () => {
  await using server = await Server.start();
  for (const options of [{}, { sendBytesMax: 64 << 20 }]) {
    await using client = connect(server.address, options);
    const codes: (string | undefined)[] = [];
    for await (const { error } of client.appendMany([1, 21 << 20, 2, 22 << 20, 3].map((size) => one("t", 0, size))))
      codes.push(error?.code);
    deepEqual(codes, [undefined, "too_large", undefined, "too_large", undefined]);
  }
});

test("nobody there: every kind of call says so when its time is over", async () => {
  const gone = await Proxy.to(1);
  await using client = connect(gone.address, { timeoutMs: 3_000 });
  await gone[Symbol.asyncDispose]();
  const many = async () => {
    for await (const { error } of client.appendMany([one("t", 1)])) if (error) throw error;
  };
  await Promise.all(
    [client.head(), client.read().toArray(), client.admin.verify(), many()].map((call) =>
      refused(UnavailableError, call),
    ),
  );
});

test("kill -9 under load: what was acknowledged is there once, tries are answered, subscriptions go on without a gap or a double", async () => {
  const data = join(temporaryDirectory(), "data");
  let server = await Server.start({ data });
  const { address } = server;
  const tag = newId();
  await using client = connect(address, { timeoutMs: 120_000 });
  await using other = connect(address, { timeoutMs: 120_000 });
  const seen: number[] = [];
  const stop = new AbortController();
  const subscribing = (async () => {
    for await (const event of other
      .subscribe(Query.tags(tag), { after: 0, heartbeatMs: 500, signal: stop.signal })
      .events())
      seen.push(event.position);
  })();

  const acknowledged = new Map<number, number>(); // n, position
  let duplicates = 0;
  let rounds = 0;
  let writing = true;
  const single = Array.from({ length: 6 }, async (_, worker) => {
    for (let i = 0; writing; ++i) {
      const n = 1_000_000 * (worker + 1) + i;
      const done = await client.append(one(tag, n));
      duplicates += Number(done.duplicate);
      acknowledged.set(n, done.firstPosition);
    }
  });
  const many = (async () => {
    function* source(): Generator<Append> {
      for (let n = 0; writing; ++n) yield one(tag, n);
    }
    let n = 0;
    for await (const { appended, error } of other.appendMany(source(), { inFlightMax: 64 })) {
      if (error) throw error;
      duplicates += Number(appended.duplicate);
      acknowledged.set(n++, appended.firstPosition);
    }
  })();
  for (; rounds < 3; ++rounds) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await server.kill();
    server = await Server.start({ data, listen: address });
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  writing = false;
  await Promise.all([...single, many]);

  const events = await client.read(Query.tags(tag)).toArray();
  const numbers = events.map((event) => event.json<{ n: number }>().n);
  equal(new Set(numbers).size, numbers.length, "each is stored once");
  deepEqual(
    new Map(events.map((event, i) => [numbers[i], event.position])),
    new Map([...acknowledged].sort(([, a], [, b]) => a - b)),
    "all of them, where the answer said",
  );
  ok(acknowledged.size > 100, `${acknowledged.size}`);
  deepEqual(
    numbers.filter((n) => n < 1_000_000),
    Array.from({ length: numbers.filter((n) => n < 1_000_000).length }, (_, n) => n),
    "a stream's in order",
  );

  const last = events.at(-1)!.position;
  for (const until = Date.now() + 60_000; seen.at(-1) !== last && Date.now() < until; )
    await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort();
  await subscribing;
  deepEqual(
    seen,
    events.map(({ position }) => position),
  );
  console.log(`# ${acknowledged.size} appends over ${rounds} kills, ${duplicates} of them answered by a further try`);
  await server.stop();
  equal(server.process.signalCode, null, "stops in order");
  await refused(EvershardError, client.head({ timeoutMs: 100 }));
});
