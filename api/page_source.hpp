// PageSource: where the pages of a read come from. Reading is one operation: the events of a page are shown one by one.

#pragma once

#include <algorithm>
#include <cstddef>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// What a visit may cost.
struct PageBudget {
  /// Not 0, of the first page: the caller has others to serve. The visit shows what memory has, so many events at most,
  /// soon and without waiting for anything. 0: a page as the source makes pages.
  std::size_t at_hand_max = 0;

  [[nodiscard]] bool at_hand() const { return at_hand_max != 0; }
  /// Of a source that makes pages of so many events.
  [[nodiscard]] std::size_t events_max(std::size_t page) const {
    return at_hand() ? std::min(at_hand_max, page) : page;
  }
};

/// A page whose events were shown.
struct VisitedPage {
  std::size_t events = 0;
  GlobalPosition watermark{};  ///< what the read is bounded by
  bool complete = false;       ///< nothing follows

  /// Of a visit of what is at hand: nothing is, or that is not known. The caller visits again, and waits.
  [[nodiscard]] bool says_nothing() const { return events == 0 && !complete; }
};

/// Implementations: a store in this process, a node of a cluster, a server (of values, PagesOfValues); and what stands
/// around one of them: counting per aggregate, opening sealed payloads. What stands around one hands the views on.
///
/// One thread, but for cancel().
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// Shows the events of the next page, in order. A page may be empty and not complete; after a complete one, or an
  /// error, nothing more is asked.
  ///
  /// Errors: nothing was shown then. An event that cannot be read ends the page before it, and is the error of the next
  ///         visit. Of what is at hand, an error says only that nothing is, and the source is asked again.
  [[nodiscard]] virtual Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) = 0;
  /// A visit under way answers `cancelled` as soon as it can.
  virtual void cancel() = 0;
};

}  // namespace evershard
