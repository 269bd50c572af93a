// Value indexes: events of some types by a value in their payload or metadata, in order of value, then of position.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/read.hpp"
#include "evershard/services/indexes/indexed_value.hpp"
#include "evershard/services/indexes/processor.hpp"

namespace evershard::actors {

struct ValueIndexSpec {
  std::vector<std::string> types{};  ///< of events; at least one
  bool metadata = false;             ///< where the path begins: in the metadata, else in the payload
  std::string path{};                ///< a JsonPath, in its one form: `$.customer.city`, `$.items[0].sku`
  ValueType value = ValueType::text;
  friend bool operator==(const ValueIndexSpec&, const ValueIndexSpec&) = default;
};

/// In its one form: the types in order and once, the path as it is written.
/// Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<ValueIndexSpec> checked_value_index(ValueIndexSpec spec);
/// `{"types":[..],"source":"payload"|"metadata","path":"..","value":"text"|..}`, of what was checked: its text is
/// UTF-8.
[[nodiscard]] std::string value_index_spec(const ValueIndexSpec& spec);
/// Errors: invalid_argument, invalid_query, too_large
[[nodiscard]] Result<ValueIndexSpec> read_value_index_spec(const std::string& json);

/// A payload that is not JSON itself, as JSON: Protobuf by registered types. Nothing: it cannot be read. One thread at
/// a time.
using PayloadAsJson = std::function<std::optional<std::string>(const RecordedEvent& event)>;

/// Shape of the rows: key = value (indexed_value.hpp), position (8 bytes, big-endian); no value. State: entries,
/// absent, of another type, unreadable.
class ValueIndexKind final : public ProcessorKind {
 public:
  static constexpr const char* name = "value";
  /// `reader`: makes one for each index.
  explicit ValueIndexKind(std::function<PayloadAsJson()> reader) : reader_(std::move(reader)) {}
  [[nodiscard]] Result<std::string> check(const std::string& name, const std::string& spec) const override;
  [[nodiscard]] Result<std::unique_ptr<Processor>> make(const std::string& name,
                                                        const std::string& spec) const override;

 private:
  const std::function<PayloadAsJson()> reader_;
};

struct ValueRange {
  std::optional<std::string> equal{};  ///< as text; not with a bound
  std::optional<std::string> from{};   ///< inclusive
  std::optional<std::string> until{};  ///< exclusive
  std::optional<std::string> to{};     ///< inclusive; not with `until`
  Direction direction = Direction::forwards;
  std::string after{};  ///< where the page before ended: PagedValues::next
};

struct FoundValue {
  std::string value{};  ///< as JSON
  GlobalPosition position{};
  std::string key{};  ///< of its row
  /// `next` of a page that ends with it.
  [[nodiscard]] std::string page_end() const;
};

struct PagedValues {
  std::vector<FoundValue> found{};
  std::string next{};  ///< empty: nothing follows
};

/// At most `limit`. Errors: invalid_argument (a bound is none of the type; two that exclude each other; `after` is
/// none), io, corruption
[[nodiscard]] Result<PagedValues> read_values(const storage::ProjectionView& rows, ValueType type,
                                              const ValueRange& range, std::size_t limit);

}  // namespace evershard::actors
