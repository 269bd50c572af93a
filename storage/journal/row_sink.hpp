// RowSink: takes the rows of one commit.

#pragma once

#include <string_view>

#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void put(Family family, std::string_view key, std::string_view value) = 0;
  virtual void erase(Family family, std::string_view key) = 0;
};

}  // namespace evershard::storage
