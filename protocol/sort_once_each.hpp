// Sets kept as vectors: sorted, each value once.

#pragma once

#include <algorithm>
#include <vector>

namespace evershard {

template <class T>
void sort_once_each(std::vector<T>& values) {
  if (values.size() < 2) return;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace evershard
