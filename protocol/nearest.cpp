#include "evershard/protocol/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace evershard {
namespace {

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// How far a name is from what was written, whose beginning may be all that was written.
std::size_t distance(std::string_view word, const std::string& name) {
  return name.starts_with(word) && word.size() > 2 ? 1 : edits_between(word, name);
}

constexpr std::size_t near_most = 2;

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  const auto near = near_ones(word, names, 1);
  return near.empty() ? "" : near.front();
}

std::vector<std::string> near_ones(std::string_view word, const std::vector<std::string>& names, std::size_t most) {
  std::size_t least = near_most;
  for (const auto& name : names) least = std::min(least, distance(word, name));
  std::vector<std::string> near;
  for (const auto& name : names) {
    if (near.size() < most && distance(word, name) <= least) near.push_back(name);
  }
  return near;
}

std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> names, std::size_t most) {
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return edits_between(word, name); });
  names.resize(std::min(names.size(), most));
  return names;
}

}  // namespace evershard
