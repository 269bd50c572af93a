// Reading many events, appending, following.

#include <chrono>
#include <memory>
#include <utility>

#include "evershard/api/json/append_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/event_tail.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/serving/beyond_head.hpp"
#include "evershard/doors/serving/operators_writes.hpp"
#include "evershard/storage/index/read_work_for_write.hpp"

namespace evershard::http {
namespace {

template <ReadBy by>
void begin_read(Api& api, const Asked& asked, const Interested& interest, const Answered& answered) {
  auto read = read_asked_of(asked, by);
  if (!read) return answered(refused(read.error()));
  const auto give = [&api, read = *read, answered] {
    const auto types = api.types.lease();
    if (!types) return answered(refused(types.error()));
    auto given = give_events(api.served.store, read, **types, api.options.limits.response_bytes);
    if (!given) return answered(refused(given.error()));
    api.served.metrics->events_read("http", given->events);
    answered(json_response(std::move(given->json)));
  };
  if (!read->at_least) return give();
  const auto deadline = serving::HeadWatch::Clock::now() + api.options.limits.at_least_time;
  const auto ticket = api.served.watch.when_reached(
      *read->at_least, deadline, [&api, interest, answered, give](const Result<GlobalPosition>& reached) {
        if (!reached) return answered(refused(reached.error()));
        api.run_for(interest, give);
      });
  interest->when_gone([&api, ticket] { api.served.watch.cancel(ticket); });
}

void append_now(Api& api, const Interested& interest, const Answered& answered,
                std::chrono::steady_clock::time_point began, Append append) {
  const auto events = append.events.size();
  const auto work = api.served.long_reads->begin();  // of its conditions: it is not given up with its client
  const storage::ReadWorkForWrite at_work(*work);
  api.served.store.append_async(
      std::move(append), [metrics = api.served.metrics, interest, answered, began, events](Result<Appended> appended) {
        if (!appended) return answered(refused(appended.error()));
        if (!appended->duplicate) metrics->appended("http", std::chrono::steady_clock::now() - began, events);
        JsonText json;
        write_appended(json, *appended);
        answered(json_response(json.take()));
      });
}

void begin_append(Api& api, const Asked& asked, const Interested& interest, const Answered& answered) {
  const auto began = std::chrono::steady_clock::now();
  if (auto known = asked.target.parameters.only({}); !known) return answered(refused(known.error()));
  auto line = read_append(asked.request.body, LineRules::append);
  if (!line) return answered(refused(line.error()));
  if (auto may = serving::check_operators_writes(asked.caller, line->append); !may)
    return answered(refused(may.error()));
  const auto kept = std::make_shared<Append>(std::move(line->append));
  serving::when_within(api.served, *kept, [&api, interest, answered, began, kept](const Result<void>& within) {
    if (!within) return answered(refused(within.error()));
    append_now(api, interest, answered, began, std::move(*kept));
  });
}

void begin_live_events(Api& api, const Asked& asked, const Interested& interest, const Answered& answered) {
  auto follow = follow_asked_of(asked);
  if (!follow) return answered(refused(follow.error()));
  if (!follow->after) {
    auto head = api.served.store.head();
    if (!head) return answered(refused(head.error()));
    follow->after = *head;
  }
  const auto begin = [&api, answered, query = std::move(follow->query), after = *follow->after] {
    answered(std::make_shared<EventTail>(api.served, api.types, query, after, api.options.limits.heartbeat));
  };
  const auto beyond = serving::beyond_head(api.served, *follow->after);
  if (!beyond) return answered(refused(beyond.error()));
  if (!*beyond) return begin();
  if (api.served.cluster == nullptr) return answered(refused(**beyond));
  const auto ticket = api.served.watch.when_reached(
      *follow->after, serving::HeadWatch::Clock::now() + serving::may_be_behind,
      [&api, interest, answered, begin, beyond = **beyond](const Result<GlobalPosition>& reached) {
        if (!reached && reached.error().code == ErrorCode::timeout) return answered(refused(beyond));
        if (!reached) return answered(refused(reached.error()));
        api.run_for(interest, begin);
      });
  interest->when_gone([&api, ticket] { api.served.watch.cancel(ticket); });
}

}  // namespace

std::span<const Route> event_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/events", read, begin_read<ReadBy::position>},
      {"POST", "/api/v1/query", read, begin_read<ReadBy::body>},
      {"GET", "/api/v1/query", read, begin_read<ReadBy::parameters>},
      {"POST", "/api/v1/append", append, begin_append, Manner::uncompressed},
      {"GET", "/api/v1/live/events", read, begin_live_events, Manner::stream},
  };
  return rows;
}

}  // namespace evershard::http
