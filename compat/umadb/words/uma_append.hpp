// UmaAppend: what UmaDB's clients append, as an append of ours, and what is still to be decided about it.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/compat/umadb/words/uma_event.hpp"
#include "evershard/compat/umadb/words/uma_query.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard::umadb {

struct UmaAppend {
  Append append{};                   ///< with the client's condition, and not yet with that of its tracking info
  std::size_t conditions = 0;        ///< of the client's
  std::optional<Query> condition{};  ///< absent: none, or one that nothing matches
  GlobalPosition after{};
  std::optional<Tracking> tracking{};

  /// Shape:  `request` is taken apart.
  /// Errors: invalid_argument
  [[nodiscard]] static Result<UmaAppend> of(::umadb::v1::AppendRequest& request);

  /// Gives all events other ids: theirs are others' already.
  void give_other_ids();

  /// The append, on the condition that nobody tracks the source further in the meantime. `newest`: the newest event of
  /// the source, and how far it says that the source has come.
  /// Errors: condition_failed: it is not further than that
  [[nodiscard]] Result<Append> tracked_after(
      const std::optional<std::pair<GlobalPosition, std::uint64_t>>& newest) const;
  /// Whether the events that a condition forbids, in the order of their positions, are those of the request: then it
  /// was sent before, and is answered as it was then. UmaDB goes by the ids alone; an id of all zeros, which clients
  /// use for none, says nothing here without the event's type and data.
  class Repetition {
   public:
    explicit Repetition(const ::umadb::v1::AppendRequest& request) : request_(request) {}
    /// Shape: once for each event that matches, in any order, each as often as it is found
    void found(const UmaEvent& event);
    /// Returns: the position of the last. Absent: it is no repetition
    [[nodiscard]] std::optional<GlobalPosition> position() const;

   private:
    struct Found {
      std::string uuid, type, data;
    };
    const ::umadb::v1::AppendRequest& request_;
    std::map<std::uint64_t, Found> found_;
  };

  /// Whether an append was refused because somebody tracked the source in the meantime: then it is decided anew.
  [[nodiscard]] bool tracked_meanwhile(const Error& error) const;
};

}  // namespace evershard::umadb
