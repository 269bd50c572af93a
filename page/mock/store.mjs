// An invented store in memory: what the page is written and tested against where there is no server.

const refuse = (status, code, message, details = {}) => {
  throw Object.assign(new Error(message), { status, code, details });
};
export { refuse };

const shardOf = (text) => [...text].reduce((sum, c) => (Math.imul(sum, 31) + c.charCodeAt(0)) >>> 0, 7) % 16;

export class MockStore {
  events = []; // position i + 1
  streams = new Map();
  snapshots = new Map();
  totals = { appends: 0, refused: 0, reads: 0 };
  followers = new Set();

  append(append) {
    const asked = Array.isArray(append.events) ? append : { events: [append] };
    if (asked.events.length === 0) refuse(400, "invalid_argument", "events: an append has at least one");
    for (const [i, event] of asked.events.entries()) {
      if (!event.type) refuse(400, "invalid_argument", `events[${i}]: type is missing, or empty`);
    }
    for (const { aggregate, version } of asked.expect ?? []) {
      const actual = this.streams.get(aggregate)?.length ?? 0;
      const fits =
        version === "any" ||
        (version === "none" && actual === 0) ||
        (version === "exists" && actual > 0) ||
        version === actual;
      if (!fits) {
        this.totals.refused += 1;
        refuse(
          409,
          "version_conflict",
          `stream "${aggregate}" is at version ${actual}, the append expects ${version}`,
          { aggregate, expected: version, actual },
        );
      }
    }
    const first = this.events.length + 1;
    const versions = {};
    for (const event of asked.events) {
      const { aggregate, tags, also, ...rest } = event;
      const stored = {
        position: this.events.length + 1,
        shard: shardOf(aggregate ?? event.type),
        offset: this.events.length,
        id: crypto.randomUUID(),
      };
      if (aggregate) {
        if (!this.streams.has(aggregate)) this.streams.set(aggregate, []);
        this.streams.get(aggregate).push(stored);
        versions[aggregate] = this.streams.get(aggregate).length;
        Object.assign(stored, { aggregate, seq_nr: versions[aggregate] });
      }
      Object.assign(stored, { occurred_at: new Date().toISOString().replace("Z", "000Z") }, rest);
      if (tags?.length) stored.tags = [...new Set(tags)].sort();
      if (also?.length) stored.also = also;
      this.events.push(stored);
      for (const follower of this.followers) follower(stored);
    }
    this.totals.appends += 1;
    return { first_position: first, last_position: this.events.length, versions, duplicate: false };
  }

  /// Errors: invalid_query, as the store's.
  matcher(query) {
    if (query === undefined || query === null || typeof query !== "object")
      refuse(400, "invalid_query", "query: must be an object");
    if (query.all === true) return () => true;
    if (!Array.isArray(query.items) || query.items.length === 0)
      refuse(400, "invalid_query", "query.items: a query has at least one item");
    for (const [i, item] of query.items.entries()) {
      for (const key of Object.keys(item)) {
        if (!["types", "tags", "concerning"].includes(key))
          refuse(400, "invalid_query", `query.items[${i}].${key}: not known; known are types, tags, concerning`);
      }
      if (![item.types, item.tags, item.concerning].some((part) => part?.length))
        refuse(400, "invalid_query", `query.items[${i}]: an item asks for something`);
    }
    return (event) =>
      query.items.some(
        ({ types = [], tags = [], concerning = [] }) =>
          (types.length === 0 || types.includes(event.type)) &&
          tags.every((tag) => event.tags?.includes(tag)) &&
          concerning.every((aggregate) => event.aggregate === aggregate || event.also?.includes(aggregate)),
      );
  }

