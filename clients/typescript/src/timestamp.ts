// Times: UTC, microseconds, as text: `2026-01-31T12:00:00.000000Z`. A Date would drop the last three digits; `new Date(text)` makes one.

import { InvalidArgumentError } from "./errors.js";

const first = -62_135_596_800_000_000n; // 0001-01-01
const last = 253_402_300_799_999_999n; // 9999-12-31
const shape = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/i;

/** Microseconds since 1970, of a Date, of RFC 3339 text (digits beyond microseconds are cut), or as they are. Errors: InvalidArgumentError */
export function microseconds(time: Date | string | bigint, what: string): bigint {
  if (typeof time === "bigint") return time;
  if (time instanceof Date) {
    if (Number.isNaN(time.getTime())) throw new InvalidArgumentError(`${what}: is no valid Date`);
    return BigInt(time.getTime()) * 1000n;
  }
  const parts = typeof time === "string" ? shape.exec(time) : null;
  const ms = parts ? Date.parse(`${parts[1]}T${parts[2]}Z`) : NaN;
  // Date takes the 30th of February for the 2nd of March.
  const there =
    !Number.isNaN(ms) &&
    new Date(ms).toISOString().startsWith(parts![1]!) &&
    Number(parts![5] ?? 0) < 24 &&
    Number(parts![6] ?? 0) < 60;
  if (!there)
    throw new InvalidArgumentError(`${what}: ${JSON.stringify(time)} is no time such as 2026-01-31T12:00:00.000000Z`);
  const [, , , fraction = "", sign, hours = "0", minutes = "0"] = parts!;
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const us = BigInt(ms - offsetMinutes * 60_000) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
  if (us < first || us > last)
    throw new InvalidArgumentError(`${what}: ${JSON.stringify(time)} lies outside of the years 1 to 9999`);
  return us;
}

/** Always six digits and `Z`; outside of the years 1 to 9999 the bare number, as `-62135596800000001us`. */
export function timestampText(us: bigint): string {
  if (us < first || us > last) return `${us}us`;
  const fraction = ((us % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((us - fraction) / 1000n)).toISOString().slice(0, 19);
  return `${seconds}.${fraction.toString().padStart(6, "0")}Z`;
}
