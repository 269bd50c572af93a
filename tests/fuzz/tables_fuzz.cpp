// Fuzzing what tables read: filters, JSON paths, payloads, rows, keys, places to go on from. The first byte says which
// of them the rest is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/indexes/json_path.hpp"
#include "evershard/services/tables/filter.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "evershard/services/tables/table_projection.hpp"
#include "evershard/services/tables/table_select.hpp"

namespace {

using namespace evershard;
using namespace evershard::actors;

const TableShape& fuzzed_table() {
  static const TableShape table(TableSchema{"t",
                                            {{"a", FieldType::text, FieldRole::key},
                                             {"b", FieldType::integer, FieldRole::index, true},
                                             {"c", FieldType::number, FieldRole::normal, true},
                                             {"d", FieldType::boolean, FieldRole::normal, true},
                                             {"e", FieldType::time, FieldRole::unique, true},
                                             {"f", FieldType::bytes, FieldRole::normal, true},
                                             {"g", FieldType::json, FieldRole::normal, true}}});
  return table;
}

void look_at_filter(std::string_view text) {
  const auto tree = parse_filter(text);
  if (!tree) {
    EVERSHARD_CHECK(is_utf8(tree.error().what), "a refusal is text");
    return;
  }
  const std::string written = text_of(*tree);
  if (written.size() <= filter_bytes_max) {
    const auto again = parse_filter(written);
    EVERSHARD_CHECK(again && *again == *tree && text_of(*again) == written, "a filter is read as it is written");
  }
  const auto& table = fuzzed_table();
  const auto filter = Filter::bind(*tree, table.schema, {});
  if (!filter) return;
  for (const auto& row : {std::vector<TableValue>{"", {}, {}, {}, {}, {}, {}},
                          std::vector<TableValue>{"a", 1, 0.5, true, Timestamp{7}, "\xff", "{}"}}) {
    const std::string bytes = table.layout.encode(row);
    (void)filter->evaluate(RowView(table.layout, bytes));
  }
  EVERSHARD_CHECK(PreparedSelect::make(table, {.where = std::string(text)}),
                  "a filter that can be bound can be planned");
}

void look_at_path(std::string_view text) {
  const auto path = JsonPath::parse(text);
  if (!path) return;
  const auto again = JsonPath::parse(path->text());
  EVERSHARD_CHECK(again || path->text().size() > 512, "a path is read as it is written");
  EVERSHARD_CHECK(!again || *again == *path, "it is the same");
}

void look_at_payload(std::string_view text) {
  static const JsonPath one = *JsonPath::parse("$.a.b[0]"), all = *JsonPath::parse("$");
  const JsonPath* paths[] = {&one, &all};
  std::optional<std::string_view> found[2];
  if (!find_paths(text, paths, found)) return;
  EVERSHARD_CHECK(found[1] && is_json_text(*found[1]), "the whole is found");
  EVERSHARD_CHECK(!found[0] || is_json_text(*found[0]), "what is found is JSON");
  if (found[0] && found[0]->starts_with('"')) (void)unescaped(*found[0]);
}

void look_at_row(std::string_view bytes) {
  const auto& layout = fuzzed_table().layout;
  const auto row = layout.decode(bytes);
  EVERSHARD_CHECK(row || row.error().code == ErrorCode::corruption, "what is no row is damaged");
}

void look_at_keys(std::string_view bytes) {
  for (const FieldType type : {FieldType::text, FieldType::integer, FieldType::number, FieldType::boolean,
                               FieldType::time, FieldType::bytes}) {
    std::string_view from = bytes;
    const auto value = table_keys::take_ordered_or_null(from, type);
    (void)table_keys::row_of_index(bytes, type);
    if (!value || value->is_null() || type == FieldType::number) continue;
    std::string again;
    table_keys::append_ordered_or_null(again, type, *value);
    EVERSHARD_CHECK(again == bytes.substr(0, bytes.size() - from.size()), "a value has one key");
  }
  (void)decode_parked(bytes.substr(0, 9), bytes.size() > 9 ? bytes.substr(9) : std::string_view());
  (void)decode_counts(std::string(bytes));
}

void look_at_token(std::string_view text) {
  (void)PreparedSelect::make(fuzzed_table(), {.continue_from = std::string(text)});
}

using Look = void (*)(std::string_view);
constexpr std::array<Look, 6> looks{look_at_filter, look_at_path, look_at_payload,
                                    look_at_row,    look_at_keys, look_at_token};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
