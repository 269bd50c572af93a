interface Choice {
    readonly address: string;
    /** Whether it has said that it is of our store; absent: it was not asked yet. False: it is never used. */
    ours?: boolean;
    /** Since it worked. */
    failures: number;
    restsUntil: number;
}
/** After so many milliseconds a door is tried again: 10 to 500, and up to 5,000 when it has been gone for long. */
export declare function restMs(failures: number): number;
/** Keeps to the door that works; goes on to the next one in the order given when it fails, and past those that failed a moment ago. */
export declare class DoorChoice {
    #private;
    readonly doors: Choice[];
    constructor(addresses: readonly string[]);
    add(address: string): number;
    /** Nothing: nobody has said yet that he is ours. */
    get current(): number | undefined;
    get allForeign(): boolean;
    /** The one that should say whose it is, because nobody else works. Nothing: none, or none yet. */
    toMeet(now: number): number | undefined;
    is(number: number, ours: boolean): void;
    worked(number: number): void;
    /** It could not be reached, or said that it cannot. Many calls that fail on one door move on once. */
    failed(number: number, now: number, restsMs: number): void;
    rests(number: number, now: number): boolean;
}
export {};
