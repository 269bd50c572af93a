// The tables of docs/internals/ids.md are test vectors: here they are read and held against the code.

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {
namespace {

using Row = std::array<std::string, 3>;

std::string unescaped(std::string_view cell) {
  std::string out;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell.substr(i, 2) == "\\x") {
      out += static_cast<char>(std::stoi(std::string(cell.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else {
      out += cell[i];
    }
  }
  return out;
}

/// Three cells between backticks; nothing, where the line is no such row.
std::optional<Row> row(const std::string& line) {
  if (line.rfind("| `", 0) != 0) return std::nullopt;
  Row cells;
  std::size_t at = 0;
  for (auto& cell : cells) {
    const auto open = line.find('`', at), close = line.find('`', open + 1);
    if (open == std::string::npos || close == std::string::npos) return std::nullopt;
    cell = unescaped(std::string_view(line).substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return cells;
}

/// The rows below the table's head line.
std::vector<Row> table(const std::string& head) {
  std::ifstream page(EVERSHARD_DOCS "/internals/ids.md");
  std::vector<Row> rows;
  std::string line;
  while (std::getline(page, line) && line != head) {
  }
  std::getline(page, line);  // the dashes
  while (std::getline(page, line)) {
    const auto cells = row(line);
    if (!cells) break;
    rows.push_back(*cells);
  }
  return rows;
}

TEST(IdsDocument, SaysWhichAggregateIdsAreAccepted) {
  const auto rows = table("| text | type | value |");

  ASSERT_EQ(rows.size(), 16u);
  for (const auto& [text, type, value] : rows) {
    const auto id = AggregateId::parse(text);
    ASSERT_TRUE(id) << id.error().what;
    EXPECT_EQ(*id, (AggregateId{type, value}));
    EXPECT_EQ(id->text(), text);
  }
}

TEST(IdsDocument, SaysWhichAggregateIdsAreRefused) {
  const auto rows = table("| text | code | because |");

  ASSERT_EQ(rows.size(), 11u);
  for (const auto& [text, code, because] : rows) {
    const auto id = AggregateId::parse(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(name_of(id.error().code), code);
    EXPECT_THAT(id.error().what, testing::HasSubstr(because));
  }
}

TEST(IdsDocument, SaysWhichEventIdsARequestGives) {
  const auto rows = table("| request id | n | event id |");

  ASSERT_EQ(rows.size(), 9u);
  for (const auto& [request, index, id] : rows) {
    const auto parsed = RequestId::parse(request);
    ASSERT_TRUE(parsed) << request;
    EXPECT_EQ(EventId::derived(*parsed, static_cast<std::uint32_t>(std::stoul(index))).text(), id);
  }
}

}  // namespace
}  // namespace evershard
