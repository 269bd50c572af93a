#include "evershard/cli/print.hpp"

#include <algorithm>
#include <iostream>

#include "evershard/api/json/event_json.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// To the second: what a person compares.
std::string time_cell(Timestamp time) {
  std::string text = time.text();
  const auto point = text.find('.');
  if (point != std::string::npos) text = text.substr(0, point) + 'Z';
  return text;
}

std::string cell_of(std::string_view payload, const std::optional<Result<ShownMessage>>& read) {
  if (!read) return payload_cell(payload);
  if (!*read) return '(' + rounded_size(payload.size()) + ": " + read->error().what + ')';
  return payload_cell((*read)->json) + ((*read)->unknown_fields ? " and fields that are not registered" : "");
}

}  // namespace

ListPrinter::ListPrinter(const Invocation& invocation, std::vector<Table::Column> columns)
    : invocation_(invocation),
      columns_(columns.size()),
      table_(invocation.out, invocation.terminal, std::move(columns)) {}

void ListPrinter::json(std::string_view value) {
  const bool array = invocation_.format == Format::json;
  if (array) invocation_.out.write(first_ ? "[\n" : ",\n");
  first_ = false;
  invocation_.out.write(value);
  if (!array) invocation_.out.write("\n");
}

void ListPrinter::flush() {
  table_.flush();
  invocation_.out.flush();
}

void ListPrinter::finish() {
  if (invocation_.format == Format::json) invocation_.out.write(first_ ? "[]\n" : "\n]\n");
  if (invocation_.for_people() && columns_ > 0 && table_.rows() == 0) invocation_.out.write("(none)\n");
  flush();
}

EventPrinter::EventPrinter(const Invocation& invocation, const PayloadTypes& types)
    : invocation_(invocation),
      types_(types),
      list_(invocation, {{"POSITION", true},
                         {"AGGREGATE", false, 40},
                         {"NR", true},
                         {"TYPE", false, 40},
                         {"TAGS", false, 60},
                         {"OCCURRED AT"},
                         {"PAYLOAD"}}) {}

void EventPrinter::event(const RecordedEvent& event) {
  if (invocation_.for_people()) {
    list_.row({std::to_string(event.position.value), event.aggregate ? event.aggregate->text() : "",
               event.aggregate ? std::to_string(event.seq_nr.value) : "", event.type, joined(event.tags),
               event.state == EventState::removed ? "" : time_cell(event.occurred_at), payload_cell(event, types_)});
    return;
  }
  json_.clear();
  write_event(json_, event, types_);
  list_.json(json_.text());
}

void say_there_is_more(std::string_view how) { std::cerr << "evershard: there is more: " << how << '\n'; }

void print_one(const Invocation& invocation, const JsonText& json,
               const std::vector<std::pair<std::string, std::string>>& parts) {
  if (!invocation.for_people()) {
    invocation.out.write(json.text() + '\n');
    return;
  }
  std::size_t widest = 0;
  for (const auto& [name, value] : parts) widest = std::max(widest, columns_of(name));
  for (const auto& [name, value] : parts) {
    invocation.out.write(name + std::string(widest - columns_of(name) + 2, ' ') + fitted(value, value.size()) + '\n');
  }
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t named_most = 10;
  std::string named;
  for (std::size_t i = 0; i != names.size() && i != named_most; ++i) named += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > named_most) named += ", ... (" + std::to_string(names.size()) + " in all)";
  return named.empty() ? "none" : named;
}

std::string payload_cell(std::string_view payload) {
  constexpr std::size_t shown_max = 300;  // a terminal is narrower than that
  const bool text = is_utf8(payload) && payload.find('\0') == std::string_view::npos;
  if (!text) return '(' + rounded_size(payload.size()) + ')';
  return payload.size() <= shown_max ? std::string(payload) : fitted(payload, shown_max);
}

std::string payload_cell(const RecordedEvent& event, const PayloadTypes& types) {
  if (event.state == EventState::removed) return "(removed)";
  if (event.state == EventState::erased) return "(erased)";
  return cell_of(event.payload, decoded(event, types));
}

std::string payload_cell(const RecordedSnapshot& snapshot, const PayloadTypes& types) {
  return cell_of(snapshot.payload, decoded(snapshot, types));
}

}  // namespace evershard::cli
