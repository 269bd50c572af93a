#include "evershard/services/indexes/index_projection.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "evershard/protocol/reserved_types.hpp"
#include "evershard/services/indexes/query_spec.hpp"
#include "evershard/services/indexes/row_bytes.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::actors {
namespace {

constexpr std::uint64_t numbers_a_chunk = 128;

std::uint64_t chunk_of(std::uint64_t number) { return (number - 1) / numbers_a_chunk; }

Result<std::vector<std::uint64_t>> read_chunk(const std::optional<std::string>& row) {
  std::vector<std::uint64_t> positions;
  if (!row) return positions;
  const auto* at = row->data();
  const auto* const end = at + row->size();
  std::uint64_t last = 0;
  while (at != end) {
    std::uint64_t step = 0;
    at = storage::get_varint(at, end, step);
    if (at == nullptr) return refuse(ErrorCode::corruption, "a row of an index cannot be read");
    positions.push_back(last += step);
  }
  return positions;
}

constexpr char of_before = '\xff';  ///< of keys; those of chunks are shorter and lie before them

std::string key_of_before(std::uint64_t chunk) { return std::string(1, of_before) + big_endian(chunk); }

Result<std::uint64_t> count_of(const std::string& state) {
  if (state.empty()) return 0;
  const auto counts = read_counts(state, 1);
  if (!counts) return refuse(counts.error());
  return counts->front();
}

class IndexProcessor final : public Processor {
 public:
  explicit IndexProcessor(Query query) : query_(std::move(query)) {}

  [[nodiscard]] const Query& query() const override { return query_; }

  Result<void> handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) override {
    if (!count_) EVERSHARD_TRY(remember(rows));
    for (const auto* event : events) {
      EVERSHARD_TRY(number_before(event->position.value, rows));
      number(event->position.value, rows);
    }
    if (std::exchange(changed_, false)) rows.put(big_endian(chunk_of(*count_)), chunk_);
    rows.put_state(write_counts({*count_}));
    return {};
  }

  void forget() override {
    count_.reset();
    changed_ = false;
    before_.reset();
    has_before_ = true;
  }

  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> figures(const std::string& state) const override {
    return {{"entries", count_of(state).value_or(0)}};
  }

 private:
  struct Before {
    std::string key;
    std::vector<std::uint64_t> positions;
    std::size_t next = 0;
  };

  void number(std::uint64_t position, ProjectionRows& rows) {
    if (*count_ % numbers_a_chunk == 0) {
      if (changed_) rows.put(big_endian(chunk_of(*count_)), chunk_);
      chunk_.clear();
      last_ = 0;
    }
    storage::append_varint(chunk_, position - last_);
    last_ = position;
    newest_ = position;
    ++*count_;
    changed_ = true;
  }

  /// What had a number in front of this position, and matches no more: its event was removed.
  Result<void> number_before(std::uint64_t position, ProjectionRows& rows) {
    for (;;) {
      if (!before_) EVERSHARD_TRY(read_before(rows));
      if (!before_) return {};
      auto& [key, positions, next] = *before_;
      for (; next != positions.size() && positions[next] <= position; ++next)
        if (positions[next] > newest_ && positions[next] < position) number(positions[next], rows);
      if (next != positions.size()) return {};
      rows.erase(key);
      before_.reset();
    }
  }

  Result<void> read_before(ProjectionRows& rows) {
    if (!has_before_) return {};
    Before found;
    std::string row;
    EVERSHARD_TRY(rows.each(storage::RowRange::prefix(std::string(1, of_before)),
                            [&](std::string_view key, std::string_view value) {
                              found.key = key;
                              row = value;
                              return false;
                            }));
    has_before_ = !found.key.empty();
    if (!has_before_) return {};
    auto positions = read_chunk(row);
    if (!positions) return refuse(std::move(positions).error());
    found.positions = *std::move(positions);
    before_ = std::move(found);
    return {};
  }

