// Connections that can never be made are told at once, in plain words; once a server was there, it is waited for.

import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { Server, ServerCredentials } from "@grpc/grpc-js";

import { ConnectFaults, wholeAddress, wordsOf } from "../src/connect_faults.js";
import {
  connect,
  InvalidArgumentError,
  NotFoundError,
  UnavailableError,
  type Client,
  type ConnectOptions,
} from "../src/index.js";
import { FakeServer } from "./fake_server.js";
import { refused, root, temporaryDirectory } from "./server.js";

const table = JSON.parse(readFileSync(join(root, "tests/clients/connections.json"), "utf8")) as {
  addresses: { given: string; is?: string }[];
  faults: { text: string; says: string | null }[];
};
const timeoutMs = 600_000; // nobody waits so long for a test: what ends, ended before its time

test("an address is read as the table says", () => {
  for (const { given, is } of table.addresses) {
    if (is !== undefined) equal(wholeAddress(given), is);
    else throws(() => wholeAddress(given), InvalidArgumentError, given);
  }
  throws(() => connect("127.0.0.1:0"), InvalidArgumentError);
});

test("a fault is named as the table says", () => {
  deepEqual(
    table.faults.map(({ text }) => wordsOf(text) ?? null),
    table.faults.map(({ says }) => says),
  );
});

test("faults are final when every address says so and nobody was ever there", () => {
  const [noOne, untrusted] = [0, 8].map((row) => new UnavailableError(table.faults[row]!.text)) as [
    UnavailableError,
    UnavailableError,
  ];
  const lasting = (error: unknown) => error instanceof UnavailableError && error.lasting;
  const one = new ConnectFaults(1);
  ok(!lasting(one.failed(0, "a", noOne, 10_000)), "it may be starting");
  ok(!lasting(one.failed(0, "a", noOne, 10_900)));
  ok(lasting(one.failed(0, "a", noOne, 11_000)));
  const two = new ConnectFaults(2);
  ok(!lasting(two.failed(0, "a", untrusted, 0)));
  ok(lasting(two.failed(1, "b", untrusted, 0)));
  const told = new NotFoundError("no");
  told.told = true;
  const met = new ConnectFaults(1);
  met.failed(0, "a", told, 0);
  equal(met.failed(0, "a", noOne, 0), noOne);
  equal(met.failed(0, "a", noOne, 100_000), noOne);
});

const calls: Record<string, (client: Client) => Promise<unknown>> = {
  head: (client) => client.head(),
  append: (client) => client.append({ events: [{ type: "T" }] }),
  appendMany: async (client) => {
    for await (const { error } of client.appendMany([{ events: [{ type: "T" }] }])) if (error) throw error;
  },
  read: (client) => client.read().toArray(),
  subscribe: async (client) => {
    for await (const _ of client.subscribe()) ok(false);
  },
  work: (client) => client.work("g").next(),
};

async function toldAtOnce(address: string, says: RegExp, options: ConnectOptions = {}): Promise<void> {
  for (const [name, call] of Object.entries(calls)) {
    await using client = connect(address, { timeoutMs, ...options });
    const error = await refused(UnavailableError, call(client));
    match(error.message, says, name);
    ok(error.lasting && !error.outcomeUnknown, name);
  }
}

test("nobody listens", async () => {
  await toldAtOnce("127.0.0.1:1", /^no connection to 127.0.0.1:1: nobody listens there/);
  await toldAtOnce("unix:/tmp/no.such.socket", /nobody listens there/);
  await toldAtOnce("127.0.0.1:1,127.0.0.1:2", /nobody listens there/);
});

test("there is no such host", () => toldAtOnce("no-such-host.invalid", /there is no host of that name/));

test("TLS on one side only, and certificates that do not fit", async () => {
  const folder = temporaryDirectory();
  const [cert, key] = ["cert.pem", "key.pem"].map((name) => join(folder, name)) as [string, string];
  execFileSync(
    "openssl",
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${key} -out ${cert} -days 2 -subj /CN=other -addext subjectAltName=DNS:other`.split(
      " ",
    ),
    { stdio: "ignore" },
  );
  const pair = { private_key: readFileSync(key), cert_chain: readFileSync(cert) };
  const server = new Server();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createSsl(null, [pair]), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  await toldAtOnce(`127.0.0.1:${port}`, /it may want TLS/);
  await toldAtOnce(`127.0.0.1:${port}`, /not signed by anybody who is trusted here/, { tls: true });
  await toldAtOnce(`localhost:${port}`, /made out to another name/, { tls: { root: pair.cert_chain } });
  server.forceShutdown();
  await using plain = await FakeServer.start(() => "silence");
  await toldAtOnce(plain.address, /it does not speak TLS/, { tls: true });
});

test("the HTTP port", async () => {
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  await toldAtOnce(`127.0.0.1:${(server.address() as AddressInfo).port}`, /it speaks HTTP\/1, not gRPC/);
  server.closeAllConnections();
  server.close();
});
