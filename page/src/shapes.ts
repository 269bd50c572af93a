// What the API gives. Source: docs/http-api.md, docs/json.md.

import type { Raw } from "./json_source.ts";

export type Scope = "read" | "append" | "admin";

export interface Session {
  open: boolean; // no tokens are configured
  scopes: Scope[];
}

export interface StoredEvent {
  position: number;
  shard: number;
  offset: number;
  id: string;
  aggregate?: string;
  seq_nr?: number;
  type: string;
  tags?: string[];
  also?: string[];
  payload?: Raw;
  payload_encoding?: "base64";
  payload_format?: number;
  decoded?: Raw;
  decoded_as?: string;
  decode_error?: string;
  unknown_fields?: boolean;
  metadata?: Raw;
  metadata_encoding?: "base64";
  occurred_at: string;
  state?: Raw; // "removed" or "erased"
}

export type Next =
  | { after: number; per_aggregate_from?: number }
  | { before: number; per_aggregate_from?: number }
  | { from: number }
  | null;

export interface Page {
  events: StoredEvent[];
  watermark: number;
  complete: boolean;
  next: Next;
  cost?: { micros: number; matches: number };
}

export interface QueryItem {
  types?: string[];
  tags?: string[];
  concerning?: string[];
}
export type Query = { items: QueryItem[] } | { all: true };

export interface Verdict {
  holds: boolean;
  head: number;
  first_conflict: StoredEvent | null;
  micros: number;
}

export interface AggregateInfo {
  aggregate: string;
  version: number;
  last_position: number;
  shard: number;
}

export interface Snapshot {
  aggregate: string;
  version: number;
  position: number;
  payload?: Raw;
  payload_encoding?: "base64";
  payload_format?: number;
  decoded?: Raw;
  decoded_as?: string;
  decode_error?: string;
  schema_revision: number;
  taken_at: string;
  expires_at?: string;
  latest: boolean;
}

export interface State {
  aggregate: string;
  version: number;
  position: number;
  state: Raw;
  state_encoding?: "base64";
  decoded_as?: string;
  state_version: number;
  snapshot: {
    position: number;
    schema_revision: number;
    payload_format: number;
    taken_at: string;
    latest: boolean;
  } | null;
  events_after: number;
  events: StoredEvent[];
}

/// An append that is made at a later time.
export interface Scheduled {
  id: string;
  state: Raw; // "pending", "appended", "refused" or "cancelled"
  due?: string; // absent, as the append: its subject was erased
  scheduled_at: string;
  position: number;
  settled_at?: string;
  first_position?: number;
  last_position?: number;
  error?: { code: string; message: string };
  append?: {
    events: Pick<StoredEvent, "type" | "aggregate" | "payload" | "payload_encoding" | "payload_format">[];
    expect?: { aggregate: string; version: number | "any" | "none" | "exists" }[];
    fail_if?: { query: Query; after: number }[];
  };
}

/// What is tried again. `item`: `event/17`, `command/23/0`, `effect/23/1`.
export interface ProcessFailure {
  instance?: string; // absent among an instance's own; empty: whose it is could not be said
  item: string;
  type: string;
  attempts: number;
  why: string;
}

export interface Process {
  name: string;
  position: number;
  head: number;
  lag: number;
  stopped: boolean;
  stopped_instances: string[];
  waiting: number;
  failing: number;
  reacted: number;
  sent: number;
  rejected: number;
  performed: number;
  given_up: number;
  failed: number;
  failures: ProcessFailure[]; // the first ones
  skipped: string[]; // items
  replays: string[];
  trouble?: string;
  runs_at?: string;
  taken_at: string;
  said_at?: string; // absent: it said nothing yet
  running: boolean; // it said something lately
}

export interface ProcessInstance {
  instance: string;
  version: number;
  last_position: number;
  stopped: boolean;
  failures: ProcessFailure[];
}

export interface ParkedEffect {
  instance: string;
  item: string;
  type: string;
  reason: string;
  parked_at: string;
  replaying: boolean;
}

export interface Timer {
  aggregate: string;
  name: string;
  due: string;
  command: string;
  payload?: Raw;
  payload_encoding?: "base64";
  every?: string;
  calendar?: string;
  zone?: string;
  set_at: number;
}

export interface Setting {
  name: string;
  value: unknown;
  default: unknown;
  source: string;
  sentence: string;
  group: string;
}

/// Counters are totals since the server began: the page makes rates of them.
export interface LiveStats {
  at: string;
  head: number;
  appends: number;
  events: number;
  refused: number;
  reads: number;
  disk_bytes: number;
  memory_bytes: number;
  tail_events: number;
  commit_micros: { p50: number; p99: number } | null;
  append_micros: { p50: number; p99: number } | null;
}

export interface Stats {
  store_id: string;
  shards: number;
  format: number;
  created_at: string;
  head: number;
  sealed: number;
  tail_events: number;
  commits: number;
  appends: number;
  refused: number;
  disk_bytes: number;
  disk_free_bytes: number;
  memory_bytes: number;
  backend_assertions: boolean;
  details: Record<string, number>;
}

export interface ClusterNode {
  node: number;
  up: boolean;
  since?: string;
  door: string;
  shards: number; // it writes
  replicas?: number; // it keeps
  gateway?: boolean;
  behind_events: number; // this and the next: only where a coordinator was asked
  behind_ms: number;
  disk_full?: boolean;
  learns?: number;
  learned_events?: number;
  learn_events?: number;
  learn_left_ms?: number;
  clock_ahead_ms?: number;
  clock_differs?: boolean;
}

export interface ClusterShard {
  shard: number;
  node: number; // 0: nobody
  state: string;
  trouble?: string;
  without_writer_ms?: number;
}

export interface ClusterSet {
  nodes: number[];
  quorum: number;
  up: number;
  leaders: number[];
  learners?: number[];
  replicas: { node: number; up: boolean; behind_events: number; behind_ms: number }[];
  shards: number[];
  trouble: string;
}

export interface ClusterChange {
  at: string;
  cause: string;
  what: string;
  from?: number;
  to?: number;
  shards?: number[];
  without_writer_ms: number;
}

export interface ClusterStatus {
  answered_by: number;
  coordinator_up: boolean;
  trouble: string;
  coordinator_epoch: number;
  watermark?: number;
  nodes: ClusterNode[];
  shards: ClusterShard[];
  sets?: ClusterSet[]; // where the coordinator is up
  changes?: ClusterChange[];
}
