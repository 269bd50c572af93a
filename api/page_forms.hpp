// The forms of a page: values and bytes made of what a source shows, and a source that has values.

#pragma once

#include <optional>
#include <string>

#include "evershard/api/event_stream.hpp"
#include "evershard/api/page_source.hpp"
#include "evershard/protocol/read.hpp"

namespace evershard {

/// The next page as values. Errors: the source's
[[nodiscard]] Result<Page> built_page(PageSource& source);

/// A page as it goes over the wire.
struct EncodedPage : VisitedPage {
  std::string bytes{};  ///< of codec::encode(Page)
};
/// The next page for the wire: its events are not built. Errors: the stream's
[[nodiscard]] Result<EncodedPage> encoded_page(EventStream& stream, PageBudget budget = {});

/// A source whose events are values: they came from elsewhere.
class PagesOfValues : public PageSource {
 public:
  /// As visit(). Nothing of it is at hand.
  [[nodiscard]] virtual Result<Page> next_page() = 0;
  [[nodiscard]] Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) final;

 private:
  RecordedView view_;
};

}  // namespace evershard
