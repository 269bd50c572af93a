// TableKind: what the projection engine needs to know of definitions of the kind "table".

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "evershard/services/indexes/processor.hpp"
#include "evershard/services/tables/host/table_handlers.hpp"

namespace evershard::cluster {

inline constexpr std::string_view table_kind = "table";

class TableKind final : public actors::ProcessorKind {
 public:
  /// `event_at` reads what was parked; `reader` makes what reads Protobuf payloads, one for each table.
  /// Owner: the handlers are shared with who registers them.
  TableKind(std::shared_ptr<const TableHandlers> handlers, actors::EventAt event_at,
            std::function<actors::PayloadAsJson()> reader)
      : handlers_(std::move(handlers)), event_at_(std::move(event_at)), reader_(std::move(reader)) {}

  [[nodiscard]] Result<std::string> check(const std::string& name, const std::string& spec) const override;
  [[nodiscard]] bool has_rows(const std::string& name, const std::string& spec) const override;
  [[nodiscard]] Result<std::unique_ptr<actors::Processor>> make(const std::string& name,
                                                                const std::string& spec) const override;

 private:
  std::shared_ptr<const TableHandlers> handlers_;
  actors::EventAt event_at_;
  std::function<actors::PayloadAsJson()> reader_;
};

}  // namespace evershard::cluster
