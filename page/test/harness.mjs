// What the tests of the page stand on: one browser, a server (the mock's, or one that is named), and a wire to it that can be cut.
//
//   PAGE_URL                                      an open server with any data; the tests append their own
//   PAGE_TOKENS_URL, PAGE_TOKEN_READ, PAGE_TOKEN_ADMIN   one with tokens
//   PAGE_EMPTY_URL                                one whose store is empty
//   PAGE_PROGRAM                                  `evershard`: puts snapshots into PAGE_URL's store, by gRPC
//   PAGE_CHROMIUM                                 the browser; /usr/bin/chromium otherwise
//   PAGE_TIMEOUT_MS                               how long one step may take; 60,000 otherwise

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { connect, createServer } from "node:net";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { mock } from "../mock/server.mjs";

export const real = process.env.PAGE_URL !== undefined;
const stepMsMax = Number(process.env.PAGE_TIMEOUT_MS ?? 60_000);
export const tokenOf = {
  read: process.env.PAGE_TOKEN_READ ?? "reader",
  admin: process.env.PAGE_TOKEN_ADMIN ?? "keeper",
};

/// A wire between browser and server: cut() ends what is under way and answers nothing new.
async function wire(url) {
  const { hostname, port } = new URL(url);
  const ends = new Set();
  const listen = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [end, other] of [
      [near, far],
      [far, near],
    ]) {
      ends.add(end);
      end.on("error", () => other.destroy()).on("close", () => (ends.delete(end), other.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  const open = (at) => new Promise((then) => listen.listen(at, "127.0.0.1", then));
  const end = () => ends.forEach((socket) => socket.destroy());
  await open(0);
  const at = listen.address().port;
  return {
    url: `http://127.0.0.1:${at}`,
    cut: () => new Promise((then) => (listen.close(then), end())),
    mend: () => (listen.listening ? undefined : open(at)),
    close: () => new Promise((then) => (listen.listening ? listen.close(then) : then(), end())),
  };
}

/// What a page shows a moment later: `check` holds within the time of a step.
export async function soon(check) {
  for (const until = Date.now() + stepMsMax; ; await new Promise((then) => setTimeout(then, 20))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

export async function harness() {
  const closing = [];
  let invented; // the mock
  const serve = async (name, options) => {
    if (process.env[name]) return process.env[name];
    if (real) return undefined;
    const server = await mock(options);
    closing.push(server.close);
    if (name === "PAGE_URL") invented = server;
    return server.url;
  };
  const wired = async (url) => {
    if (url === undefined) return undefined;
    const made = await wire(url);
    closing.unshift(made.close);
    return made;
  };
  const open = await wired(await serve("PAGE_URL", { events: 400, backlog: 120 }));
  const guarded = await wired(await serve("PAGE_TOKENS_URL", { tokens: true, events: 20 }));
  const empty = await wired(await serve("PAGE_EMPTY_URL", { empty: true, one: true }));
  const browser = await chromium.launch({
    executablePath: process.env.PAGE_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  closing.unshift(() => browser.close());

  const tabs = new Set();
  /// After a test: what a tab that was left open shows is what one wants to see of a failure.
  async function settle() {
    await open.mend();
    for (const page of tabs) {
      console.error(page.url(), page.complaints, (await page.innerText("body").catch(String)).slice(0, 1500));
      await page.context().close();
    }
    tabs.clear();
  }

  /// A tab of its own. What the browser complains of (errors, what the policy refuses, other hosts) is in `complaints`, and `done` wants none.
  async function tab(at, hash = "", { width = 1200, height = 800, colorScheme = "light", expected } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    page.setDefaultTimeout(stepMsMax);
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()) && !expected?.test(message.text()))
        complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(at.url) && !request.url().startsWith("data:"))
        complaints.push(`a foreign host: ${request.url()}`);
    });
    page.on("dialog", (dialog) => (complaints.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
    tabs.add(page);
    page.complaints = complaints;
    await page.goto(`${at.url}/${hash}`);
    page.done = async () => {
      assert.deepEqual(complaints, []);
      tabs.delete(page);
      await context.close();
    };
    return page;
  }

  async function post(path, value, at, token) {
    const answer = await fetch(`${at.url}/api/v1/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify(value),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return JSON.parse(text);
  }
  const append = (value, at = open) => post("append", value, at);
  const schedule = (value, at = open, token = undefined) => post("scheduled", value, at, token);
  const cancelScheduled = (id) => post(`scheduled/${encodeURIComponent(id)}/cancel`, {}, open);

  /// The state of an aggregate of the open server at a version; the HTTP API takes none, so it goes the way an application's would.
  async function snapshot({ aggregate, version, payload }) {
    if (!real) return invented.store.putSnapshot({ aggregate, version, payload });
    assert.ok(process.env.PAGE_PROGRAM, "PAGE_PROGRAM is not given");
    const { listen } = await (await fetch(`${open.url}/api/v1/info`)).json();
    const words = [
      "snapshot",
      "put",
      aggregate,
      "--server",
      listen.grpc,
      "--version",
      version,
      "--payload",
      JSON.stringify(payload),
      "--keep",
      5,
    ];
    await promisify(execFile)(process.env.PAGE_PROGRAM, words.map(String), { env: { PATH: process.env.PATH } });
  }

  return {
    invented,
    open,
    guarded,
    empty,
    tab,
    append,
    schedule,
    cancelScheduled,
    snapshot,
    settle,
    close: async () => {
      for (const close of closing) await close();
    },
  };
}
