// What a server refuses for good is told at once; what may pass is tried again for a while and told with its cause; what never left is not unknown.

import { equal, match, ok } from "node:assert/strict";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";

import { Server, ServerCredentials, status, type ServerWritableStream } from "@grpc/grpc-js";
import { create, toBinary } from "@bufbuild/protobuf";

import { SubscribeResponseSchema, SubscribeResponse_Kind } from "../src/gen/evershard/v1/service_pb.js";
import { ErrorCode } from "../src/gen/evershard/v1/store_pb.js";
import {
  connect,
  EvershardError,
  OutcomeUnknownError,
  OverloadedError,
  TimeoutError,
  UnavailableError,
  type Client,
} from "../src/index.js";
import { Patience } from "../src/retry.js";
import { FakeServer } from "./fake_server.js";
import { refused } from "./server.js";

const append = { events: [{ type: "A" }] };
const patienceMs = 300;

async function appendMany(client: Client): Promise<void> {
  for await (const { error } of client.appendMany([append])) if (error) throw error;
}
const calls: Record<string, (client: Client) => Promise<unknown>> = {
  append: (client) => client.append(append),
  appendMany,
  read: (client) => client.read().toArray(),
};
const isAppend = (name: string) => name !== "read";

function refusing(code: ErrorCode, grpc: status, message: string, lasting = false): Promise<FakeServer> {
  const answer = { code: grpc, error: { code, message, lasting } };
  return FakeServer.start(
    () => answer,
    () => answer,
  );
}

for (const [name, call] of Object.entries(calls)) {
  test(`what may pass is tried again for a while and told with its cause: ${name}`, async () => {
    await using server = await refusing(ErrorCode.UNAVAILABLE, status.UNAVAILABLE, "shard 3 is on no node");
    await using client = connect(server.address, { timeoutMs: 60_000, unavailableTimeoutMs: patienceMs });
    const began = Date.now();

    const error = await refused(UnavailableError, call(client));

    equal(error.message, "shard 3 is on no node");
    ok(!error.lasting && !error.outcomeUnknown);
    ok(Date.now() - began < 60_000);
    ok(name === "appendMany" || server.requests.length > 1); // there a refusal is the outcome
  });

  for (const [what, code, grpc, lasting] of [
    ["a shard that is closed", ErrorCode.UNAVAILABLE, status.UNAVAILABLE, true],
    ["damaged data", ErrorCode.CORRUPTION, status.DATA_LOSS, false],
  ] as const) {
    test(`what no time mends is told at once: ${what}, ${name}`, async () => {
      await using server = await refusing(code, grpc, "shard 3 has lost data", lasting);
      await using client = connect(server.address, { timeoutMs: 60_000, unavailableTimeoutMs: 60_000 });

      const error = await refused(EvershardError, call(client));

      equal(error.message, "shard 3 has lost data");
      ok(!error.retryable);
      equal(server.requests.length, 1);
    });
  }

  test(`only what may have arrived is unknown: ${name}`, async () => {
    await using mute = await FakeServer.start(
      () => "silence",
      () => "silence",
    ); // takes the call, and says nothing
    await using client = connect(mute.address, { timeoutMs: 3_000 });
    const reading = () => client.read(undefined, { timeoutMs: 3_000 }).toArray();

    const error = await refused(EvershardError, isAppend(name) ? call(client) : reading());

    equal(error.code, "timeout");
    ok(!isAppend(name) || error instanceof OutcomeUnknownError);
    ok(mute.requests.length > 0);
  });

  test(`where nobody listens the reason is told: ${name}`, async () => {
    await using client = connect("127.0.0.1:1", { timeoutMs: 400 });

    const error = await refused(UnavailableError, call(client));

    ok(!error.outcomeUnknown, error.message);
    match(error.message, /connect/i);
  });
}

test("a server that waited too long itself is not asked for long", async () => {
  await using server = await refusing(ErrorCode.TIMEOUT, status.DEADLINE_EXCEEDED, "the coordinator is away");
  await using client = connect(server.address, { timeoutMs: 60_000, unavailableTimeoutMs: patienceMs });

  match((await refused(OutcomeUnknownError, client.append(append))).message, /the coordinator is away/);
});

test("a server that takes the connection and nothing else has taken nothing", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await new Promise((resolve) => silent.once("listening", resolve));
  await using client = connect(`127.0.0.1:${(silent.address() as AddressInfo).port}`, { timeoutMs: 400 });
  try {
    for (const call of Object.values(calls))
      match((await refused(UnavailableError, call(client))).message, /no connection to 127.0.0.1/);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test("an absence is told once, and its end", async () => {
  const bytes = (value: Uint8Array): Buffer => Buffer.from(value);
  const heartbeat = toBinary(
    SubscribeResponseSchema,
    create(SubscribeResponseSchema, { kind: SubscribeResponse_Kind.HEARTBEAT, watermark: 1n }),
  );
  const server = new Server();
  let asked = 0;
  const began = Date.now();
  const told: (string | undefined)[] = [];
  server.addService(
    {
      subscribe: {
        path: "/evershard.v1.EventStore/Subscribe",
        requestStream: false,
        responseStream: true,
        requestSerialize: bytes,
        requestDeserialize: (b: Buffer) => b,
        responseSerialize: bytes,
        responseDeserialize: (b: Buffer) => b,
      },
    },
    {
      subscribe: (call: ServerWritableStream<Uint8Array, Uint8Array>) => {
        const first = ++asked === 1;
        const away = told.length === 0 && Date.now() - began < 60_000; // until its absence is told
        if (first || !away) call.write(heartbeat);
        if (first || away) call.emit("error", { code: status.UNAVAILABLE, details: "node 2 is away" });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  await using client = connect(`127.0.0.1:${port}`);
  const subscription = client.subscribe(undefined, { after: 0, onAway: (error) => told.push(error?.message) });

  let seen = 0;
  for await (const _ of subscription) if (++seen === 2) break;

  equal(told.length, 2);
  match(told[0]!, /node 2 is away/);
  equal(told[1], undefined);
  equal(subscription.away, undefined);
  server.forceShutdown();
});

test("patience ends so long after the first refusal", () => {
  const by = <E extends EvershardError>(error: E): E => Object.assign(error, { told: true });
  const no = by(new UnavailableError("no"));
  const patience = new Patience(5_000, 0);
  ok(patience.bears(no, 20_000), "the first one, however late");
  ok(patience.bears(no, 24_000));
  ok(!patience.bears(no, 25_000));
  ok(
    patience.bears(new UnavailableError("Connection dropped"), 99_000),
    "nobody answered: that is borne until the time-out",
  );
  ok(patience.bears(by(new OverloadedError("full")), 99_000));
  patience.worked();
  ok(patience.bears(no, 26_000));
  const late = by(new TimeoutError("late"));
  ok(patience.bears(late, 4_999) && !patience.bears(late, 5_000));
  ok(!new UnavailableError("lost", { lasting: true }).retryable);
});
