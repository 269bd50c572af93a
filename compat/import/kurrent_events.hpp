// What becomes of KurrentDB's events in an import. Decisions only.

#pragma once

#include <string>
#include <string_view>

#include "evershard/compat/import/import_source.hpp"
#include "evershard/kurrent/streams.pb.h"

namespace evershard::cli {

using KurrentRecorded = ::event_store::client::streams::ReadResp::ReadEvent::RecordedEvent;

/// Whether a server of theirs, one of its projections, or one of ours that speaks as they do, writes the stream, or its
/// metadata (`$$NAME`), for itself.
[[nodiscard]] bool is_of_server(std::string_view stream);

class KurrentEvents {
 public:
  /// `renumber`: revisions are not kept, and are nothing that is known of an event.
  explicit KurrentEvents(bool renumber) : renumber_(renumber) {}

  /// The event as it is stored here, at the same time under the same names. Its place is not filled in.
  ///
  /// Shape:  `from` is taken apart, unless it is refused
  /// Errors: invalid_argument, too_large, permission_denied: it cannot be stored here
  [[nodiscard]] Result<ImportedEvent> take(KurrentRecorded& from) const;
  /// Stream, revision, id, type, content type, time (microseconds), metadata and data.
  [[nodiscard]] std::string content_of(const KurrentRecorded& event) const;
  /// The same of an event that is stored here; none of one whose content is gone.
  [[nodiscard]] std::string content_of(const RecordedEvent& event) const;

 private:
  const bool renumber_;
};

}  // namespace evershard::cli
