// A mock of the HTTP door: dist/ and the API, fed with invented data. `node mock/server.mjs [--port N] [--tokens] [--empty]`
//
// With --tokens it wants one: `reader` (read) or `keeper` (read, append, admin).

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { cluster } from "./cluster.mjs";
import { MockProcesses } from "./processes.mjs";
import { MockSchedule } from "./scheduled.mjs";
import { fill, MockStore, refuse, settings } from "./store.mjs";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const tokens = { reader: ["read"], keeper: ["read", "append", "admin"] };
const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const number = (text) => (text === null || text === undefined ? undefined : Number(text));

/// Answers {url, store, close()}.
export async function mock({
  port = 0,
  tokens: guarded = false,
  empty = false,
  events = 900,
  backlog = 0,
  one = false,
} = {}) {
  const store = new MockStore();
  const began = new Date();
  const storeId = "5f0c2a52-6d6e-4c8e-9f5a-0c7f3f8a11d4";
  let sealed = 0;
  if (!empty) fill(store, events);
  const schedule = new MockSchedule(store);
  if (!empty) schedule.fill();
  const processes = new MockProcesses(store);
  if (!empty) processes.fill();
  if (!empty) sealed = Math.max(0, store.events.length - 380);

  const scopesOf = (request) => {
    if (!guarded) return tokens.keeper;
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const cookie = /(?:^|; )evershard_token=([^;]*)/.exec(request.headers.cookie ?? "")?.[1];
    return tokens[bearer ?? decodeURIComponent(cookie ?? "")] ?? [];
  };
  const stats = () => ({
    store_id: storeId,
    shards: 16,
    format: 3,
    hash: 1,
    created_at: "2026-01-31T12:00:00.000000Z",
    head: store.events.length,
    sealed,
    tail_events: store.events.length - sealed,
    commits: store.totals.appends,
    appends: store.totals.appends,
    refused: store.totals.refused,
    disk_bytes: 18_400_000 + store.events.length * 310,
    disk_free_bytes: 214_000_000_000,
    memory_bytes: 148_000_000,
    backend_assertions: false,
    details: {
      journal_bytes: 9_120_441,
      order_bytes: 512_220,
      runs: 7,
      runs_bytes: 2_201_120,
      streams_bytes: 1_440_210,
      cache_hits: 48_112,
      cache_misses: 911,
    },
  });

  async function api(request, response, url, scopes) {
    const need = (scope) => {
      if (scopes.includes(scope)) return;
      if (scopes.length === 0) refuse(401, "unauthenticated", "a token is needed");
      refuse(403, "permission_denied", `the token lacks the scope ${scope}`);
    };
    const parts = url.pathname.split("/").slice(3).map(decodeURIComponent);
    const asked = url.searchParams;
    const body = request.method === "POST" ? await bodyOf(request) : undefined;
    const route = `${request.method} ${parts[0] === "admin" || parts[0] === "live" ? parts.join("/") : parts[0]}`;
    const paging = (from) => ({
      after: number(from.after),
      before: number(from.before),
      up_to: number(from.up_to),
      per_aggregate: number(from.per_aggregate),
      per_aggregate_from: number(from.per_aggregate_from),
      limit: number(from.limit) ?? 100,
      direction: from.direction,
    });
    switch (route) {
      case "GET session":
        return { open: !guarded, scopes };
      case "POST session":
        if (!tokens[body.token]) refuse(401, "unauthenticated", "the token is not known");
        response.setHeader(
          "Set-Cookie",
          `evershard_token=${encodeURIComponent(body.token)}; HttpOnly; SameSite=Strict; Path=/`,
        );
        return { open: false, scopes: tokens[body.token] };
      case "DELETE session":
        response.setHeader("Set-Cookie", "evershard_token=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
        return { open: !guarded, scopes: [] };
      case "GET info":
        need("read");
        return {
          store_id: storeId,
          shards: 16,
          format: 3,
          created_at: "2026-01-31T12:00:00.000000Z",
          version: "0.1.0",
          started_at: began.toISOString(),
          listen: { grpc: "127.0.0.1:7430", http: "127.0.0.1:7421" },
          cluster: !one,
          limits: { connections: 256, body_bytes: 16_777_216, page_events: 1000 },
        };
      case "GET stats":
        return (need("read"), stats());
      case "GET head":
        return (need("read"), { head: store.events.length });
      case "GET events": {
        need("read");
        if (parts.length === 1) return store.page(paging(Object.fromEntries(asked)));
        const event = store.events[Number(parts[1]) - 1];
        return (
          event ??
          refuse(404, "not_found", `there is no event at position ${parts[1]}: the head is ${store.events.length}`, {
            position: Number(parts[1]),
          })
        );
      }
      case "POST query": {
        need("read");
        const started = performance.now();
        const page = store.page({ ...paging(body), matches: store.matcher(body.query) });
        return {
          ...page,
          cost: { micros: Math.round((performance.now() - started) * 1000), matches: page.events.length },
        };
      }
      case "POST condition": {
        need("read");
        const started = performance.now();
        const first =
          store.page({ matches: store.matcher(body.query), after: body.after ?? 0, limit: 1 }).events[0] ?? null;
        return {
          holds: first === null,
          head: store.events.length,
          first_conflict: first,
          micros: Math.round((performance.now() - started) * 1000),
        };
      }
      case "GET aggregates":
        need("read");
        if (parts.length === 1)
          return store.aggregates({
            type: asked.get("type") ?? undefined,
            after: asked.get("after") ?? undefined,
            limit: number(asked.get("limit")),
          });
        if (parts[2] === "events")
          return store.stream(parts[1], {
            from: number(asked.get("from")),
            limit: number(asked.get("limit")),
            direction: asked.get("direction"),
          });
        if (parts[2] === "state") return store.state(parts[1], { version: number(asked.get("version")) });
        if (parts[2] === "snapshots")
          return (
            store.aggregate(parts[1]),
            { aggregate: parts[1], snapshots: [...(store.snapshots.get(parts[1]) ?? [])].reverse() }
          );
        return store.aggregate(parts[1]);
      case "POST append":
        return (need("append"), store.append(body));
      case "GET scheduled":
        need("read");
        return parts.length === 1 ? schedule.list(Object.fromEntries(asked)) : schedule.get(parts[1]);
      case "POST scheduled":
        need("append");
        return parts.length === 1 ? schedule.schedule(body) : schedule.cancel(parts[1]);
      case "GET processes":
        need("read");
        if (parts.length === 1) return { processes: processes.list() };
        if (parts[2] === "instances") return processes.instances(parts[1], Object.fromEntries(asked));
        if (parts[2] === "parked") return { effects: processes.parked(parts[1]) };
        return processes.get(parts[1]);
      case "POST processes":
        return (need("admin"), processes.control(parts[1], body));
      case "GET timers":
        return (need("read"), processes.timers(Object.fromEntries(asked)));
      case "POST timers":
        return (need("admin"), processes.cancelTimer(parts[1], asked.get("name")));
      case "GET cluster":
        need("admin");
        if (one) refuse(400, "invalid_argument", "this server's store is one process, it has no cluster");
        return cluster(store.events.length);
      case "GET settings":
        return (need("admin"), { settings });
      case "POST admin/flush":
        return (need("admin"), (sealed = store.events.length), { sealed });
      case "POST admin/verify":
        need("admin");
        return work(request, response, {
          events: store.events.length,
          records: store.events.length + 12,
          index_rows: 4211,
          snapshots: 88,
          errors: 0,
          findings: [],
        });
      case "POST admin/vacuum":
        need("admin");
        // Long enough to be stopped, on a busy machine too.
        return work(request, response, { disk_bytes_before: 18_700_000, disk_bytes: 18_400_000 }, 300);
      case "GET live/events":
        return (need("read"), liveEvents(request, response, asked));
      case "GET live/stats":
        return (need("read"), liveStats(request, response));
      default:
        return refuse(404, "not_found", `there is no ${request.method} ${url.pathname}`);
    }
  }

  function stream(response) {
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    });
    response.write(":\n\n");
    return (event, data, id) =>
      response.write(`event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  /// In eleven steps, so many milliseconds apart.
  async function work(request, response, result, apart = 80) {
    if (!request.headers.accept?.includes("text/event-stream")) return result;
    const send = stream(response);
    for (let done = 0; done <= 10 && !response.destroyed; done += 1) {
      send("progress", { done: done * 1000, total: 10_000 });
      await new Promise((then) => setTimeout(then, apart));
    }
    send("result", result);
    return (response.end(), undefined);
  }
  function liveEvents(request, response, asked) {
    const item = { types: asked.getAll("type"), tags: asked.getAll("tag"), concerning: asked.getAll("concerning") };
    const matches = Object.values(item).some((part) => part.length > 0) ? store.matcher({ items: [item] }) : () => true;
    const send = stream(response);
    const give = (event) => {
      if (matches(event)) send("event", event, event.position);
    };
    const after = asked.get("from") === "now" ? store.events.length : Number(asked.get("after") ?? 0);
    store.events.slice(after).forEach(give);
    send("caught_up", { watermark: store.events.length });
    store.followers.add(give);
    response.on("close", () => store.followers.delete(give));
  }
  function liveStats(request, response) {
    const send = stream(response);
    let [second, busy] = [0, { appends: 0, events: 0, reads: 0, refused: 0 }];
    const tell = (at = Date.now()) => {
      second += 1;
      const wave =
        (Math.sin(second / 31) + 0.45 * Math.sin(second / 8.3 + 1) + 0.25 * Math.sin(second / 2.9) + 2.4) * 800 +
        Math.random() * 260;
      busy = {
        appends: busy.appends + Math.round(wave),
        events: busy.events + Math.round(wave * 2.4),
        reads: busy.reads + Math.round(wave * 21 + 9000 * Math.random()),
        refused: busy.refused + (Math.random() < 0.12 ? Math.round(Math.random() * 9) : 0),
      };
      const { head, disk_bytes, memory_bytes, tail_events } = stats();
      const p50 = Math.round(380 + Math.random() * 90 + wave / 20);
      send("stats", {
        at: new Date(at).toISOString(),
        head,
        ...busy,
        disk_bytes,
        memory_bytes,
        tail_events,
        commit_micros: { p50, p99: Math.round(p50 * (2.1 + Math.random())) },
        append_micros: { p50: p50 + 210, p99: Math.round((p50 + 210) * (2.4 + Math.random() * 1.5)) },
      });
    };
    for (let past = backlog; past >= 0; past -= 1) tell(Date.now() - past * 1000);
    const timer = setInterval(() => tell(), 1000);
    response.on("close", () => clearInterval(timer));
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://mock");
    try {
      if (url.pathname.startsWith("/api/v1/")) {
        const answer = await api(request, response, url, scopesOf(request));
        if (answer !== undefined) json(response, 200, answer);
      } else if (url.pathname === "/health") {
        json(response, 200, { status: "serving", version: "0.1.0" });
      } else {
        asset(response, url.pathname === "/" ? "/index.html" : url.pathname);
      }
    } catch (error) {
      json(response, error.status ?? 500, {
        error: { code: error.code ?? "io", message: error.message, ...error.details },
      });
    }
  });
  await new Promise((then) => server.listen(port, "127.0.0.1", then));
  return {
    processes,
    url: `http://127.0.0.1:${server.address().port}`,
    store,
    close: () => new Promise((then) => (server.close(then), server.closeAllConnections())),
  };
}

function json(response, status, value) {
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(JSON.stringify(value));
}

function asset(response, path) {
  const file = join(dist, normalize(path));
  if (!file.startsWith(dist) || !existsSync(file) || !types[extname(file)])
    return json(response, 404, { error: { code: "not_found", message: `there is no ${path}` } });
  response.writeHead(200, {
    "Content-Type": types[extname(file)],
    "Content-Security-Policy": pagePolicy,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  });
  return createReadStream(file).pipe(response);
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString() || "{}");
  } catch {
    return refuse(400, "invalid_argument", "the body is no JSON");
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flag = (name) => process.argv.includes(name);
  const port = flag("--port") ? Number(process.argv[process.argv.indexOf("--port") + 1]) : 7421;
  const { url, store } = await mock({ port, tokens: flag("--tokens"), empty: flag("--empty"), backlog: 240 });
  if (!flag("--empty"))
    setInterval(
      () =>
        store.append({
          aggregate: `order-${1001 + Math.floor(Math.random() * 60)}`,
          type: "LineAdded",
          tags: ["customer:42"],
          payload: { count: 1 },
        }),
      2500,
    );
  console.log(url);
}
