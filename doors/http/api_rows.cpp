// Rows that may not be there yet: looked for again until they are, without a thread that waits.

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"

namespace evershard::http {
namespace {

using std::chrono::milliseconds;
using RowsClock = serving::HeadWatch::Clock;

constexpr auto first_wait =
    milliseconds(20);  ///< in a thread of the pool: what follows its store closely is there by then
constexpr auto pause_max = milliseconds(200);  ///< between two looks; doubled up to here

}  // namespace

struct Api::RowsLookedFor {
  Asked asked;
  Interested interest;
  Answered answered;
  Rows rows;
  RowsClock::time_point deadline;
  milliseconds pause{0};
  std::atomic<serving::HeadWatch::Ticket> waits{0};
};

void Api::begin_rows(Asked asked, const Interested& interest, const Answered& answered, const Rows& of) {
  auto& parameters = asked.target.parameters;
  if (asked.route->method == "POST") {
    if (auto added = add_parameters(asked.request.body, parameters); !added) return answered(refused(added.error()));
  }
  const auto deadline = RowsClock::now() + options.limits.at_least_time;
  if (of.as_of_head && !parameters.has("at_least")) {
    // Else each look would wait for what came meanwhile.
    const auto head = served.store.head();
    if (!head) return answered(refused(head.error()));
    parameters.add("at_least", std::to_string(head->value));
  }
  const std::shared_ptr<RowsLookedFor> rows(new RowsLookedFor{std::move(asked), interest, answered, of, deadline});
  interest->when_gone([this, gone = std::weak_ptr(rows)] {
    if (const auto left = gone.lock()) served.watch.cancel(left->waits);
  });
  look_for(rows);
}

void Api::look_for(const std::shared_ptr<RowsLookedFor>& rows) {
  if (rows->interest->gone()) return rows->answered(refused(Error(ErrorCode::cancelled, "the client went away")));
  const auto left = std::max(std::chrono::ceil<milliseconds>(rows->deadline - RowsClock::now()), milliseconds(0));
  auto response =
      rows->rows.read(*this, rows->asked, rows->pause.count() == 0 ? std::min(left, first_wait) : milliseconds(0));
  if (response || response.error().code != ErrorCode::timeout || left.count() == 0)
    return rows->answered(response ? *std::move(response) : refused(response.error()));
  rows->pause = std::min(std::max(rows->pause * 2, first_wait), pause_max);
  rows->waits =
      served.watch.at(RowsClock::now() + std::min(rows->pause, left), [this, rows](const Result<void>& there) {
        if (!there) return rows->answered(refused(there.error()));
        run_for(rows->interest, [this, rows] { look_for(rows); });
      });
}

}  // namespace evershard::http
