// For operators. All but stats() need the scope `admin`.

import type { CallOptions, Connection } from "./connection.js";
import { UnavailableError } from "./errors.js";
import { Administration as Service } from "./gen/evershard/v1/service_pb.js";
import { textOf, toNumber, toUint64 } from "./ids.js";
import { timestampText } from "./timestamp.js";
import { work, type WorkOptions } from "./work.js";

export interface Stats {
  storeId: string;
  /** Another one in every copy of a store. */
  forkId: string;
  shards: number;
  format: number;
  hash: number;
  createdAt: string;
  watermark: number;
  /** Indexes up to here lie in sorted files. */
  sealed: number;
  tailEvents: number;
  commits: number;
  appends: number;
  refused: number;
  diskBytes: number;
  diskFreeBytes: number;
  memoryBytes: number;
  backendAssertions: boolean;
  details: Record<string, number>;
}

export interface VerifyReport {
  events: number;
  records: number;
  indexRows: number;
  snapshots: number;
  errors: number;
  /** At most 100. */
  findings: string[];
}

export interface BackupOptions extends WorkOptions {
  /** Without the indexes, which restoring rebuilds. */
  truthOnly?: boolean | undefined;
  /** A clone that ends with this position. */
  upTo?: number | undefined;
  /** Called for aggregates whose state cannot be made in such a clone, because events of theirs were removed since. */
  onWithoutState?: ((aggregate: string) => void) | undefined;
  /** Called with a sentence for each damaged snapshot that the copy does without. */
  onLeftOut?: ((what: string) => void) | undefined;
}

export class Administration {
  readonly #connection: Connection;
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async stats(options?: CallOptions): Promise<Stats> {
    const {
      $typeName: _,
      $unknown: __,
      createdAtUs,
      details,
      ...stats
    } = await this.#connection.unary(Service.method.stats, {}, options);
    return {
      ...stats,
      createdAt: timestampText(createdAtUs),
      watermark: toNumber(stats.watermark),
      sealed: toNumber(stats.sealed),
      tailEvents: toNumber(stats.tailEvents),
      commits: toNumber(stats.commits),
      appends: toNumber(stats.appends),
      refused: toNumber(stats.refused),
      diskBytes: toNumber(stats.diskBytes),
      diskFreeBytes: toNumber(stats.diskFreeBytes),
      memoryBytes: toNumber(stats.memoryBytes),
      details: Object.fromEntries(details.map(({ name, value }) => [name, toNumber(value)])),
    };
  }

  /** Seals the tail: the next opening has nothing to rebuild. */
  async flush(options?: CallOptions): Promise<void> {
    await this.#connection.unary(Service.method.flush, {}, options);
  }

  /** Every record, the order, and the indexes against a rebuild; sound where `errors` is 0. */
  async verify(options?: WorkOptions): Promise<VerifyReport> {
    const { report } = await work(this.#connection, Service.method.verify, {}, options);
    if (!report) throw new UnavailableError("the verification ended without a report");
    return {
      events: toNumber(report.events),
      records: toNumber(report.records),
      indexRows: toNumber(report.indexRows),
      snapshots: toNumber(report.snapshots),
      errors: toNumber(report.errors),
      findings: report.findings,
    };
  }

  /** Gives back space. */
  async vacuum(options?: WorkOptions): Promise<void> {
    await work(this.#connection, Service.method.vacuum, {}, options);
  }

  /** Into an absent or empty directory of the server's machine. Returns: the position the copy ends with */
  async backup(target: string, options: BackupOptions = {}): Promise<number> {
    const { truthOnly = false, upTo, onWithoutState, onLeftOut } = options;
    const last = await work(
      this.#connection,
      Service.method.backup,
      { target: textOf(target, "target"), truthOnly, ...(upTo !== undefined && { upTo: toUint64(upTo, "upTo") }) },
      options,
      ({ withoutState, leftOut }) => {
        if (onWithoutState) withoutState.forEach((aggregate) => onWithoutState(aggregate));
        if (onLeftOut) leftOut.forEach((what) => onLeftOut(what));
      },
    );
    return toNumber(last.upTo);
  }
}
