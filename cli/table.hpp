// Table: rows for a person, aligned, as wide as the terminal.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evershard/api/json/output.hpp"
#include "evershard/cli/terminal.hpp"

namespace evershard::cli {

/// The widths follow from the first rows, so that any number of rows can go through.
class Table {
 public:
  struct Column {
    std::string_view name;
    bool right = false;           ///< numbers
    std::size_t columns_max = 0;  ///< 0: as wide as it is
  };

  Table(Output& out, const Terminal& terminal, std::vector<Column> columns);
  ~Table() { flush(); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  void row(std::vector<std::string> cells);
  /// Writes what waits; from now on the widths are fixed.
  void flush();
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  void measure();
  void write(const std::vector<std::string>& cells, std::string_view colour);

  Output& out_;
  Terminal terminal_;
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> waiting_;
  std::size_t rows_ = 0;
  bool measured_ = false;
};

}  // namespace evershard::cli
