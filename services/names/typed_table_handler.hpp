// TypedTableHandler: a handler of a table that is given its events in their own types.

#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "evershard/actors/model/codec.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/services/tables/table_projection.hpp"

namespace evershard {

/// What each event type does to the rows; an event of another type does nothing.
///
///     TypedTableHandler balances;
///     balances.on<bank::Deposited>([](const bank::Deposited& event, const RecordedEvent& recorded,
///     actors::TableChanges& rows) {
///       rows.increment({{"account", recorded.aggregate->text()}, {"balance", event.amount()}});
///     });
///     store.add_table_handler("balances", balances);
///
/// An event whose bytes are none of its type is at fault; one whose payload was removed or erased does nothing, and is
/// counted as `erased`.
class TypedTableHandler {
 public:
  /// `Event`: a Protobuf message, or a type with a Codec; known by its logical name. A second one of the same type
  /// takes the place of the first.
  template <class Event, class Handler>
  requires Encodable<Event> && Named<Event> &&
      (std::invocable<const Handler&, const Event&, const RecordedEvent&, actors::TableChanges&> ||
       std::invocable<const Handler&, const Event&, actors::TableChanges&>)TypedTableHandler& on(Handler handler) {
    handlers_.insert_or_assign(name_of_type<Event>(), [handler = std::move(handler)](const RecordedEvent& recorded,
                                                                                     actors::TableChanges& rows) {
      Event event{};
      if (auto parsed = parse_bytes(recorded.payload, event); !parsed) throw std::runtime_error(parsed.error().what);
      if constexpr (std::invocable<const Handler&, const Event&, const RecordedEvent&, actors::TableChanges&>)
        handler(std::as_const(event), recorded, rows);
      else
        handler(std::as_const(event), rows);
    });
    return *this;
  }

  /// The event types it knows.
  [[nodiscard]] std::vector<std::string> types() const {
    std::vector<std::string> types;
    for (const auto& [type, handler] : handlers_) types.push_back(type);
    return types;
  }
  /// Of the definition that names this handler.
  [[nodiscard]] Query query() const { return Query{}.types(types()); }

  void operator()(const RecordedEvent& recorded, actors::TableChanges& rows) const {
    const auto found = handlers_.find(recorded.type);
    if (found == handlers_.end()) return;
    if (recorded.state != EventState::live) return rows.note_erased();
    found->second(recorded, rows);
  }

 private:
  std::map<std::string, actors::TableHandler, std::less<>> handlers_;
};

}  // namespace evershard