  page({
    matches = () => true,
    after,
    before,
    up_to,
    limit = 100,
    direction,
    per_aggregate: most,
    per_aggregate_from: counted,
  }) {
    if (limit > 1000) refuse(400, "invalid_argument", `limit ${limit} is above 1000`);
    const backwards = direction === "backwards";
    const from = counted ?? (backwards ? (before ?? this.events.length + 1) : (after ?? 0));
    const end = backwards ? from : before;
    const last = Math.min(this.events.length, up_to ?? Infinity, end === undefined ? Infinity : end - 1);
    const first = (backwards ? (after ?? 0) : from) + 1;
    const given = (position) => (backwards ? before !== undefined && position >= before : position <= (after ?? 0));
    const counts = new Map();
    const events = [];
    let complete = true;
    for (let i = 0; i <= last - first; i += 1) {
      const event = this.events[(backwards ? last - i : first + i) - 1];
      if (!matches(event)) continue;
      if (most !== undefined && event.aggregate) {
        const count = (counts.get(event.aggregate) ?? 0) + 1;
        counts.set(event.aggregate, count);
        if (count > most) continue;
      }
      if (given(event.position)) continue;
      if (events.length === limit) {
        complete = false;
        break;
      }
      events.push(event);
    }
    this.totals.reads += events.length;
    const at = events.at(-1)?.position;
    return {
      events,
      watermark: this.events.length,
      complete,
      next:
        complete || at === undefined
          ? null
          : {
              ...(backwards ? { before: at } : { after: at }),
              ...(most !== undefined && { per_aggregate_from: from }),
            },
    };
  }

  aggregates({ type, after, limit = 100 }) {
    const split = (id) => [id.slice(0, id.indexOf("-")), id.slice(id.indexOf("-") + 1)];
    const order = (a, b) =>
      split(a)[0] < split(b)[0]
        ? -1
        : split(a)[0] > split(b)[0]
          ? 1
          : split(a)[1] < split(b)[1]
            ? -1
            : split(a)[1] > split(b)[1]
              ? 1
              : 0;
    let ids = [...this.streams.keys()].filter((id) => !type || split(id)[0] === type).sort(order);
    if (after) ids = ids.filter((id) => order(id, after) > 0);
    const shown = ids.slice(0, limit);
    return { aggregates: shown.map((id) => this.aggregate(id)), next: ids.length > shown.length ? shown.at(-1) : null };
  }

  aggregate(id) {
    if (!/^[^-]+-./.test(id)) refuse(400, "invalid_argument", `"${id}" is no aggregate id: type-value`);
    const stream = this.streams.get(id);
    if (!stream) refuse(404, "not_found", `there is no aggregate "${id}"`, { aggregate: id });
    return { aggregate: id, version: stream.length, last_position: stream.at(-1).position, shard: stream[0].shard };
  }

  stream(id, { from, limit = 100, direction }) {
    const { version } = this.aggregate(id);
    const backwards = direction === "backwards";
    const all = this.streams.get(id);
    const picked = backwards
      ? all.filter((e) => e.seq_nr <= (from ?? version)).reverse()
      : all.filter((e) => e.seq_nr >= (from ?? 1));
    const events = picked.slice(0, limit);
    const complete = events.length === picked.length;
    return {
      events,
      watermark: this.events.length,
      complete,
      next: complete ? null : { from: events.at(-1).seq_nr + (backwards ? -1 : 1) },
    };
  }

  /// A copy that is retained, and the latest beside it, as the store keeps them.
  putSnapshot({ aggregate, version, payload }) {
    const { position, occurred_at } = this.streams.get(aggregate)[version - 1];
    const put = { aggregate, version, position, payload, schema_revision: 1, taken_at: occurred_at };
    const retained = (this.snapshots.get(aggregate) ?? []).filter(({ latest }) => !latest);
    this.snapshots.set(aggregate, [...retained, { ...put, latest: false }, { ...put, latest: true }]);
  }

  state(id, { version }) {
    const info = this.aggregate(id);
    const at = version ?? info.version;
    if (at < 1 || at > info.version)
      refuse(404, "not_found", `"${id}" has no version ${at}: it is at ${info.version}`, { aggregate: id });
    const snapshot = (this.snapshots.get(id) ?? []).filter((s) => s.version <= at).at(-1);
    const events = this.streams.get(id).slice(snapshot?.version ?? 0, at);
    return {
      aggregate: id,
      version: at,
      position: this.streams.get(id)[at - 1].position,
      state: snapshot?.payload ?? null,
      ...(snapshot?.decoded_as ? { decoded_as: snapshot.decoded_as } : {}),
      state_version: snapshot?.version ?? 0,
      snapshot: snapshot
        ? {
            position: snapshot.position,
            schema_revision: 1,
            payload_format: 1,
            taken_at: snapshot.taken_at,
            latest: snapshot.latest,
          }
        : null,
      events_after: events.length,
      events: events.slice(0, 100),
    };
  }
}

