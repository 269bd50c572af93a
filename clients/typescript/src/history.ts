// Which history answers are of: the store's fork, and whose order a node of a cluster follows. Decisions only.

import { CorruptionError, ForkChangedError, UnavailableError } from "./errors.js";

export const forkKey = "evershard-fork";
export const ledKey = "evershard-led";
/** Of which fork a client of one address heard that: where another one is by now, it says nothing. */
export const ledOfKey = "evershard-led-of";
const kept = 8;
const oneLeadership = /^([1-9][0-9]{0,19}):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** The answer is of two coordinators' copies of one cut log, or of an older leadership: it is not taken. */
export class OtherHistoryError extends UnavailableError {
  constructor(message: string) {
    super(`an answer is not taken: ${message}`, {}, { outcomeUnknown: true });
  }
}

/** `EPOCH:IDENTITY,EPOCH:IDENTITY`, epochs ascending. Errors: CorruptionError */
function leaderships(text: string): [bigint, string][] {
  const led: [bigint, string][] = [];
  for (const one of text.split(",")) {
    const [, epoch, identity] = oneLeadership.exec(one) ?? [];
    const last = led.at(-1);
    if (epoch === undefined || identity === undefined || (last && BigInt(epoch) <= last[0]))
      throw new CorruptionError(
        `${ledKey}: ${JSON.stringify(text)} is not EPOCH:IDENTITY,EPOCH:IDENTITY, epochs ascending`,
      );
    led.push([BigInt(epoch), identity]);
  }
  return led;
}

export class History {
  readonly several: boolean;
  #led: [bigint, string][] = [];
  #last = "";
  #fork = "";

  /** `several`: more than one address was given. At one address, whatever is there is what was asked for: only who follows it is told. */
  constructor(several: boolean) {
    this.several = several;
  }

  /** Of the first answer; at one address of the last one. Empty: nobody has said. */
  get fork(): string {
    return this.#fork;
  }
  /** For requests: who is of another history refuses them. */
  get metadata(): Record<string, string> {
    return {
      ...(this.several && this.#fork && { [forkKey]: this.#fork }),
      ...(this.#led.length > 0 && { [ledKey]: this.#led.map(([epoch, identity]) => `${epoch}:${identity}`).join(",") }),
      ...(this.#led.length > 0 && !this.several && this.#fork && { [ledOfKey]: this.#fork }),
    };
  }

  /**
   * Of a door that says whose it is; `given`: it has the one address there is. Another fork at one of several addresses is for the caller to look
   * at; behind one address others name doors, and one of another fork is never used and says nothing of this one. Errors: as hearLed()
   */
  hearMet(fork: string, led: string, given: boolean): void {
    if (!this.several) {
      if (!given && fork && fork !== this.#fork) return;
      this.hearFork(fork);
    }
    this.hearLed(led);
  }

  /** Of an answer, before it is taken. Errors: ForkChangedError */
  hearFork(fork: string): void {
    if (fork && this.#fork && this.several && fork !== this.#fork)
      throw new ForkChangedError(
        `the store is fork ${fork} now, and fork ${this.#fork} answered this client before: ` +
          "the store was restored, or another one is served here: connect anew",
      );
    if (fork && this.#fork && fork !== this.#fork) {
      this.#led = []; // who led the other one says nothing of this one
      this.#last = "";
    }
    this.#fork = fork || this.#fork;
  }

  /** Errors: OtherHistoryError: not to be taken; CorruptionError */
  hearLed(led: string): void {
    if (!led || led === this.#last) return;
    const said = leaderships(led);
    const known = new Map(this.#led);
    for (const [epoch, identity] of said) {
      const before = known.get(epoch) ?? identity;
      if (before !== identity)
        throw new OtherHistoryError(
          `epoch ${epoch} was led by ${identity} for this node, and by ${before} for nodes that answered this client before: ` +
            "there are two coordinators on copies of one cut log, and two histories",
        );
      known.set(epoch, identity);
    }
    const newest = said.at(-1)![0];
    const heard = this.#led.at(-1)?.[0] ?? newest;
    if (newest < heard)
      throw new OtherHistoryError(
        `this node follows the coordinator of epoch ${newest}, and this client was answered under epoch ${heard}: ` +
          "it has not heard of the newer coordinator yet",
      );
    this.#led = [...known].sort(([a], [b]) => (a < b ? -1 : 1)).slice(-kept);
    this.#last = led;
  }
}