  Result<void> remember(ProjectionRows& rows) {
    const auto count = count_of(rows.state());
    if (!count) return refuse(count.error());
    chunk_.clear();
    last_ = newest_ = 0;
    if (*count > 0) {
      auto row = rows.get(big_endian(chunk_of(*count)));
      if (!row) return refuse(std::move(row).error());
      const auto positions = read_chunk(*row);
      if (!positions) return refuse(positions.error());
      if (positions->size() != (*count - 1) % numbers_a_chunk + 1)
        return refuse(ErrorCode::corruption, "an index has lost rows");
      newest_ = positions->back();
      if (*count % numbers_a_chunk != 0) {
        chunk_ = **row;
        last_ = newest_;
      }
    }
    count_ = *count;
    return {};
  }

  const Query query_;
  std::optional<std::uint64_t> count_;  ///< absent: not known yet
  std::string chunk_;                   ///< the row that the last number stands in
  std::uint64_t last_ = 0;
  std::uint64_t newest_ = 0;  ///< the position of the last number; 0: there is none
  bool changed_ = false;
  bool has_before_ = true;  ///< false: it was looked for
  std::optional<Before> before_;
};

}  // namespace

std::string IndexKind::spec_of(const Query& query) { return R"({"query":)" + query_spec(query) + "}"; }

Result<Query> IndexKind::query_of(const std::string& spec) {
  const auto json = nlohmann::json::parse(spec, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("query"))
    return refuse(ErrorCode::invalid_argument, "an index is {\"query\":..}");
  return read_query_spec(json.at("query").dump());
}

Result<std::string> IndexKind::check(const std::string& named, const std::string& spec) const {
  const auto query = query_of(spec);
  if (!query) return refuse(query.error());
  EVERSHARD_TRY(check_known_types(*query));
  if (named != index_name(*query))
    return refuse(ErrorCode::invalid_argument,
                  "the index of this query is named " + index_name(*query) + ", not " + named);
  return spec_of(*query);
}

Result<std::unique_ptr<Processor>> IndexKind::make(const std::string&, const std::string& spec) const {
  auto query = query_of(spec);
  if (!query) return refuse(std::move(query).error());
  return std::make_unique<IndexProcessor>(*std::move(query));
}

Result<storage::ProjectionChanges> IndexKind::carried(const storage::ProjectionView& before) const {
  storage::ProjectionChanges changes;
  std::string chunk;
  std::uint64_t numbers = 0, newest = 0, last = 0;
  const auto take = [&](std::uint64_t position) {
    storage::append_varint(chunk, position - last);
    last = newest = position;
    if (++numbers % numbers_a_chunk != 0) return;
    changes.put(key_of_before(chunk_of(numbers)), std::exchange(chunk, {}));
    last = 0;
  };
  // What these rows carried themselves, and have not passed yet, lies behind their own numbers.
  const auto rows = before.cursor({});
  while (rows->next()) {
    const auto positions = read_chunk(std::string(rows->value()));
    if (!positions) return refuse(positions.error());
    for (const auto position : *positions)
      if (position > newest) take(position);
  }
  if (rows->error()) return refuse(*rows->error());
  if (!chunk.empty()) changes.put(key_of_before(chunk_of(numbers)), std::move(chunk));
  return changes;
}

Result<NumberedPositions> read_numbers(const storage::ProjectionView& rows, std::optional<std::uint64_t> start,
                                       std::size_t limit, Direction direction) {
  const auto count = count_of(rows.checkpoint().state);
  if (!count) return refuse(count.error());
  NumberedPositions read{{}, *count};
  const bool forwards = direction == Direction::forwards;
  auto number = start.value_or(forwards ? 1 : *count);
  if (forwards) number = std::max<std::uint64_t>(number, 1);
  if (!forwards) number = std::min(number, *count);
  std::optional<std::uint64_t> chunk;
  std::vector<std::uint64_t> positions;
  while (number >= 1 && number <= *count && read.found.size() < limit) {
    if (chunk != chunk_of(number)) {
      chunk = chunk_of(number);
      auto row = rows.get(big_endian(*chunk));
      if (!row) return refuse(std::move(row).error());
      auto decoded = read_chunk(*row);
      if (!decoded) return refuse(std::move(decoded).error());
      positions = *std::move(decoded);
    }
    const auto place = (number - 1) % numbers_a_chunk;
    if (place >= positions.size())
      return refuse(ErrorCode::corruption, "number " + std::to_string(number) + " of an index is missing");
    read.found.push_back({number, GlobalPosition{positions[place]}});
    forwards ? ++number : --number;
  }
  return read;
}

}  // namespace evershard::actors