/// A seeded shop: the same each time, but for ids and times.
export function fill(store, count) {
  let seed = 42;
  const random = (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return (seed >>> 8) % n;
  };
  const cities = ["Lyon", "Porto", "Graz", "Turku", "Ghent"];
  for (let i = 0; i < count; i += 1) {
    const order = `order-${1001 + random(60)}`;
    const version = store.streams.get(order)?.length ?? 0;
    const customer = `customer:${40 + random(12)}`;
    const occurred_at = new Date(Date.now() - (count - i) * 7300)
      .toISOString()
      .replace("Z", `${String(random(1000)).padStart(3, "0")}Z`);
    const metadata = {
      by: ["web", "app", "import"][random(3)],
      trace: (0x10000000 + random(0xffffff) * 97).toString(16),
    };
    if (version === 0) {
      store.append({
        aggregate: order,
        type: "OrderPlaced",
        tags: [customer, `city:${cities[random(5)]}`],
        also: [`customer-${customer.slice(9)}`],
        payload: {
          total: (500 + random(20000)) / 100,
          currency: "EUR",
          lines: [{ sku: `B-${random(900)}`, count: 1 + random(3) }],
        },
        metadata,
        occurred_at,
      });
    } else if (random(9) === 0) {
      store.append({
        type: "StockCounted",
        tags: [`warehouse:${1 + random(3)}`],
        payload: { sku: `B-${random(900)}`, counted: random(200) },
        metadata,
        occurred_at,
      });
    } else if (random(7) === 0) {
      store.append({
        aggregate: order,
        type: "shop.PaymentReceived",
        tags: [customer],
        payload: btoa(`\n\u0004${1000 + random(9000)}`),
        payload_encoding: "base64",
        payload_format: 2,
        decoded: { amount: String(1000 + random(9000)), method: ["CARD", "TRANSFER"][random(2)] },
        decoded_as: "shop.PaymentReceived",
        metadata,
        occurred_at,
      });
    } else {
      const type = ["LineAdded", "OrderPacked", "OrderShipped", "AddressChanged"][random(4)];
      store.append({
        aggregate: order,
        type,
        tags: [customer],
        payload: {
          sku: `B-${random(900)}`,
          count: 1 + random(3),
          note: type === "AddressChanged" ? cities[random(5)] : null,
        },
        metadata,
        occurred_at,
      });
    }
  }
  for (const [id, stream] of store.streams) {
    const versions = stream.map((e) => e.seq_nr).filter((nr) => nr % 4 === 0);
    for (const version of versions)
      store.putSnapshot({
        aggregate: id,
        version,
        payload: { open: true, lines: version + 2, total: (version * 1711) / 100, city: cities[version % 5] },
      });
  }
}

export const settings = [
  ["listen", "grpc_listen", "127.0.0.1:7420", "127.0.0.1:7420", "default", "Where the gRPC service listens."],
  [
    "listen",
    "http_listen",
    "127.0.0.1:7421",
    "127.0.0.1:7421",
    "flag",
    "Where the JSON API, metrics and the page listen.",
  ],
  ["listen", "insecure", false, false, "default", "Listen beyond loopback without TLS or tokens."],
  [
    "security",
    "tls_certificate",
    "/etc/evershard/tls.crt",
    "",
    "file /etc/evershard/evershard.conf",
    "Certificate chain, PEM; read again when it changes.",
  ],
  ["security", "tls_key", "***", "", "file /etc/evershard/evershard.conf", "Private key of the certificate, PEM."],
  ["security", "tokens", "***", "", "environment EVERSHARD_TOKENS", "File of tokens and their scopes."],
  ["store", "data", "/var/lib/evershard", "", "flag", "The store's directory."],
  ["store", "cache_bytes", 268435456, 134217728, "file /etc/evershard/evershard.conf", "Memory for RocksDB's blocks."],
  [
    "store",
    "tail_events_max",
    1000000,
    1000000,
    "default",
    "Events indexed in memory before they are sealed into files.",
  ],
  ["limits", "http_connections_max", 256, 256, "default", "Connections to the HTTP door at a time."],
  ["limits", "http_body_bytes_max", 16777216, 16777216, "default", "The largest body of a request."],
  ["limits", "client_requests_per_second_max", 0, 0, "default", "Requests of one client a second; 0: not limited."],
  ["logs", "log_format", "json", "text", "environment EVERSHARD_LOG_FORMAT", "One line a fact: text or json."],
  ["logs", "log_level", "info", "info", "default", "The least that is logged."],
].map(([group, name, value, standard, source, sentence]) => ({
  name,
  value,
  default: standard,
  source,
  sentence,
  group,
}));
