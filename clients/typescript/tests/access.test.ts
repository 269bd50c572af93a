// Tokens, TLS, Unix sockets, compression, limits of size.

import { deepEqual, equal, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  connect,
  InvalidArgumentError,
  PermissionDeniedError,
  Query,
  TooLargeError,
  UnauthenticatedError,
  UnavailableError,
} from "../src/index.js";
import { Proxy } from "./proxy.js";
import { onlyServe, refused, Server, temporaryDirectory } from "./server.js";

const tokens =
  "reader read reader-0123456789\nwriter append,read writer-0123456789\noperator read,append,admin operator-0123456789\n";
const append = { events: [{ type: "A" }] };

test("a token's scopes say what it may", async () => {
  await using server = await Server.start({ tokens });
  const as = (token?: string) => connect(server.address, token === undefined ? {} : { token });
  await using nobody = as();
  await using stranger = as("stranger-0123456789");
  await using reader = as("reader-0123456789");
  await using writer = as("writer-0123456789");
  await using operator = as("operator-0123456789");

  for (const client of [nobody, stranger]) {
    await refused(UnauthenticatedError, client.head());
    await refused(UnauthenticatedError, client.append(append));
    await refused(UnauthenticatedError, client.read(Query.all).toArray());
    await refused(
      UnauthenticatedError,
      (async () => {
        for await (const { error } of client.appendMany([append])) if (error) throw error;
      })(),
    );
  }
  equal(await reader.head(), 0);
  await refused(PermissionDeniedError, reader.append(append));
  await refused(PermissionDeniedError, reader.admin.flush());
  equal((await writer.append(append)).firstPosition, 1);
  await refused(PermissionDeniedError, writer.admin.verify());
  await operator.admin.flush();
  equal((await operator.admin.verify()).events, 1);
});

test("TLS: the server's certificate, and the client's where it is asked for", onlyServe, async () => {
  const dir = temporaryDirectory();
  const file = (name: string) => join(dir, name);
  const openssl = (...words: string[]) => execFileSync("openssl", words, { cwd: dir, stdio: "pipe" });
  const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...ec, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test CA", "-days", "2");
  for (const [name, san] of [
    ["server", "DNS:store.example,IP:127.0.0.1"],
    ["client", "DNS:client"],
  ] as const) {
    openssl("req", ...ec, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    writeFileSync(file("san"), `subjectAltName=${san}\n`);
    openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-out",
      `${name}.pem`,
      "-days",
      "2",
      "-extfile",
      "san",
    );
  }
  const root = readFileSync(file("ca.pem"));
  const cert = readFileSync(file("client.pem"));
  const key = readFileSync(file("client.key"));
  const tls = ["--tls-cert", file("server.pem"), "--tls-key", file("server.key")];
  {
    await using server = await Server.start({ tokens, more: tls });
    await using known = connect(server.address, { tls: { root }, token: "writer-0123456789" });
    await using named = connect(server.address, {
      tls: { root, serverName: "store.example" },
      token: "writer-0123456789",
    });
    await using other = connect(server.address, { tls: { root, serverName: "other.example" }, timeoutMs: 4_000 });
    await using unknown = connect(server.address, { tls: true, timeoutMs: 4_000 });
    await using clear = connect(server.address, { timeoutMs: 4_000 });
    equal((await known.append(append)).firstPosition, 1);
    equal(await named.head(), 1);
    await Promise.all([other, unknown, clear].map((client) => refused(UnavailableError, client.head())));
  }
  await using mutual = await Server.start({ more: [...tls, "--tls-client-ca", file("ca.pem")] });
  await using shown = connect(mutual.address, { tls: { root, cert, key } });
  await using hidden = connect(mutual.address, { tls: { root }, timeoutMs: 4_000 });
  equal(await shown.head(), 0);
  await refused(UnavailableError, hidden.head());
});

test("over a Unix socket", onlyServe, async () => {
  const path = join(temporaryDirectory(), "door");
  await using server = await Server.start({ more: ["--unix-socket", path] });
  await using client = connect(`unix:${path}`);
  await using near = connect(server.address);
  await client.append(append);
  equal(await near.head(), 1);
});

test("by name, and compressed", async () => {
  await using server = await Server.start();
  await using client = connect(`localhost:${server.port}`, { compression: "gzip" });
  const { firstPosition } = await client.append({ events: [{ type: "A", payload: "x".repeat(100_000) }] });
  equal((await client.eventAt(firstPosition)).text().length, 100_000);
});

test("what is asked for compressed comes so, and is read as it was", async () => {
  await using server = await Server.start();
  await using writer = connect(server.address);
  const payloads = Array.from({ length: 50 }, (_, n) =>
    JSON.stringify({ n, text: "the same words again ".repeat(50) }),
  );
  for (const payload of payloads) await writer.append({ events: [{ type: "A", payload }] });
  const bytesOf = async (compression: "gzip" | undefined) => {
    await using proxy = await Proxy.to(server.port);
    await using reader = connect(proxy.address, { compression });
    const most = (proxy.cutAfterBytes = 1e9);
    deepEqual(
      (await reader.read().toArray()).map((event) => event.text()),
      payloads,
    );
    for await (const event of reader.subscribe(undefined, { after: 0 }).events())
      if (event.position === payloads.length) break;
    return most - proxy.cutAfterBytes;
  };
  const plain = await bytesOf(undefined);
  const packed = await bytesOf("gzip");
  ok(plain > 2 * 50_000 && packed < plain / 4, `${packed} bytes of ${plain}`);
});

test("what is too large for the connection is said to be", async () => {
  await using server = await Server.start();
  await using client = connect(server.address, { receiveBytesMax: 10_000, sendBytesMax: 50_000 });
  await refused(TooLargeError, client.append({ events: [{ type: "A", payload: new Uint8Array(60_000) }] }));
  const { firstPosition } = await client.append({ events: [{ type: "A", payload: new Uint8Array(20_000) }] });
  await refused(TooLargeError, client.eventAt(firstPosition));
  await refused(TooLargeError, client.read().toArray());
});

test("options that cannot be are refused at once", async () => {
  for (const options of [{ tls: { cert: "x" } }, { tls: { root: "no PEM" } }, { token: "line\nbreak" }]) {
    let error: unknown;
    try {
      connect("127.0.0.1:1", options).close();
    } catch (caught) {
      error = caught;
    }
    ok(error instanceof InvalidArgumentError, JSON.stringify(options));
  }
});
