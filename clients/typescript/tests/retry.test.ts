// What is tried again and what is not, against a server that does as told.

import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";

import { fromBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { ReadRequestSchema } from "../src/gen/evershard/v1/service_pb.js";
import { ErrorCode, ExpectedVersion_Kind } from "../src/gen/evershard/v1/store_pb.js";
import * as evershard from "../src/index.js";
import {
  CancelledError,
  connect,
  EvershardError,
  IoError,
  OutcomeUnknownError,
  OverloadedError,
  UnavailableError,
} from "../src/index.js";
import { backoffMs } from "../src/retry.js";
import { FakeServer, type Answer } from "./fake_server.js";
import { refused } from "./server.js";

const stored: Answer = { appended: { firstPosition: 7n, lastPosition: 7n, duplicate: true, watermark: 7n } };
const append = { events: [{ type: "A" }] };

for (const [name, answer] of Object.entries({
  overloaded: { code: status.RESOURCE_EXHAUSTED, error: { code: ErrorCode.OVERLOADED, retryAfterMs: 30 } },
  unavailable: { code: status.UNAVAILABLE, error: { code: ErrorCode.UNAVAILABLE } },
  "a server's timeout": { code: status.DEADLINE_EXCEEDED, error: { code: ErrorCode.TIMEOUT } },
  "a broken connection": { code: status.UNAVAILABLE, text: "Connection dropped" },
  "a stream that was reset": { code: status.INTERNAL, text: "Received RST_STREAM" },
} satisfies Record<string, Answer>)) {
  test(`an append is tried again after ${name}, with the same bytes`, async () => {
    await using server = await FakeServer.start((_, nr) => (nr < 3 ? answer : stored));
    const told: [string, number][] = [];
    await using client = connect(server.address, { onRetry: (error, attempt) => told.push([error.code, attempt]) });
    const began = Date.now();

    const appended = await client.append(append);

    deepEqual(appended, { firstPosition: 7, lastPosition: 7, versions: {}, duplicate: true, watermark: 7 });
    equal(server.requests.length, 4);
    for (const request of server.requests) deepEqual(request, server.requests[0]);
    deepEqual(
      told.map(([, attempt]) => attempt),
      [1, 2, 3],
    );
    if (name === "overloaded") ok(Date.now() - began >= 85, "retry_after_ms is kept");
  });
}

for (const [code, className, grpc] of [
  [ErrorCode.VERSION_CONFLICT, "VersionConflictError", status.ABORTED],
  [ErrorCode.CONDITION_FAILED, "ConditionFailedError", status.ABORTED],
  [ErrorCode.DUPLICATE_EVENT, "DuplicateEventError", status.ALREADY_EXISTS],
  [ErrorCode.NOT_FOUND, "NotFoundError", status.NOT_FOUND],
  [ErrorCode.INVALID_ARGUMENT, "InvalidArgumentError", status.INVALID_ARGUMENT],
  [ErrorCode.INVALID_QUERY, "InvalidQueryError", status.INVALID_ARGUMENT],
  [ErrorCode.TOO_LARGE, "TooLargeError", status.RESOURCE_EXHAUSTED],
  [ErrorCode.CORRUPTION, "CorruptionError", status.DATA_LOSS],
  [ErrorCode.IO, "IoError", status.DATA_LOSS],
  [ErrorCode.CANCELLED, "CancelledError", status.CANCELLED],
  [ErrorCode.UNAUTHENTICATED, "UnauthenticatedError", status.UNAUTHENTICATED],
  [ErrorCode.PERMISSION_DENIED, "PermissionDeniedError", status.PERMISSION_DENIED],
  [99 as ErrorCode, "EvershardError", status.ABORTED],
] as const) {
  test(`${className} is final, and has what decided it`, async () => {
    const error = {
      code,
      message: "because",
      aggregate: { type: "order", value: "1" },
      expected: { kind: ExpectedVersion_Kind.EXACTLY, number: 3n },
      actual: 4n,
      condition: 0,
      position: 17n,
      shard: 2,
      offset: 5n,
      conflicts: [{ position: 17n, type: "Blocked" }],
    };
    await using server = await FakeServer.start(() => ({ code: grpc, error }));
    await using client = connect(server.address);

    const was = await refused(EvershardError, client.append(append));

    equal(was.name, className);
    ok(was instanceof evershard[className]);
    equal(was.message, "because");
    const { conflicts, ...details } = was.details;
    deepEqual(details, {
      aggregate: "order-1",
      expected: 3,
      actual: 4,
      condition: 0,
      position: 17,
      shard: 2,
      offset: 5,
    });
    deepEqual(
      conflicts!.map(({ position, type }) => [position, type]),
      [[17, "Blocked"]],
    );
    equal(server.requests.length, 1);
  });
}

test("overloaded and unavailable for good are said as they are: nothing was stored", async () => {
  await using server = await FakeServer.start(() => ({
    code: status.RESOURCE_EXHAUSTED,
    error: { code: ErrorCode.OVERLOADED, retryAfterMs: 3_000 },
  }));
  await using client = connect(server.address);

  const error = await refused(OverloadedError, client.append(append, { timeoutMs: 5_900 }));

  equal(error.retryAfterMs, 3_000);
  equal(server.requests.length, 2);
});

test("time that is over without an answer is an unknown outcome", async () => {
  await using server = await FakeServer.start((_, nr) =>
    nr === 0 ? { code: status.UNAVAILABLE, text: "Connection dropped" } : "silence",
  );
  await using client = connect(server.address);
  const began = Date.now();

  const error = await refused(OutcomeUnknownError, client.append(append, { timeoutMs: 3_000 }));

  equal(error.code, "timeout");
  ok(error.outcomeUnknown);
  ok(Date.now() - began < 30_000);
});

test("a broken connection and then refusals until time is over is an unknown outcome too", async () => {
  await using server = await FakeServer.start((_, nr) =>
    nr === 0 ? { code: status.INTERNAL } : { code: status.RESOURCE_EXHAUSTED, error: { code: ErrorCode.OVERLOADED } },
  );
  await using client = connect(server.address);

  await refused(OutcomeUnknownError, client.append(append, { timeoutMs: 3_000 }));
});

for (const [name, answer, code, asked] of [
  ["a broken connection", { code: status.UNAVAILABLE, text: "Connection dropped" }, "timeout", 1],
  ["a server's timeout", { code: status.DEADLINE_EXCEEDED, error: { code: ErrorCode.TIMEOUT } }, "timeout", 1],
  ["a server that cannot", { code: status.UNAVAILABLE, error: { code: ErrorCode.UNAVAILABLE } }, "unavailable", 1],
  ["a full queue", { code: status.RESOURCE_EXHAUSTED, error: { code: ErrorCode.OVERLOADED } }, undefined, 2],
] satisfies [string, Answer, string | undefined, number][]) {
  test(`a change that may have been made is not made twice: ${name}`, async () => {
    await using server = await FakeServer.start((_, nr) => (nr === 0 ? answer : stored));
    await using client = connect(server.address, { timeoutMs: 60_000 });

    const made = client.createGroup("g");

    if (code === undefined) equal((await made).position, 0);
    else {
      const error = await refused(EvershardError, made);
      equal(error.code, code);
      equal(error instanceof OutcomeUnknownError, code === "timeout");
    }
    equal(server.requests.length, asked);
  });
}

test("where nobody listens nothing can be stored", async () => {
  let address = "";
  {
    await using server = await FakeServer.start(() => stored);
    address = server.address;
  }
  await using client = connect(address);

  const error = await refused(UnavailableError, client.append(append, { timeoutMs: 3_000 }));

  ok(!error.outcomeUnknown, error.message);
});

test("a store that has failed says so, once", async () => {
  await using server = await FakeServer.start(() => ({ code: status.DATA_LOSS, error: { code: ErrorCode.IO } }));
  await using client = connect(server.address);

  ok((await refused(IoError, client.append(append))).outcomeUnknown);
  equal(server.requests.length, 1);
});

test("an append can be cancelled, while it is answered and between tries, and the client closed", async () => {
  await using server = await FakeServer.start((request) =>
    request.events[0]!.type === "A" ? "silence" : { code: status.UNAVAILABLE, error: { code: ErrorCode.UNAVAILABLE } },
  );
  await using client = connect(server.address);
  const reason = new Error("enough");

  for (const type of ["A", "B"]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 100);
    const error = await refused(CancelledError, client.append({ events: [{ type }] }, { signal: controller.signal }));
    equal(error.cause, reason);
  }
  equal((await refused(CancelledError, client.append(append, { signal: AbortSignal.abort(reason) }))).cause, reason);

  const waiting = refused(CancelledError, client.append(append));
  setTimeout(() => client.close(), 50);
  await waiting;
  await refused(CancelledError, client.append(append));
  client.close();
});

