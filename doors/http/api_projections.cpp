// Reading projections: how they are, what indexes hold.

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/http/shown.hpp"
#include "evershard/store/json/projection_json.hpp"

namespace evershard::http {
namespace {

using std::chrono::milliseconds;
using RowsClock = serving::HeadWatch::Clock;

constexpr auto first_wait =
    milliseconds(20);  ///< in a thread of the pool: what follows its store closely is there by then
constexpr auto pause_max = milliseconds(200);  ///< between two looks; doubled up to here

Result<RowsAsked> rows_asked_of(const Parameters& parameters, milliseconds timeout) {
  RowsAsked rows;
  rows.timeout = timeout;
  auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(std::move(at_least).error());
  rows.at_least = *at_least;
  const auto version = parameters.number("version");
  if (!version) return refuse(version.error());
  if (*version) rows.version = SeqNr{**version};
  const auto events = parameters.text("events");
  if (!events) return refuse(events.error());
  if (*events && **events != "true" && **events != "false")
    return refuse(ErrorCode::invalid_argument, "events: is true or false");
  rows.events = *events == "true";
  return rows;
}

}  // namespace

struct Api::RowsLookedFor {
  Asked asked;
  Interested interest;
  Answered answered;
  Rows read;
  RowsClock::time_point deadline;
  milliseconds pause{0};
  std::atomic<serving::HeadWatch::Ticket> waits{0};
};

void Api::begin_rows(const Asked& asked, const Interested& interest, const Answered& answered, Rows read) {
  const std::shared_ptr<RowsLookedFor> rows(
      new RowsLookedFor{asked, interest, answered, read, RowsClock::now() + options_.limits.at_least_time});
  if (auto& parameters = rows->asked.target.parameters; read == &Api::values && !parameters.has("at_least")) {
    // The head when the read began: else each look would wait for what came meanwhile.
    const auto head = served_.store.head();
    if (!head) return answered(refused(head.error()));
    parameters.add("at_least", std::to_string(head->value));
  }
  interest->when_gone([this, of = std::weak_ptr(rows)] {
    if (const auto gone = of.lock()) served_.watch.cancel(gone->waits);
  });
  look_for(rows);
}

void Api::begin_rows_by_body(Asked asked, const Interested& interest, const Answered& answered, Rows read) {
  if (asked.route->method == "POST") {
    if (auto added = add_parameters(asked.request.body, asked.target.parameters); !added)
      return answered(refused(added.error()));
  }
  begin_rows(asked, interest, answered, read);
}

void Api::look_for(const std::shared_ptr<RowsLookedFor>& rows) {
  if (rows->interest->gone()) return rows->answered(refused(Error(ErrorCode::cancelled, "the client went away")));
  const auto left = std::max(std::chrono::ceil<milliseconds>(rows->deadline - RowsClock::now()), milliseconds(0));
  auto response =
      (this->*rows->read)(rows->asked, rows->pause.count() == 0 ? std::min(left, first_wait) : milliseconds(0));
  if (response || response.error().code != ErrorCode::timeout || left.count() == 0)
    return rows->answered(response ? *std::move(response) : refused(response.error()));
  rows->pause = std::min(std::max(rows->pause * 2, first_wait), pause_max);
  rows->waits =
      served_.watch.at(RowsClock::now() + std::min(rows->pause, left), [this, rows](const Result<void>& there) {
        if (!there) return rows->answered(refused(there.error()));
        run_for(rows->interest, [this, rows] { look_for(rows); });
      });
}

Result<Response> Api::projections(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto all = served_.projections().list();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object().key("projections").begin_array();
  for (const auto& info : *all) write_projection(json, info);
  json.end_array().end_object();
  return json_response(json.take());
}

Result<Response> Api::projection(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto info = served_.projections().describe(asked.argument);
  if (!info) return refuse(info.error());
  JsonText json;
  write_projection(json, *info);
  return json_response(json.take());
}

Result<Response> Api::index(const Asked& asked, milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"start", "limit", "direction", "at_least", "version", "events"}));
  const auto start = parameters.number("start");
  if (!start) return refuse(start.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto direction = direction_of(parameters);
  if (!direction) return refuse(direction.error());
  auto rows = rows_asked_of(parameters, wait);
  if (!rows) return refuse(std::move(rows).error());
  const auto types = types_.lease();
  if (!types) return refuse(types.error());
  const auto page = served_.projections().read_index(asked.argument, {*start, *limit, *direction, *rows});
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object().key("entries").begin_array();
  for (const auto& entry : page->entries) {
    const auto before = json.text().size();
    write_index_entry(json, entry, **types);
    EVERSHARD_TRY(spend_shown(json, before));
  }
  json.end_array().key("count").number(page->count).key("watermark").number(page->watermark.value).end_object();
  return json_response(json.take());
}

Result<Response> Api::values(const Asked& asked, milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only(
      {"equal", "from", "to", "until", "after", "limit", "direction", "at_least", "version", "events"}));
  ValueRead read;
  for (const auto& [name, to] : std::initializer_list<std::pair<const char*, std::optional<std::string>*>>{
           {"equal", &read.equal}, {"from", &read.from}, {"to", &read.to}, {"until", &read.until}}) {
    auto text = parameters.text(name);
    if (!text) return refuse(std::move(text).error());
    *to = *std::move(text);
  }
  const auto after = parameters.text("after");
  if (!after) return refuse(after.error());
  read.after = after->value_or("");
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  read.limit = *limit;
  const auto direction = direction_of(parameters);
  if (!direction) return refuse(direction.error());
  read.direction = *direction;
  auto rows = rows_asked_of(parameters, wait);
  if (!rows) return refuse(std::move(rows).error());
  read.rows = *rows;
  const auto types = types_.lease();
  if (!types) return refuse(types.error());
  const auto page = served_.projections().read_values(asked.argument, read);
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object().key("entries").begin_array();
  for (const auto& entry : page->entries) {
    const auto before = json.text().size();
    write_value_entry(json, entry, **types);
    EVERSHARD_TRY(spend_shown(json, before));
  }
  json.end_array().key("next");
  if (page->next.empty())
    json.raw("null");
  else
    json.string(page->next);
  json.key("watermark").number(page->watermark.value).end_object();
  return json_response(json.take());
}

}  // namespace evershard::http
