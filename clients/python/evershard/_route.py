"""Which shard an append belongs to: docs/internals/sharding.md, with its vectors."""

from __future__ import annotations

from ._append import Append

HASH_ID = 1

_MASK = 2**64 - 1
_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def _rotl(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


def _round(lane: int, value: int) -> int:
    return _rotl((lane + value * _P2) & _MASK, 31) * _P1 & _MASK


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0."""
    at, end = 0, len(data)

    def word(bytes_: int) -> int:
        return int.from_bytes(data[at : at + bytes_], "little")

    if end >= 32:
        lanes = [(_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK]
        while end - at >= 32:
            for i in range(4):
                lanes[i] = _round(lanes[i], word(8))
                at += 8
        h = sum(_rotl(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        h = _P5
    h = (h + end) & _MASK
    while end - at >= 8:
        h = (_rotl(h ^ _round(0, word(8)), 27) * _P1 + _P4) & _MASK
        at += 8
    if end - at >= 4:
        h = (_rotl(h ^ (word(4) * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        at += 4
    while at < end:
        h = _rotl(h ^ (word(1) * _P5 & _MASK), 11) * _P1 & _MASK
        at += 1
    h = (h ^ (h >> 33)) * _P2 & _MASK
    h = (h ^ (h >> 29)) * _P3 & _MASK
    return h ^ (h >> 32)


def shard_of(append: Append, shards: int) -> int | None:
    """Of its first event: that shard's node decides it."""
    if not append.events:
        return None
    first = append.events[0]
    return xxh64(str(first.aggregate).encode() if first.aggregate is not None else first.id.bytes) % shards
