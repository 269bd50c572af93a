// Workers of a consumer group, against a real server.

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, test } from "node:test";

import { create } from "@bufbuild/protobuf";

import { seenIn } from "../src/connection.js";
import { GroupInfoSchema } from "../src/gen/evershard/v1/groups_pb.js";
import {
  connect,
  AlreadyExistsError,
  InvalidArgumentError,
  newId,
  NotFoundError,
  Query,
  type Client,
  type GroupDelivery,
  type GroupWorker,
} from "../src/index.js";
import { Proxy } from "./proxy.js";
import { Server } from "./server.js";

const patienceMs = 40_000;
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

async function given(worker: GroupWorker): Promise<GroupDelivery> {
  const delivery = await worker.next(patienceMs);
  ok(delivery, "nothing came");
  return delivery;
}

async function put(tag: string, aggregate: string, count: number): Promise<void> {
  for (let n = 0; n < count; ++n)
    await client.append({ events: [{ aggregate, type: "T", tags: [tag], payload: { n } }] });
}

test("a worker settles what it is given", async () => {
  const tag = newId();
  await put(tag, `a-${tag}`, 4);
  await client.createGroup(tag, { query: Query.tags(tag), settings: { attemptsMax: 2, retryFirstMs: 1n } });
  await rejects(client.createGroup(tag), AlreadyExistsError);
  await rejects(client.createGroup(tag, { ifAbsent: true }), AlreadyExistsError);
  await client.createGroup(tag, {
    query: Query.tags(tag),
    settings: { attemptsMax: 2, retryFirstMs: 1n },
    ifAbsent: true,
  });
  const worker = client.work(tag, { name: "w", credit: 2 });
  const seen: [number, number][] = [];
  while (seen.length < 5) {
    const delivery = await given(worker);
    const { n } = delivery.event.json<{ n: number }>();
    seen.push([n, delivery.attempt]);
    if (n === 0) await worker.reject(delivery, "not this one");
    else if (n === 1) await worker.park(delivery, "never");
    else {
      worker.renew(delivery);
      await worker.acknowledge(delivery);
      await worker.acknowledge(delivery); // the same again
    }
  }
  deepEqual(seen, [
    [0, 1],
    [0, 2],
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
  equal(await worker.next(50), undefined);
  const group = (await client.groups()).find(({ name }) => name === tag)!;
  deepEqual([group.parked, group.unsettled, group.acknowledged, group.workers], [2, 0, 2, ["w"]]);
  await worker.close();
  deepEqual((await client.groups()).find(({ name }) => name === tag)!.workers, []);
  await client.dropGroup(tag);
  await rejects(client.work(tag).next(patienceMs), NotFoundError);
});

test("a group begins where the store is, or not at all", async () => {
  await using own = connect(server.address, { timeoutMs: 60_000 });
  const tag = newId();
  await rejects(own.createGroup(tag, { after: 1e9 }), InvalidArgumentError);
  ok(own.seen < 1e9);
  await own.createGroup(tag, { after: await own.head() });
  deepEqual(seenIn(create(GroupInfoSchema, { position: 1_000n, head: 7n })), [7n]);
});

test("a worker that is told to end leaves its group", async () => {
  const tag = newId();
  await client.createGroup(tag, { query: Query.tags(tag) });
  const workers = async () => (await client.groups()).find(({ name }) => name === tag)!.workers;
  for (const while_it_waits of [true, false]) {
    await put(tag, `a-${tag}`, 1);
    const end = new AbortController();
    const worker = client.work(tag, { name: "w", signal: end.signal });
    const attempts: number[] = [];
    for await (const delivery of worker) {
      attempts.push(delivery.attempt);
      deepEqual(await workers(), ["w"]);
      if (!while_it_waits) end.abort();
      else {
        await worker.acknowledge(delivery);
        setTimeout(() => end.abort(), 50);
      }
    }
    deepEqual(attempts, [1]);
    deepEqual(await workers(), []);
  }
  const next = client.work(tag);
  const again = await given(next);
  equal(again.attempt, 1, "what it had cost no attempt");
  await next.acknowledge(again);
  await next.close();
});

test("a worker goes on over a broken connection, and a loop ends with its worker", async () => {
  const tag = newId();
  await put(tag, `a-${tag}`, 2);
  await client.createGroup(tag, { query: Query.tags(tag) });
  await using proxy = await Proxy.to(Number(server.address.split(":").at(-1)));
  const through = connect(proxy.address);
  const worker = through.work(tag);
  const first = await given(worker);
  proxy.cut();
  equal(await worker.acknowledge(first), false);
  const again = await given(worker);
  equal(again.event.position, first.event.position);
  await worker.acknowledge(again);
  const numbers: number[] = [];
  for await (const delivery of worker) {
    numbers.push(delivery.event.json<{ n: number }>().n);
    await worker.acknowledge(delivery);
    await worker.close();
  }
  deepEqual(numbers, [1]);
  through.close();
});

test("a loop goes on where its connection breaks before it has settled, and ends with its client", async () => {
  const tag = newId();
  await put(tag, `a-${tag}`, 2);
  await client.createGroup(tag, { query: Query.tags(tag) });
  await using proxy = await Proxy.to(Number(server.address.split(":").at(-1)));
  const through = connect(proxy.address);
  const settled: [number, boolean][] = [];
  const worker = through.work(tag);
  for await (const delivery of worker) {
    if (settled.length === 0) proxy.cut();
    settled.push([delivery.event.json<{ n: number }>().n, await worker.acknowledge(delivery)]);
    if (settled.length === 3) through.close();
  }
  deepEqual(settled, [
    [0, false],
    [0, true],
    [1, true],
  ]);
});
