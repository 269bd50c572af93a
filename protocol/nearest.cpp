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

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  std::size_t least = 3;
  for (const auto& name : names) {
    const std::size_t d = name.starts_with(word) && word.size() > 2 ? 1 : edits_between(word, name);
    if (d < least) {
      least = d;
      best = &name;
    }
  }
  return best == nullptr ? "" : *best;
}

std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> names, std::size_t most) {
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return edits_between(word, name); });
  names.resize(std::min(names.size(), most));
  return names;
}

}  // namespace evershard
