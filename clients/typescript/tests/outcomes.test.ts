// What a write ends with, by what became of its tries: the table that all clients share, against a server that breaks off as it says.

import { deepEqual, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { create, toBinary } from "@bufbuild/protobuf";
import {
  Metadata,
  Server,
  ServerCredentials,
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerUnaryCall,
} from "@grpc/grpc-js";

import { AskResponseSchema } from "../src/gen/evershard/v1/asks_pb.js";
import { ScheduledAppendSchema } from "../src/gen/evershard/v1/scheduled_pb.js";
import { AppendOutcomeSchema, PutSnapshotResponseSchema } from "../src/gen/evershard/v1/service_pb.js";
import { AppendResponseSchema, ErrorCode, ErrorSchema } from "../src/gen/evershard/v1/store_pb.js";
import { connect, EvershardError, OutcomeUnknownError, type Client } from "../src/index.js";
import { statusOf } from "./fake_server.js";
import { root } from "./server.js";

interface Case {
  readonly tries: readonly string[];
  readonly ends: string;
}
const { cases } = JSON.parse(readFileSync(join(root, "tests/clients/outcomes.json"), "utf8")) as { cases: Case[] };
const endless = ["breaks", "silence", "overloaded"]; // until the time-out
const silent = ["stored", "breaks", "silence", "foreign"]; // else a server says it

const appended = create(AppendResponseSchema, { firstPosition: 1n, lastPosition: 1n });
const stored: Record<string, Uint8Array> = {
  Append: toBinary(AppendResponseSchema, appended),
  AppendMany: toBinary(
    AppendOutcomeSchema,
    create(AppendOutcomeSchema, { outcome: { case: "appended", value: appended } }),
  ),
  Schedule: toBinary(ScheduledAppendSchema, create(ScheduledAppendSchema)),
  Cancel: toBinary(ScheduledAppendSchema, create(ScheduledAppendSchema)),
  PutSnapshot: toBinary(PutSnapshotResponseSchema, create(PutSnapshotResponseSchema)),
  Ask: toBinary(AskResponseSchema, create(AskResponseSchema, { outcome: { case: "replied", value: {} } })),
};

async function many(client: Client): Promise<void> {
  for await (const { error } of client.appendMany([{ events: [{ type: "T" }] }])) if (error) throw error;
}
const calls: Record<string, (client: Client) => Promise<unknown>> = {
  append: (client) => client.append({ events: [{ type: "T" }] }),
  appendMany: many,
  "appendMany, ended as a whole": many,
  schedule: (client) => client.schedule({ events: [{ type: "T" }], afterMs: 1_000 }),
  cancelScheduled: (client) => client.cancelScheduled("s"),
  putSnapshot: (client) => client.putSnapshot({ aggregate: "a-1", version: 1, payload: {} }),
  ask: (client) => client.ask("a-1", "C", {}, { commandId: "c" }),
};

/** Of each case, by its token: the tries that are left. */
const left = new Map<string, string[]>();
const server = new Server();
let address = "";

function next(metadata: Metadata): { key: string; step: string } {
  const key = String(metadata.get("authorization")[0]).replace("Bearer ", "");
  const steps = left.get(key)!;
  return { key, step: steps.length > 1 ? steps.shift()! : steps[0]! };
}
const errorOf = (step: string) =>
  create(ErrorSchema, {
    code: step === "closed" ? ErrorCode.UNAVAILABLE : ErrorCode[step.toUpperCase() as keyof typeof ErrorCode],
    message: "no",
    lasting: step === "closed",
    ...(step === "overloaded" && { retryAfterMs: 2_000 }), // the last try within a short time has time enough for its answer
  });
const codes: Record<string, status> = {
  unauthenticated: status.UNAUTHENTICATED,
  permission_denied: status.PERMISSION_DENIED,
  overloaded: status.RESOURCE_EXHAUSTED,
  timeout: status.DEADLINE_EXCEEDED,
};
function failureOf(step: string): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  if (step === "breaks") return { code: status.UNAVAILABLE, details: "Connection dropped", metadata };
  if (step === "foreign") return { code: status.UNIMPLEMENTED, details: "no", metadata };
  const code = codes[step] ?? status.ABORTED;
  metadata.set("grpc-status-details-bin", statusOf(code, errorOf(step)));
  return { code, details: "no", metadata };
}

const bytes = {
  requestSerialize: (b: Buffer) => b,
  requestDeserialize: (b: Buffer) => b,
  responseSerialize: (b: Uint8Array) => Buffer.from(b),
  responseDeserialize: (b: Buffer) => b,
};
function serve(service: string, name: string): void {
  const streams = name === "AppendMany";
  const definition = {
    ...bytes,
    path: `/evershard.v1.${service}/${name}`,
    requestStream: streams,
    responseStream: streams,
  };
  const unary = (call: ServerUnaryCall<Buffer, Uint8Array>, done: sendUnaryData<Uint8Array>) => {
    const { step } = next(call.metadata);
    if (step === "stored") done(null, stored[name]!);
    else if (step !== "silence") done(failureOf(step));
  };
  const appendMany = (call: ServerDuplexStream<Buffer, Uint8Array>) => {
    call.on("data", () => {
      const { key, step } = next(call.metadata);
      if (step === "stored") return call.write(stored[name]!);
      if (step === "silence") return;
      if (silent.includes(step) || key.includes("whole")) return call.emit("error", failureOf(step));
      const refused = create(AppendOutcomeSchema, { outcome: { case: "refused", value: errorOf(step) } });
      return call.write(toBinary(AppendOutcomeSchema, refused));
    });
    call.on("end", () => call.end());
  };
  server.addService({ [name]: definition }, { [name]: streams ? appendMany : unary });
}

before(async () => {
  for (const name of ["Append", "AppendMany", "PutSnapshot"]) serve("EventStore", name);
  for (const name of ["Schedule", "Cancel"]) serve("ScheduledAppends", name);
  serve("Aggregates", "Ask");
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  address = `127.0.0.1:${port}`;
});
after(() => server.forceShutdown());

async function endOf(name: string, call: (client: Client) => Promise<unknown>, tries: readonly string[]) {
  const token = `${name.replaceAll(/[ ,]/g, "_")}/${tries.join("/")}`;
  left.set(token, [...tries]);
  // One that ends with its time has time for two tries, on a busy machine.
  const timeoutMs = endless.includes(tries.at(-1)!) ? 3_000 : 60_000;
  await using client = connect(address, { token, timeoutMs, unavailableTimeoutMs: 300, followShards: false });
  try {
    await call(client);
    return "stored";
  } catch (error) {
    if (!(error instanceof EvershardError)) throw error;
    return error instanceof OutcomeUnknownError ? "unknown" : error.code;
  }
}

for (const [name, call] of Object.entries(calls)) {
  test(`a write ends as the table says: ${name}`, async () => {
    // There the first refusal is the outcome, and there is no further try.
    const outright = name === "appendMany";
    const run = cases.filter(({ tries }) => !outright || tries.slice(0, -1).every((step) => silent.includes(step)));
    const ends = await Promise.all(run.map(async ({ tries }) => ({ tries, ends: await endOf(name, call, tries) })));
    deepEqual(ends, run);
    ok(run.length > 20);
  });
}
