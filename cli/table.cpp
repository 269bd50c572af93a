#include "evershard/cli/table.hpp"

#include <algorithm>

namespace evershard::cli {
namespace {

constexpr std::size_t rows_measured = 200;
constexpr std::size_t gap = 2;

}  // namespace

Table::Table(Output& out, const Terminal& terminal, std::vector<Column> columns)
    : out_(out), terminal_(terminal), columns_(std::move(columns)) {}

void Table::row(std::vector<std::string> cells) {
  ++rows_;
  if (measured_) return write(cells, {});
  waiting_.push_back(std::move(cells));
  if (waiting_.size() >= rows_measured) flush();
}

void Table::flush() {
  if (waiting_.empty()) return;
  if (!measured_) {
    measure();
    std::vector<std::string> names;
    for (const auto& column : columns_) names.emplace_back(column.name);
    write(names, "\x1b[1m");
  }
  for (const auto& cells : waiting_) write(cells, {});
  waiting_.clear();
}

void Table::measure() {
  measured_ = true;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_of(columns_[i].name);
    for (const auto& cells : waiting_) width = std::max(width, columns_of(cells[i]));
    if (columns_[i].columns_max > 0)
      width = std::min(width, std::max(columns_[i].columns_max, columns_of(columns_[i].name)));
    widths_.push_back(width);
  }
  if (terminal_.width == 0) return;
  // What does not fit is taken from the last column, down to its name, then from those before it.
  std::size_t total = gap * (widths_.size() - 1);
  for (const auto width : widths_) total += width;
  for (std::size_t i = widths_.size(); i-- > 0 && total > terminal_.width;) {
    const std::size_t least = columns_of(columns_[i].name);
    const std::size_t cut = std::min(total - terminal_.width, widths_[i] - std::min(least, widths_[i]));
    widths_[i] -= cut;
    total -= cut;
  }
}

void Table::write(const std::vector<std::string>& cells, std::string_view colour) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    const bool unbounded = last && terminal_.width == 0 && columns_[i].columns_max == 0;
    const std::string cell = fitted(cells[i], unbounded ? cells[i].size() : widths_[i]);
    const std::size_t used = columns_of(cell);
    const std::string padding(widths_[i] > used ? widths_[i] - used : 0, ' ');
    line += columns_[i].right ? padding + cell : cell + (last ? "" : padding);
    if (!last) line.append(gap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  if (terminal_.colours && !colour.empty()) line = std::string(colour) + line + "\x1b[0m";
  out_.write(line + '\n');
}

}  // namespace evershard::cli
