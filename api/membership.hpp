// Membership: which store this is, who serves it, who writes which shard.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"

namespace evershard {

/// A node, as clients reach it.
struct Member {
  std::uint32_t node = 0;  ///< from 1
  std::string address;     ///< HOST:PORT of its gRPC door; empty: none is known
  friend bool operator==(const Member&, const Member&) = default;
};

/// Shape: of one server that has the whole store `here` is 0, and there are neither members nor owners; else `owners`
///        and `epochs` have `shards` entries each.
struct Membership {
  std::string store_id;
  std::string fork_id;
  std::uint32_t shards = 0;
  std::uint32_t hash = 0;
  std::uint32_t here = 0;             ///< the node that says so
  std::vector<Member> members;        ///< ascending
  std::vector<std::uint32_t> owners;  ///< per shard: its node; 0: nobody just now
  std::vector<Epoch> epochs;          ///< under which it is
  friend bool operator==(const Membership&, const Membership&) = default;
};

}  // namespace evershard