test("a read that ends before it is complete has not ended", async () => {
  const pages = [
    { events: [{ position: 1n }, { position: 2n }], watermark: 3n },
    { events: [{ position: 3n }], watermark: 9n, complete: true },
  ];
  await using server = await FakeServer.start(
    () => stored,
    (nr) => pages[nr]!,
  );
  await using client = connect(server.address);

  const reading = client.read();

  deepEqual(
    (await reading.toArray()).map(({ position }) => position),
    [1, 2, 3],
  );
  equal(reading.watermark, 3);
  const again = fromBinary(ReadRequestSchema, server.requests[1]!);
  deepEqual([again.options!.after, again.options!.upTo], [2n, 3n]);
});

test("the token goes with each call, and never in the clear to another machine", async () => {
  await using server = await FakeServer.start(() => stored);
  await using client = connect(server.address, { token: "0123456789abcdef" });

  await client.append(append);

  deepEqual(server.metadata[0]!.get("authorization"), ["Bearer 0123456789abcdef"]);
  for (const far of ["store.example:7420", "10.0.0.1:7420", "localhost.example:1", "127.0.0.1.example:1"]) {
    let error: unknown;
    try {
      connect(far, { token: "0123456789abcdef" });
    } catch (caught) {
      error = caught;
    }
    ok(error instanceof evershard.InvalidArgumentError && !error.message.includes("0123456789abcdef"), far);
    connect(far, { token: "0123456789abcdef", insecure: true }).close();
    connect(far, { token: "0123456789abcdef", tls: true }).close();
  }
  for (const near of ["localhost:1", "[::1]:1", "unix:/tmp/no.sock", "dns:///localhost:1"])
    connect(near, { token: "0123456789abcdef" }).close();
});

test("pauses grow from 10 to 500 ms, and differ", () => {
  for (let attempt = 0; attempt < 40; ++attempt) {
    const full = Math.min(500, 10 * 2 ** attempt);
    const pauses = Array.from({ length: 20 }, () => backoffMs(attempt));
    ok(
      pauses.every((ms) => ms >= full / 2 && ms <= full),
      `${attempt}`,
    );
    ok(new Set(pauses).size > 1);
  }
  ok(backoffMs(0, new OverloadedError("full", { retryAfterMs: 700 })) >= 700);
});
