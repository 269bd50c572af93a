// OneThread: preparer, group commit and store, driven by hand in one thread.

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/core/group_commit.hpp"
#include "evershard/actors/core/prepare.hpp"
#include "tests/actors/core/steered_store.hpp"

namespace evershard::actors {

inline Append one(std::string_view aggregate, std::string type = "Placed", std::vector<Tag> tags = {}) {
  Append append;
  append.event(aggregate, std::move(type), "payload", std::move(tags));
  return append;
}

class OneThread {
 public:
  explicit OneThread(GroupCommit::Options options = {}, std::uint64_t term_mask = ~std::uint64_t{0})
      : store(4, term_mask), preparer(store, Limits{}), group(store.recovered(), options) {}

  /// Shape: there is something to decide.
  Ticket& prepare(Append append) {
    auto& ticket = tickets.emplace_back();
    auto stored = preparer.prepare(std::move(append), ticket.prepared);
    EXPECT_TRUE(stored && !*stored);
    return ticket;
  }
  void take(Ticket& ticket) {
    group.take(ticket, actions);
    preparer.window_begins(group.window_from());
  }
  Ticket& send(Append append) {
    auto& ticket = prepare(std::move(append));
    take(ticket);
    return ticket;
  }
  /// Writes and shows what was placed. Returns: the answers, in order.
  std::vector<Appended> commit() {
    auto batch = group.close();
    auto staged = store.stage(batch.commit);
    EXPECT_TRUE(store.commit(*staged));
    group.show(batch.ends, actions);
    std::vector<Appended> answers;
    for (std::size_t i = 0; i < batch.appends.size(); ++i) answers.push_back(batch.answer(i));
    return answers;
  }
  Appended append(Append append) {
    send(std::move(append));
    return commit().at(0);
  }
  /// What a request that is prepared now gets without being decided.
  Result<std::optional<Appended>> look_up(Append append) {
    return preparer.prepare(std::move(append), tickets.emplace_back().prepared);
  }

  SteeredStore store;
  Preparer preparer;
  GroupCommit group;
  Actions actions;
  std::deque<Ticket> tickets;
};

}  // namespace evershard::actors
