// Several addresses: servers that are gone, that stop, that are somebody else's; against servers that do as told.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";

import { fromBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { LaneChoice } from "../src/append_lanes.js";
import { ReadRequestSchema } from "../src/gen/evershard/v1/service_pb.js";
import { ErrorCode, type AppendRequest } from "../src/gen/evershard/v1/store_pb.js";
import { shardOf } from "../src/route.js";
import { connect, type Append, EvershardError, InvalidArgumentError } from "../src/index.js";
import { FakeServer, type Answer } from "./fake_server.js";
import { refused } from "./server.js";

const at = (position: bigint): Answer => ({
  appended: { firstPosition: position, lastPosition: position, watermark: position },
});
const append = { events: [{ aggregate: "order-1", type: "A" }] };
const stopping: Answer = {
  code: status.UNAVAILABLE,
  error: { code: ErrorCode.UNAVAILABLE, message: "the server is stopping" },
};
const shop = { storeId: "shop", forkId: "f", shards: 3, hash: 1 };

test("an append goes on at the next address, with the same bytes, when one is gone or stops", async () => {
  await using stops = await FakeServer.start((_, nr) => (nr === 0 ? at(1n) : stopping), undefined, shop);
  await using works = await FakeServer.start(() => at(2n), undefined, shop);
  await using client = connect(["127.0.0.1:1", stops.address, works.address]);

  equal((await client.append(append)).firstPosition, 1);
  equal((await client.append(append)).firstPosition, 2);
  equal((await client.append(append)).firstPosition, 2);

  deepEqual([stops.requests.length, works.requests.length], [2, 2], "it keeps to what works");
  deepEqual(stops.requests[1], works.requests[0]);
});

test("a server of another store is never sent what was meant for the first one", async () => {
  await using ours = await FakeServer.start((_, nr) => (nr === 0 ? at(1n) : stopping), undefined, shop);
  await using foreign = await FakeServer.start(() => at(7n), undefined, { ...shop, forkId: "a copy" });
  await using client = connect(`${ours.address},${foreign.address}`);

  await client.append(append);
  await refused(Error, client.append(append, { timeoutMs: 1_000 }));

  equal(foreign.requests.length, 0);
  await using wrong = connect([foreign.address, ours.address], { timeoutMs: 60_000 });
  equal((await wrong.append(append)).firstPosition, 7, "the first one that answers says which store it is");
});

test("empty addresses are refused, and the same one twice is one", async () => {
  for (const wrong of ["", "a:1,,b:1", [], ["a:1", " "]] as const) {
    let error: unknown;
    try {
      connect(wrong);
    } catch (caught) {
      error = caught;
    }
    ok(error instanceof InvalidArgumentError, JSON.stringify(wrong));
  }
  await using server = await FakeServer.start(() => at(1n));
  await using client = connect(`${server.address}, ${server.address}`);
  equal((await client.append(append)).firstPosition, 1);
});

test("an append goes to the door of its shard's node, where that is open; else anywhere", async () => {
  await using owner = await FakeServer.start(() => at(2n), undefined, shop);
  await using other = await FakeServer.start(() => at(1n), undefined, shop);
  const cluster = {
    ...shop,
    members: [
      { node: 1, address: other.address },
      { node: 2, address: owner.address },
    ],
    owners: [2, 2, 2],
    epochs: [1n, 1n, 1n],
  };
  other.members = { ...cluster, here: 1 };
  owner.members = { ...cluster, here: 2 };
  await using client = connect(other.address);

  const until = Date.now() + 60_000;
  let last = 0;
  while (last !== 2 && Date.now() < until) last = (await client.append(append)).firstPosition;
  equal(last, 2, "it follows the map");
  const before = other.requests.length;
  for (let i = 0; i < 5; ++i) equal((await client.append(append)).firstPosition, 2);
  equal(other.requests.length, before);

  await using still = connect(other.address, { followShards: false });
  for (let i = 0; i < 20; ++i) equal((await still.append(append)).firstPosition, 1);
});

test("an older word about a shard does not count", async () => {
  await using owner = await FakeServer.start(() => at(2n), undefined, shop);
  await using other = await FakeServer.start(
    (_, nr) =>
      nr < 2 ? at(1n) : { code: status.UNAVAILABLE, error: { code: ErrorCode.WRONG_SHARD, message: "moved" } },
    undefined,
    shop,
  );
  const cluster = {
    ...shop,
    members: [
      { node: 1, address: other.address },
      { node: 2, address: owner.address },
    ],
  };
  owner.members = { ...cluster, here: 2, owners: [2, 2, 2], epochs: [5n, 5n, 5n] };
  other.members = { ...cluster, here: 1, owners: [1, 1, 1], epochs: [4n, 4n, 4n] };
  await using client = connect([other.address, owner.address]);

  for (let i = 0; i < 2; ++i) await client.append(append);
  equal((await client.append(append)).firstPosition, 2, "after wrong_shard it asks elsewhere");
});

test("reads wait for what was seen; what they say themselves wins; it can be turned off", async () => {
  await using server = await FakeServer.start(
    () => at(9n),
    () => ({ watermark: 12n, complete: true }),
    shop,
  );
  await using client = connect(server.address, { timeoutMs: 60_000 });
  const asked = async (read: AsyncIterable<unknown>) => {
    for await (const _ of read);
    return fromBinary(ReadRequestSchema, server.requests.at(-1)!).atLeast?.position;
  };

  equal(await asked(client.read()), undefined);
  equal(client.seen, 12);
  equal(await asked(client.read()), 12n);
  equal(await asked(client.read(undefined, { atLeast: 3 })), 3n);
  client.see(40);
  equal(await asked(client.readAggregate("order-1")), 40n);
  await client.append(append);
  equal(client.seen, 40);
  await using heir = connect(server.address, { seen: client.seen });
  equal(await asked(heir.read()), 40n);
  await using careless = connect(server.address, { seen: 40, readOwnWrites: false });
  equal(await asked(careless.read()), undefined);
});

test("a read goes on at another node only where that has come as far", async () => {
  await using broken = await FakeServer.start(
    () => at(1n),
    () => ({ events: [{ position: 1n }], watermark: 5n }),
    shop,
  );
  await using behind = await FakeServer.start(
    () => at(1n),
    () => ({
      code: status.DEADLINE_EXCEEDED,
      error: { code: ErrorCode.TIMEOUT, message: "the watermark is at 3, not yet at 5" },
    }),
    shop,
  );
  await using client = connect([broken.address, behind.address], { timeoutMs: 3_000, readOwnWrites: false });
  let read = (): void => {};
  broken.ends = new Promise((resolve) => (read = resolve)); // after its page, as a server that stops

  const given: number[] = [];
  const reading = async () => {
    for await (const { position } of client.read(undefined, { timeoutMs: 2_000 })) {
      given.push(position);
      read();
    }
  };
  await refused(EvershardError, reading());

  ok(given.length > 0);
  ok(behind.requests.length >= 1);
  for (const request of behind.requests) equal(fromBinary(ReadRequestSchema, request).atLeast?.position, 5n);
});

test("many appends go to the doors of their shards' nodes, those of one shard in the order given", async () => {
  const log: { node: number; aggregate: string }[] = [];
  const storing =
    (node: number) =>
    (request: AppendRequest): Answer => {
      log.push({ node, aggregate: request.events[0]!.aggregate!.value });
      return at(BigInt(log.length));
    };
  const map = { ...shop, shards: 2, owners: [1, 2], epochs: [1n, 1n] };
  await using first = await FakeServer.start(storing(1), undefined, { ...map, here: 1 });
  await using second = await FakeServer.start(storing(2), undefined, { ...map, here: 2 });
  const members = [
    { node: 1, address: first.address },
    { node: 2, address: second.address },
  ];
  first.members = { ...map, here: 1, members };
  second.members = { ...map, here: 2, members };
  const numbers = Array.from({ length: 40 }, (_, n) => `${n}`);
  const ofShard = [0, 1].map((shard) => numbers.filter((n) => shardOf(`a-${n}`, 2) === shard));
  const one = (n: string): Append => ({ events: [{ aggregate: `a-${n}`, type: "T" }] });
  let begin = 0;
  async function* source(): AsyncGenerator<Append> {
    for (const n of numbers) yield one(n);
    for (
      const until = Date.now() + 60_000;
      Date.now() < until && new Set(log.slice(40).map(({ node }) => node)).size < 2;

    ) {
      yield one(ofShard[0]![0]!);
      yield one(ofShard[1]![0]!);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    begin = log.length;
    for (const n of numbers) yield one(n);
  }
  await using client = connect([first.address, second.address], { timeoutMs: 60_000 });
  let count = 0;
  for await (const { error } of client.appendMany(source(), { inFlightMax: 8 })) {
    if (error) throw error;
    ++count;
  }
  equal(count, log.length);
  ok(begin > 40);
  for (const node of [1, 2])
    deepEqual(
      log
        .slice(-40)
        .filter((of) => of.node === node)
        .map(({ aggregate }) => aggregate),
      ofShard[node - 1],
    );
});

test("appends of a shard change their lane when all before them are answered", () => {
  const open = new Set<string>();
  const lanes = new LaneChoice<string>((one) => open.has(one));
  const send = (name: string, shard: number | undefined, lane: number) => {
    open.add(name);
    lanes.goes(shard, lane, name);
  };

  equal(lanes.lane(undefined, 0), 0);
  send("a", undefined, 0);
  equal(lanes.lane(5, 1), undefined, "what lies where is known now: one of them may be of this shard");
  open.delete("a");
  equal(lanes.lane(5, 1), 1);
  send("b", 5, 1);
  equal(lanes.lane(6, 2), 2, "another shard does not wait");
  deepEqual(
    [lanes.lane(5, 2), lanes.lane(5, 1), lanes.lane(5, 0)],
    [undefined, 1, 1],
    "it moves: behind what is under way",
  );
  open.delete("b");
  equal(lanes.lane(5, 2), 2);
});
