#include "evershard/cli/events/export_lines.hpp"

#include <utility>

#include "evershard/api/json/event_json.hpp"

namespace evershard::cli {
namespace {

/// Positions of an append are consecutive, so its first one names it.
GlobalPosition append_start(const RecordedEvent& event) { return event.position - event.append_index; }

}  // namespace

void ExportLines::event(RecordedEvent event) {
  if (!append_.empty() && append_start(append_.back()) != append_start(event)) finish();
  append_.push_back(std::move(event));
}

void ExportLines::snapshot(const RecordedSnapshot& snapshot) {
  finish();
  json_.clear();
  json_.begin_object().key("snapshot");
  write_snapshot(json_, snapshot);
  json_.end_object();
  write_(json_.text());
}

void ExportLines::finish() {
  if (append_.empty()) return;
  json_.clear();
  if (append_.size() == 1) {
    write_event(json_, append_.front());
  } else {
    json_.begin_object().key("events").begin_array();
    for (const auto& event : append_) write_event(json_, event);
    json_.end_array().end_object();
  }
  append_.clear();
  write_(json_.text());
}

}  // namespace evershard::cli
