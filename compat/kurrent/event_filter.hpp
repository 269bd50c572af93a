// EventFilter: which events of `$all` a reader wants, by stream name or event type. Decisions only.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/compat/kurrent/virtual_streams.hpp"
#include "evershard/kurrent/streams.pb.h"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::kurrent {

/// Copies share the pattern; any thread.
class EventFilter {
 public:
  /// `$idx-et-TYPE` and `$idx-ce-CATEGORY`, as the one prefix of a stream's name, are the events of that type or
  /// category: so clients read the secondary indexes of theirs.
  ///
  /// Errors: invalid_argument (neither prefixes nor a pattern, a pattern that is none, or that cannot be said here),
  ///         not_found (another index), too_large
  [[nodiscard]] static Result<EventFilter> of(const ::event_store::client::streams::ReadReq::FilterOptions& options);
  [[nodiscard]] bool takes(const RecordedEvent& event) const;
  [[nodiscard]] bool takes(const RecordedView& event) const;
  /// What has to be read for it.
  [[nodiscard]] Query query() const { return index_ ? index_->query() : Query::all(); }

 private:
  struct Pattern;
  [[nodiscard]] bool takes_text(std::string_view text) const;

  bool by_stream_ = false;
  bool refuses_ = false;  ///< what the pattern matches is not taken
  std::optional<Derived> index_;
  std::vector<std::string> prefixes_;
  std::shared_ptr<const Pattern> pattern_;
};

}  // namespace evershard::kurrent
