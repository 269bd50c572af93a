// Which shard an append belongs to: docs/internals/sharding.md, with its vectors.

export const hashId = 1;

const mask = (1n << 64n) - 1n;
const p1: bigint = 0x9e3779b185ebca87n;
const p2: bigint = 0xc2b2ae3d27d4eb4fn;
const p3: bigint = 0x165667b19e3779f9n;
const p4: bigint = 0x85ebca77c2b2ae63n;
const p5: bigint = 0x27d4eb2f165667c5n;
const rotl = (x: bigint, bits: bigint): bigint => ((x << bits) | (x >> (64n - bits))) & mask;
const round = (lane: bigint, value: bigint): bigint => (rotl((lane + value * p2) & mask, 31n) * p1) & mask;

/** XXH64 with seed 0. */
export function xxh64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length;
  let at = 0;
  let h: bigint = p5;
  if (end >= 32) {
    const lanes = [(p1 + p2) & mask, p2, 0n, -p1 & mask];
    for (; end - at >= 32; at += 32)
      for (let i = 0; i < 4; ++i) lanes[i] = round(lanes[i]!, view.getBigUint64(at + 8 * i, true));
    h = lanes.reduce((sum, lane, i) => (sum + rotl(lane, [1n, 7n, 12n, 18n][i]!)) & mask, 0n);
    for (const lane of lanes) h = ((h ^ round(0n, lane)) * p1 + p4) & mask;
  }
  h = (h + BigInt(end)) & mask;
  for (; end - at >= 8; at += 8) h = (rotl(h ^ round(0n, view.getBigUint64(at, true)), 27n) * p1 + p4) & mask;
  if (end - at >= 4) {
    h = (rotl(h ^ ((BigInt(view.getUint32(at, true)) * p1) & mask), 23n) * p2 + p3) & mask;
    at += 4;
  }
  for (; at < end; ++at) h = (rotl(h ^ ((BigInt(bytes[at]!) * p5) & mask), 11n) * p1) & mask;
  h = ((h ^ (h >> 33n)) * p2) & mask;
  h = ((h ^ (h >> 29n)) * p3) & mask;
  return h ^ (h >> 32n);
}

/** Of an aggregate's text form, or of the 16 bytes of an append's first event id. */
export function shardOf(name: string | Uint8Array, shards: number): number {
  return Number(xxh64(typeof name === "string" ? new TextEncoder().encode(name) : name) % BigInt(shards));
}
