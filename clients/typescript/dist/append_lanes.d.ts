import { type AppendManyOptions, type Appends, type Outcome } from "./append_many.js";
import { type Connection } from "./connection.js";
/**
 * Appends of one shard are decided in the order they were given: they go by one lane, and change to another when all before them are answered.
 * Without a connection.
 */
export declare class LaneChoice<T> {
    #private;
    constructor(isOpenYet: (one: T) => boolean);
    /** `shard` undefined: not known. `home`: the node that decides the append, 0: not known now. Returns: undefined: not yet, others are under way */
    lane(shard: number | undefined, home: number): number | undefined;
    goes(shard: number | undefined, lane: number, one: T): void;
}
export declare class AppendLanes {
    #private;
    constructor(connection: Connection, options: AppendManyOptions);
    /** Errors: as AppendStream's, behind the outcomes of those before */
    outcomes(source: Appends): AsyncGenerator<Outcome, void, void>;
}
