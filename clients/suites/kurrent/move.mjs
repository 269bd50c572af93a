// From a server to another store and back to clients: `import --from kurrentdb://`, killed twice on the way; `copy`;
// `export` and `import`; `backup`. What Kurrent's client reads is the same everywhere.
// Usage: node move.mjs PROGRAM FOLDER

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import client from "@kurrent/kurrentdb-client";

const { KurrentDBClient, jsonEvent, binaryEvent, START, FORWARDS } = client;
const [program, folder] = process.argv.slice(2);
const run = async (...words) => {
  const { stdout } = await promisify(execFile)(program, [...words, "--format", "json"], { maxBuffer: 1 << 28 });
  return stdout === "" ? {} : JSON.parse(stdout.split("\n")[0]);
};
const serve = async (data) => {
  const server = spawn(program, ["serve", "--data", data, "--log-level", "error", "--listen", "127.0.0.1:0",
    "--http-listen", "none", "--kurrent-listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  let ready = "";
  for await (const text of server.stdout) {
    ready += text;
    if (ready.includes("\n")) break;
  }
  const address = ready.match(/ kurrent (\S+)/)[1];
  return {
    address,
    db: KurrentDBClient.connectionString(`kurrentdb://${address}?tls=false`),
    async stop() {
      await this.db.dispose();
      server.kill("SIGTERM");
      await new Promise((ended) => server.once("exit", ended));
    },
  };
};
const all = async (db, positions) => {
  const events = [];
  for await (const { event } of db.readAll({ fromPosition: START, direction: FORWARDS })) {
    if (event.streamId.startsWith("$copy-")) continue; // where a copy stands
    const { streamId, revision, id, type, isJson, data, metadata, created, position } = event;
    events.push({ streamId, revision, id, type, isJson, created: created.getTime(),
      data: isJson ? data : Buffer.from(data).toString("base64"), metadata: metadata ?? null,
      ...(positions ? { position: position.commit } : {}) });
  }
  return events;
};
const gone = async (db, stream) => {
  try {
    for await (const _ of db.readStream(stream)) return "there";
    return "empty";
  } catch (error) {
    return error.type;
  }
};

const collect = async (of) => {
  const all = [];
  for await (const event of of) all.push(event);
  return all;
};

const at = (name) => join(folder, name);
const theirs = await serve(at("theirs"));
for (let round = 0; round < 60; ++round) {
  const events = Array.from({ length: 100 }, (_, i) => i % 3
    ? jsonEvent({ type: `T${i % 5}`, data: { round, text: "ä".repeat(i) }, metadata: { by: i } })
    : binaryEvent({ type: "Raw", data: Buffer.from([round, i, 0, 255]) }));
  await theirs.db.appendToStream(["order-1", `order-${round}`, "cart", "-7", "$mine-7"][round % 5], events);
}
const shared = randomUUID();
await theirs.db.appendToStream("one", jsonEvent({ id: shared, type: "Same", data: {} }));
await theirs.db.appendToStream("two", jsonEvent({ id: shared, type: "Same", data: {} }));
await theirs.db.setStreamMetadata("cart", { maxCount: 7, mine: "kept" });
await theirs.db.deleteStream("-7");
await theirs.db.appendToStream("-7", jsonEvent({ type: "Again", data: {} }));
await theirs.db.tombstoneStream("$mine-7");
await theirs.db.appendToStream("links", { id: randomUUID(), type: "$>", contentType: "application/octet-stream",
  data: Buffer.from("0@order-1"), metadata: undefined });
const [there, placed] = [await all(theirs.db), await all(theirs.db, true)];
assert.ok(there.length > 6_000);

// Killed wherever it is, it goes on.
await run("init", "--data", at("imported"), "--shards", "4");
const from = ["import", "--from", `kurrentdb://${theirs.address}?tls=false`, "--data", at("imported")];
let killed = 0;
for (const after of [60, 120, 180, 240]) {
  const importing = spawn(program, from, { stdio: "ignore" });
  const ended = new Promise((end) => importing.once("exit", (_, signal) => end(signal)));
  await sleep(after);
  importing.kill("SIGKILL");
  if ((await ended) === "SIGKILL") ++killed;
}
assert.ok(killed > 0, "it was too quick to be killed");
const told = await run(...from);
assert.equal(told.source_events, there.length);
assert.equal(told.same_events, there.length);
assert.equal(told.source_hash, told.stored_hash);
assert.equal(told.events_known + told.events_stored, there.length);
assert.equal((await run(...from)).events_stored, 0);
await theirs.stop();

// Out of the store by the other ways.
await run("export", at("all.jsonl"), "--data", at("theirs"));
await run("init", "--data", at("exported"), "--shards", "3");
await run("import", at("all.jsonl"), "--data", at("exported"));
await run("init", "--data", at("copied"), "--shards", "2");
await run("copy", "--from", at("theirs"), "--to", at("copied"), "--in-flight", "1");
await run("backup", at("saved"), "--data", at("theirs"));

for (const [name, same] of [["imported", placed], ["exported", placed], ["saved", placed], ["copied", there]]) {
  const { db, stop, ...rest } = await serve(at(name));
  assert.deepEqual(await all(db, same === placed), same, `${name}: $all`);
  assert.equal(await gone(db, "$mine-7"), "stream-deleted", name);
  assert.deepEqual((await collect(db.readStream("-7"))).map(({ event }) => event.type), ["Again"], name);
  assert.equal((await collect(db.readStream("cart"))).length, 7, name);
  assert.equal((await db.getStreamMetadata("cart")).metadata.mine, "kept", name);
  const [link] = await collect(db.readStream("links", { resolveLinkTos: true }));
  assert.equal(link.event.streamId, "order-1", name);
  const { nextExpectedRevision } = await db.appendToStream("cart", jsonEvent({ type: "On", data: {} }));
  assert.equal(nextExpectedRevision, BigInt(there.filter(({ streamId }) => streamId === "cart").length), name);
  await stop.call({ db, ...rest, stop });
}
console.log(`node: ${there.length} events moved in four ways; the import was killed ${killed} times`);
