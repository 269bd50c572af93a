// Processor: a projection's work: a query, and what turns its matches into rows.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/indexes/definition.hpp"
#include "evershard/services/indexes/projection_rows.hpp"

namespace evershard::actors {

/// Made once a family; one thread at a time. Everything that it knows beyond its definition lies in rows and state:
/// what it remembers besides is only ever a copy of those, forgotten when it is told so.
class Processor {
 public:
  virtual ~Processor() = default;

  /// Which events it wants; the same for as long as it lives.
  [[nodiscard]] virtual const Query& query() const = 0;

  /// The effect of these events, in position order, each given once. What it puts into `rows` is written with the
  /// checkpoint in one step.
  ///
  /// Errors: the projection cannot go on with this page: nothing since the last write is written, and the events since
  ///         then are given again, those of this page one by one, so that the one that it is about can be named. It
  ///         stops there until it is resumed, reset or changed. Throwing is the same.
  [[nodiscard]] virtual Result<void> handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) = 0;

  /// What it was given since the last write did not happen, or somebody else changed rows: it forgets all copies.
  virtual void forget() {}

  /// It runs code of users, which may take any time: it gets a thread of its own, so that others do not wait for it.
  [[nodiscard]] virtual bool has_users_code() const { return false; }

  /// Figures for `describe`, of a checkpoint's state: "rows", "skipped", ...; any thread.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::uint64_t>> figures(const std::string& state) const {
    (void)state;
    return {};
  }
};

/// What knows one kind of definition ("index", "value", "table"). Any thread.
class ProcessorKind {
 public:
  virtual ~ProcessorKind() = default;
  /// Whether a definition of this kind makes sense, before it is kept; what is kept is `Returns`: the spec in its one
  /// form. Errors: invalid_argument, invalid_query, too_large
  [[nodiscard]] virtual Result<std::string> check(const std::string& name, const std::string& spec) const = 0;
  /// Whether what is defined so has rows of its own; not so a table in parts: they have.
  [[nodiscard]] virtual bool has_rows(const std::string& name, const std::string& spec) const {
    (void)name, (void)spec;
    return true;
  }
  /// What rows that are built anew begin with, of those of before: what cannot be made from the events any more.
  /// Nothing for most. Errors: corruption, io: they cannot be read
  [[nodiscard]] virtual Result<storage::ProjectionChanges> carried(const storage::ProjectionView& before) const {
    (void)before;
    return storage::ProjectionChanges();
  }
  /// Errors: what makes it impossible to run it here (a handler that is not registered): it waits, and says so
  [[nodiscard]] virtual Result<std::unique_ptr<Processor>> make(const std::string& name,
                                                                const std::string& spec) const = 0;
};

}  // namespace evershard::actors
