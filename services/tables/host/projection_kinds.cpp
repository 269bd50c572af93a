#include "evershard/services/tables/host/projection_kinds.hpp"

#include <optional>
#include <utility>

#include "evershard/api/json/payload_types.hpp"
#include "evershard/api/json/types_file.hpp"
#include "evershard/services/indexes/index_projection.hpp"
#include "evershard/services/indexes/value_index.hpp"
#include "evershard/services/tables/host/table_kind.hpp"

namespace evershard::cluster {
namespace {

/// Protobuf payloads as JSON, in which all numbers are numbers, by what is registered in the data directory; looked up
/// again when a message is not known and the file is another one.
actors::PayloadAsJson registered_payloads(const std::filesystem::path& data_dir) {
  struct Known {
    std::filesystem::path data_dir;
    PayloadTypes types{};
    RegisteredTypes of{};
    std::optional<TypesStamp> stamp = TypesStamp{};  // of none
  };
  auto known = std::make_shared<Known>(Known{data_dir});
  return [known](const RecordedEvent& event) -> std::optional<std::string> {
    const auto read = [&]() -> Result<ShownMessage> {
      const auto& types = known->types.of_event(event.aggregate ? event.aggregate->type : std::string(), event.type);
      if (types.empty()) return refuse(ErrorCode::not_found, "nothing is registered");
      return types.read(types.message_of_event(event.type), event.payload, LongNumbers::numbers);
    };
    if (auto shown = read()) return std::move(shown->json);
    const auto stamp = types_stamp(known->data_dir);
    if (stamp && stamp == known->stamp) return std::nullopt;
    auto registered = load_types(known->data_dir);
    if (!registered) return std::nullopt;  // the projection counts what it cannot read
    known->stamp = stamp;                  // as it was before it was read: whatever came since is read again
    if (*registered == known->of) return std::nullopt;
    auto types = PayloadTypes::of(*registered);
    if (!types) return std::nullopt;
    known->types = *std::move(types);
    known->of = *std::move(registered);
    if (auto shown = read()) return std::move(shown->json);
    return std::nullopt;
  };
}

}  // namespace

ProcessorKinds projection_kinds(EventStore& events, const std::filesystem::path& data_dir,
                                std::shared_ptr<const TableHandlers> handlers) {
  const auto payloads = [data_dir] {
    return data_dir.empty() ? actors::PayloadAsJson() : registered_payloads(data_dir);
  };
  ProcessorKinds kinds;
  kinds.emplace(actors::IndexKind::name, std::make_shared<actors::IndexKind>());
  kinds.emplace(actors::ValueIndexKind::name, std::make_shared<actors::ValueIndexKind>(payloads));
  kinds.emplace(table_kind, std::make_shared<TableKind>(
                                std::move(handlers),
                                [&events](GlobalPosition position) { return events.event_at(position); }, payloads));
  return kinds;
}

}  // namespace evershard::cluster
