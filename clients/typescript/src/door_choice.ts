// Which of the addresses of a store is asked next: decisions, without a clock or a connection.

interface Choice {
  readonly address: string;
  /** Whether it has said that it is of our store; absent: it was not asked yet. False: it is never used. */
  ours?: boolean;
  /** Since it worked. */
  failures: number;
  restsUntil: number;
}

/** After so many milliseconds a door is tried again: 10 to 500, and up to 5,000 when it has been gone for long. */
export function restMs(failures: number): number {
  const most = Math.min(500, 10 * 2 ** Math.min(failures, 10));
  return most * (0.5 + Math.random() / 2) * (failures > 8 ? 10 : 1);
}

/** Keeps to the door that works; goes on to the next one in the order given when it fails, and past those that failed a moment ago. */
export class DoorChoice {
  readonly doors: Choice[];
  #at = 0;

  constructor(addresses: readonly string[]) {
    this.doors = addresses.map((address) => ({ address, failures: 0, restsUntil: 0 }));
    if (this.doors.length === 1) this.doors[0]!.ours = true; // whatever it is, it is what was asked for
  }

  add(address: string): number {
    return this.doors.push({ address, failures: 0, restsUntil: 0 }) - 1;
  }

  /** Nothing: nobody has said yet that he is ours. */
  get current(): number | undefined {
    return this.doors[this.#at]!.ours ? this.#at : undefined;
  }
  get allForeign(): boolean {
    return this.doors.every(({ ours }) => ours === false);
  }

  /** The one that should say whose it is, because nobody else works. Nothing: none, or none yet. */
  toMeet(now: number): number | undefined {
    const at = this.doors[this.#at]!;
    if (at.ours && at.failures === 0) return undefined;
    return this.#next(this.#at - 1, (door) => door.ours === undefined && door.restsUntil <= now);
  }

  is(number: number, ours: boolean): void {
    const door = this.doors[number]!;
    if (door.ours !== ours) door.failures = 0; // it answered; a word alone mends no door that was tried
    door.ours = ours;
    const at = this.doors[this.#at]!;
    if (ours && (!at.ours || at.failures > 0)) this.#at = number;
    else if (at.ours === false) this.#at = this.#next(this.#at, (one) => one.ours === true) ?? this.#at;
  }

  /** All others are to say anew whose they are. */
  forgetAllBut(number: number): void {
    for (const [other, door] of this.doors.entries()) if (other !== number) delete door.ours;
  }

  worked(number: number): void {
    this.doors[number]!.failures = 0;
  }

  /** It could not be reached, or said that it cannot. Many calls that fail on one door move on once. */
  failed(number: number, now: number, restsMs: number): void {
    const door = this.doors[number]!;
    door.failures += 1;
    door.restsUntil = Math.max(door.restsUntil, now + restsMs);
    if (number === this.#at && door.ours)
      this.#at = this.#next(this.#at, (one) => one.ours === true && one.restsUntil <= now) ?? this.#at;
  }

  rests(number: number, now: number): boolean {
    return this.doors[number]!.restsUntil > now;
  }

  /** From the one behind it on, once around. */
  #next(behind: number, fits: (door: Choice) => boolean): number | undefined {
    const count = this.doors.length;
    for (let step = 1; step <= count; ++step) {
      const number = (behind + step) % count;
      if (fits(this.doors[number]!)) return number;
    }
    return undefined;
  }
}
