// Groups over a store in memory that does what a test says.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evershard/local/local_events.hpp"
#include "evershard/services/groups/host/group_spec.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::cluster {

class StoreWithHooks final : public testing::ForwardingStore {
 public:
  using EventStore::read;
  using ForwardingStore::ForwardingStore;
  Result<RecordedEvent> event_at(GlobalPosition position) override {
    return reads_again ? reads_again(position) : to_.event_at(position);
  }
  /// Done in any case; `appended` says what is answered.
  Result<Appended> append(Append append) override {
    auto done = to_.append(std::move(append));
    return done && appended ? appended(*std::move(done)) : std::move(done);
  }
  EventStream read(Query query, ReadOptions options = {}) override { return to_.read(std::move(query), options); }
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    if (auto failed = reads_aggregate ? reads_aggregate() : std::nullopt) return EventStream(*std::move(failed));
    return to_.read(std::move(aggregate), options);
  }
  EventFeed follow(Query query, FollowOptions options = {}) override {
    if (auto failed = follows ? follows() : std::nullopt) return EventFeed(*std::move(failed));
    return to_.follow(std::move(query), options);
  }
  std::function<std::optional<Error>()> follows;
  std::function<Result<RecordedEvent>(GlobalPosition)> reads_again;
  std::function<Result<Appended>(Appended)> appended;
  std::function<std::optional<Error>()> reads_aggregate;
};

class GroupsWithHooks : public ::testing::Test {
 protected:
  [[nodiscard]] static std::shared_ptr<Node> opened() {
    NodeOptions options;
    options.store.shards = 4;
    options.store.tail_events = 4'096;
    options.store.block_cache_bytes = 1u << 20;
    options.store.memtable_bytes = 1u << 20;
    return Node::open(std::move(options)).value();
  }
  void append(const std::string& aggregate, int events = 1, const std::string& type = "Placed") {
    for (int i = 0; i < events; ++i) ASSERT_TRUE(events_.append(Append{}.event(aggregate, type, "{}")));
  }
  [[nodiscard]] static GroupDefinition defined(GroupSettings settings = {}) {
    return {.name = "g", .query = Query{}.types({"Placed"}), .after = GlobalPosition(0), .settings = settings};
  }
  [[nodiscard]] static GroupSpec spec_of(GroupSettings settings = {}) {
    GroupSpec spec;
    spec.definition = defined(settings);
    return spec;
  }

  const std::shared_ptr<Node> node_ = opened();
  LocalEvents events_{node_};
  StoreWithHooks store_{events_};
};

}  // namespace evershard::cluster
