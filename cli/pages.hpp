// Pages: a list that is fetched page by page, up to --limit.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "evershard/cli/command.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/views/projection_rows.hpp"

namespace evershard::cli {

/// `listing` has `after` and `limit`, and begins where it says.
///
/// Shape: `fetch`: Result<Page>(const Listing&), a Page has a `next`, as text; `show`: void(const Page&): its rows;
///        `rows`: std::size_t(const Page&)
template <class Listing, class Fetch, class Rows, class Show>
Outcome print_pages(const Invocation& invocation, ListPrinter& list, Listing listing, std::uint64_t page_max,
                    Fetch fetch, Rows rows, Show show) {
  std::optional<std::string> more;
  for (std::uint64_t left = invocation.arguments.number_at_least("limit", 1); left > 0 && !invocation.out.ended();) {
    listing.limit = std::min(left, page_max);
    const auto page = fetch(listing);
    if (!page) {
      list.finish();
      return Failed(Failure(page.error()));
    }
    show(*page);
    left -= std::min<std::uint64_t>(left, rows(*page));
    more = page->next;
    if (!more) break;
    listing.after = *more;
    if (left > 0 && interrupted()) return stopped_in_the_middle(list);
  }
  list.finish();
  if (more && !invocation.out.ended())
    say_there_is_more("--after " + *more + " goes on, --limit is how many are shown");
  return {};
}

}  // namespace evershard::cli
