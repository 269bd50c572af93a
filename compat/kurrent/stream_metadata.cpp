#include "evershard/compat/kurrent/stream_metadata.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace evershard::kurrent {
namespace {

constexpr std::int64_t age_most_s = 300'000'000'000;  ///< beyond it the oldest event that there can be is younger

constexpr int depth_most = 100;  ///< copying and writing what nests deeper would take all of a thread's stack

bool nests_too_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > depth_most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

nlohmann::json metadata_object(std::string_view json) {
  if (nests_too_deep(json)) return nlohmann::json::object();
  auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) parsed = nlohmann::json::object();
  return parsed;
}

std::optional<std::uint64_t> number_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  // JavaScript's numbers are doubles: the mark of a deletion comes back rounded.
  if (found->is_number_float()) {
    const double value = found->get<double>();
    if (value >= 9.2e18) return deleted_mark;
    if (value >= 0) return static_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

}  // namespace

StreamMetadata metadata_from(std::string_view json) {
  const auto object = metadata_object(json);
  StreamMetadata metadata;
  metadata.count_max = number_in(object, "$maxCount");
  if (metadata.count_max == 0) metadata.count_max.reset();
  metadata.age_max_s = number_in(object, "$maxAge");
  if (metadata.age_max_s == 0) metadata.age_max_s.reset();
  metadata.from = number_in(object, "$tb");
  return metadata;
}

std::string with_first_revision(std::string_view json, std::uint64_t from) {
  auto object = metadata_object(json);
  object["$tb"] = from;
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Visible visible_of(const StreamMetadata& metadata, SeqNr version, SeqNr version_at_delete, Timestamp now) {
  Visible visible;
  const auto from = [&](std::uint64_t first) { visible.first = std::max(visible.first, SeqNr(first)); };
  from(version_at_delete.value + 1);
  if (metadata.from && !metadata.is_deleted()) from(*metadata.from + 1);
  if (metadata.count_max && version.value > *metadata.count_max) from(version.value - *metadata.count_max + 1);
  if (metadata.age_max_s) {
    const auto age = std::min<std::uint64_t>(*metadata.age_max_s, age_most_s);
    visible.not_before = Timestamp{now.micros - static_cast<std::int64_t>(age) * 1'000'000};
  }
  return visible;
}

}  // namespace evershard::kurrent
