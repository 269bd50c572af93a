#include "evershard/api/page_forms.hpp"

#include <utility>

#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard {

Result<Page> built_page(PageSource& source) {
  Page page;
  const auto visited = source.visit([&page](const RecordedView& event) { page.events.push_back(event.take()); }, {});
  if (!visited) return refuse(visited.error());
  page.watermark = visited->watermark;
  page.complete = visited->complete;
  return page;
}

Result<EncodedPage> encoded_page(EventStream& stream, PageBudget budget) {
  codec::PageEncoder encoder;
  const auto visited = stream.visit([&encoder](const RecordedView& event) { encoder.add(event); }, budget);
  if (!visited) return refuse(visited.error());
  return EncodedPage{*visited, encoder.finish(visited->watermark, visited->complete)};
}

Result<VisitedPage> PagesOfValues::visit(const RecordedVisitor& visitor, PageBudget budget) {
  if (budget.at_hand()) return VisitedPage{};
  auto page = next_page();
  if (!page) return refuse(std::move(page).error());
  for (auto& event : page->events) {
    show_to_take(event, view_);
    visitor(view_);
  }
  return VisitedPage{page->events.size(), page->watermark, page->complete};
}

}  // namespace evershard
