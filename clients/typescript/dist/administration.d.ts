import type { CallOptions, Connection } from "./connection.js";
import { type WorkOptions } from "./work.js";
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
}
export declare class Administration {
    #private;
    constructor(connection: Connection);
    stats(options?: CallOptions): Promise<Stats>;
    /** Seals the tail: the next opening has nothing to rebuild. */
    flush(options?: CallOptions): Promise<void>;
    /** Every record, the order, and the indexes against a rebuild; sound where `errors` is 0. */
    verify(options?: WorkOptions): Promise<VerifyReport>;
    /** Gives back space. */
    vacuum(options?: WorkOptions): Promise<void>;
    /** Into an absent or empty directory of the server's machine. Returns: the position the copy ends with */
    backup(target: string, options?: BackupOptions): Promise<number>;
}
