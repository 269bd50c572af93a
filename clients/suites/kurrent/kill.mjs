// The program is killed under the load of their client, several times: what was acknowledged is there, once, in order.
import assert from "node:assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { KurrentDBClient, jsonEvent } from "@kurrent/kurrentdb-client";

const [data, rounds = "4"] = process.argv.slice(2);
let listen = "127.0.0.1:0";

async function start() {
  const server = spawn(
    process.env.EVERSHARD_SERVER,
    ["serve", "--data", data, "--log-level", "error", "--listen", "127.0.0.1:0", "--http-listen", "none",
      "--kurrent-listen", listen],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let said = "";
  for await (const bytes of server.stdout) {
    said += bytes;
    if (said.includes("ready")) break;
  }
  listen = / kurrent (\S+)/.exec(said)[1];
  return server;
}

const writers = 8;
const acknowledged = Array.from({ length: writers }, () => []);
const asked = Array.from({ length: writers }, () => null); // whose answer never came
let killed = false;

/** Appends one by one, every third time by the call of one append, until the server is gone. */
async function write(client, writer) {
  for (let n = 0; ; ++n) {
    const event = asked[writer] ?? jsonEvent({ type: "Written", data: { writer, n } });
    asked[writer] = event;
    const classic = n % 3 === 0 ? { credentials: { username: "a", password: "b" } } : {};
    try {
      await client.appendToStream(`load-${writer}`, event, classic);
    } catch (error) {
      if (killed) return;
      throw error;
    }
    acknowledged[writer].push(event.id);
    asked[writer] = null;
  }
}

for (let round = 0; round < Number(rounds); ++round) {
  killed = false;
  const server = await start();
  const client = KurrentDBClient.connectionString(`kurrentdb://${listen}?tls=false&defaultDeadline=20000`);
  const before = acknowledged.flat().length;
  const all = Array.from({ length: writers }, (_, writer) => write(client, writer));
  const until = Date.now() + 20_000;
  await sleep(300 + Math.random() * 700);
  while (acknowledged.flat().length < before + 50 && Date.now() < until) await sleep(20);
  killed = true;
  server.kill("SIGKILL");
  await once(server, "exit");
  await Promise.all(all);
  assert(acknowledged.flat().length >= before + 50, "there was a load");
  await client.dispose();
}

const server = await start();
const client = KurrentDBClient.connectionString(`kurrentdb://${listen}?tls=false`);
const everywhere = new Set();
for await (const { event } of client.readAll()) {
  if (!event?.streamId.startsWith("load-")) continue;
  assert(!everywhere.has(event.id), "an event is there once");
  everywhere.add(event.id);
}
for (let writer = 0; writer < writers; ++writer) {
  const there = [];
  for await (const { event } of client.readStream(`load-${writer}`)) there.push(event.id);
  if (asked[writer] && there.at(-1) === asked[writer].id) there.pop(); // written, and nobody was told
  assert.deepStrictEqual(there, acknowledged[writer], "what was acknowledged is there, in its order");
  for (const id of there) assert(everywhere.has(id), "and in $all");
}
await client.dispose();
server.kill("SIGTERM");
await once(server, "exit");
console.log(`kill: ${acknowledged.flat().length} acknowledged events are there after ${rounds} kills`);
process.exit(0);
