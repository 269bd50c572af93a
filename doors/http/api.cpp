#include "evershard/doors/http/api.hpp"

#include <algorithm>
#include <utility>

#include "evershard/doors/http/event_tail.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/store/json/append_json.hpp"

namespace evershard::http {

void Interest::when_gone(std::function<void()> tell) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_) {
      tell_.push_back(std::move(tell));
      return;
    }
  }
  tell();
}

void Interest::go() {
  std::vector<std::function<void()>> tell;
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    tell.swap(tell_);
  }
  for (const auto& one : tell) one();
}

Api::Api(serving::Served served, const HttpOptions& options, Surroundings around, std::string address)
    : served_(std::move(served)),
      options_(options),
      around_(std::move(around)),
      address_(std::move(address)),
      types_(served_.types) {
  for (const auto& route : routes()) {
    methods_.push_back(&served_.metrics->method("http", std::string(route.method) + ' ' + std::string(route.path)));
  }
}

namespace {

/// Absent: it is not said, or is no number.
std::uint64_t length_of_body(const Request& head) {
  const auto length = read_number(head.field("content-length"), "Content-Length");
  return length ? *length : 0;
}

Refusal too_often(const serving::ClientGate::Refusal& refusal) {
  const auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(refusal.retry_after).count());
  return {429, refusal.error, {{"Retry-After", std::to_string(seconds)}}};
}

}  // namespace

std::optional<Refusal> Api::over_limit(const std::string& client, std::uint64_t requests, std::uint64_t bytes) const {
  if (!served_.clients->counts_requests()) return std::nullopt;
  const auto refusal = served_.clients->ask(client, requests, bytes);
  if (!refusal) return std::nullopt;
  served_.metrics->client_refused("http", serving::name_of(refusal->limit));
  return too_often(*refusal);
}

tl::expected<serving::ClientGate::Stream, Refusal> Api::open_stream(const std::string& client) const {
  auto opened = served_.clients->open(client);
  if (!opened.refusal) return std::move(opened.stream);
  served_.metrics->client_refused("http", serving::name_of(opened.refusal->limit));
  return tl::unexpected(too_often(*opened.refusal));
}

tl::expected<Asked, Refusal> Api::admit(const Request& head, std::string_view address) const {
  const auto access = served_.access();
  const auto token_less = [&](const Error& error) { return tl::unexpected(Refusal{status_of(error.code), error, {}}); };
  auto target = read_target(head.target);
  if (!target) return token_less(target.error());
  auto routed = route_of(head.method, target->segments);
  if (!routed) return tl::unexpected(std::move(routed).error());
  auto caller = http::admit(head, *routed->route, around_, *access);
  if (!caller) return tl::unexpected(std::move(caller).error());
  if (stopping_ && routed->route->id != RouteId::health)
    return token_less({ErrorCode::unavailable, "the server is stopping"});
  auto client = serving::client_name(*caller, address);
  // Whether the server is well can always be asked.
  if (routed->route->id != RouteId::health) {
    if (auto over = over_limit(client, 1, length_of_body(head))) return tl::unexpected(*std::move(over));
  }
  return Asked{
      {}, *std::move(target), routed->route, std::move(routed->argument), *std::move(caller), std::move(client)};
}

Response Api::options_of(const Request& request) const {
  const auto target = read_target(request.target);
  if (request.target != "*" && !target) return refused(target.error());
  const auto methods = request.target == "*" ? "GET, HEAD, POST, DELETE, OPTIONS" : allowed(target->segments);
  if (methods.empty()) return refused(Error(ErrorCode::not_found, "there is no such path"));
  Response response;
  response.status = 204;
  response.content_type.clear();
  response.headers = {{"Allow", methods}};
  return response;
}

Api::Handler Api::handler_of(RouteId id) {
  switch (id) {
    case RouteId::metrics:
      return &Api::metrics_text;
    case RouteId::open_session:
      return &Api::open_session;
    case RouteId::info:
      return &Api::info;
    case RouteId::stats:
      return &Api::stats;
    case RouteId::head:
      return &Api::head;
    case RouteId::event:
      return &Api::event;
    case RouteId::condition:
      return &Api::condition;
    case RouteId::aggregates:
      return &Api::aggregates;
    case RouteId::aggregate:
      return &Api::aggregate;
    case RouteId::aggregate_events:
      return &Api::aggregate_events;
    case RouteId::aggregate_state:
      return &Api::aggregate_state;
    case RouteId::aggregate_snapshots:
      return &Api::aggregate_snapshots;
    case RouteId::groups:
      return &Api::groups;
    case RouteId::group:
      return &Api::group;
    case RouteId::group_parked:
      return &Api::group_parked;
    case RouteId::projections:
      return &Api::projections;
    case RouteId::projection:
      return &Api::projection;
    case RouteId::tables:
      return &Api::tables;
    case RouteId::table:
      return &Api::table;
    case RouteId::table_parked:
      return &Api::table_parked;
    case RouteId::documents:
      return &Api::documents;
    case RouteId::retention_policies:
      return &Api::retention_policies;
    case RouteId::retention_log:
      return &Api::retention_log;
    case RouteId::settings:
      return &Api::settings;
    case RouteId::cluster:
      return &Api::cluster;
    case RouteId::flush:
      return &Api::flush;
    default:
      return nullptr;
  }
}

void Api::answer(Asked asked, std::shared_ptr<Interest> interest, Answered answered) {
  // Not appends: their answers are small, and made where the next are committed.
  if (asked.route->id != RouteId::append && lists(asked.request.field("accept-encoding"), "gzip")) {
    answered = [to = std::move(answered)](Answer answer) {
      if (auto* response = std::get_if<Response>(&answer)) compress(*response);
      to(std::move(answer));
    };
  }
  switch (asked.route->id) {
    case RouteId::health:
      return answered(health());
    case RouteId::session:
      return answered(session(asked.request));
    case RouteId::close_session:
      return answered(close_session());
    case RouteId::page:
      return answered(asset(asked.request, "/index.html"));
    case RouteId::asset:
      return answered(asset(asked.request, "/assets/" + asked.argument));
    case RouteId::live_stats: {
      if (auto known = asked.target.parameters.only({}); !known) return answered(refused(known.error()));
      return answered(std::make_shared<StatsStream>(live_stats_));
    }
    default:
      break;
  }
  run_for(interest, [this, asked = std::move(asked), interest, answered = std::move(answered)] {
    if (interest->gone()) return answered(refused(Error(ErrorCode::cancelled, "the client went away")));
    switch (asked.route->id) {
      case RouteId::events:
      case RouteId::query:
      case RouteId::query_get:
        return read_events(asked, interest, answered);
      case RouteId::append:
        return append(asked, interest, answered);
      case RouteId::verify:
      case RouteId::vacuum:
        return maintain(asked, interest, answered);
      case RouteId::live_events:
        return live_events(asked, answered);
      case RouteId::index:
        return begin_rows(asked, interest, answered, &Api::index);
      case RouteId::values:
      case RouteId::table_rows: {
        const Rows read = asked.route->id == RouteId::values ? &Api::values : &Api::table_rows;
        return begin_rows_by_body(asked, interest, answered, read);
      }
      case RouteId::document:
        return begin_rows(asked, interest, answered, &Api::document);
      default:
        break;
    }
    const auto handler = handler_of(asked.route->id);
    if (handler == nullptr) return answered(refused(Error(ErrorCode::not_found, "this server does not offer it")));
    auto response = (this->*handler)(asked);
    answered(response ? *std::move(response) : refused(response.error()));
  });
}

void Api::run_for(const Interested& interest, std::function<void()> work) {
  const auto reading = served_.long_reads->begin();
  interest->when_gone([of = std::weak_ptr(reading)] {
    if (const auto read = of.lock()) read->cancel();
  });
  served_.pool.run([reading, work = std::move(work)] {
    const storage::ReadWork::Scope at_work(*reading);
    work();
  });
}

void Api::read_events(const Asked& asked, const Interested& interest, const Answered& answered) {
  auto read = read_asked_of(asked);
  if (!read) return answered(refused(read.error()));
  const auto give = [this, read = *read, answered] {
    const auto types = types_.lease();
    if (!types) return answered(refused(types.error()));
    auto given = give_events(served_.store, read, **types, options_.limits.response_bytes);
    if (!given) return answered(refused(given.error()));
    served_.metrics->events_read("http", given->events);
    answered(json_response(std::move(given->json)));
  };
  if (!read->at_least) return give();
  const auto deadline = serving::HeadWatch::Clock::now() + options_.limits.at_least_time;
  const auto ticket = served_.watch.when_reached(
      *read->at_least, deadline, [this, interest, answered, give](const Result<GlobalPosition>& reached) {
        if (!reached) return answered(refused(reached.error()));
        run_for(interest, give);
      });
  interest->when_gone([this, ticket] { served_.watch.cancel(ticket); });
}

void Api::append(const Asked& asked, const Interested& interest, const Answered& answered) {
  const auto began = std::chrono::steady_clock::now();
  if (auto known = asked.target.parameters.only({}); !known) return answered(refused(known.error()));
  auto line = read_append(asked.request.body, LineRules::append);
  if (!line) return answered(refused(line.error()));
  const auto events = line->append.events.size();
  served_.store.append_async(std::move(line->append),
                             [metrics = served_.metrics, interest, answered, began, events](Result<Appended> appended) {
                               if (!appended) return answered(refused(appended.error()));
                               if (!appended->duplicate)
                                 metrics->appended("http", std::chrono::steady_clock::now() - began, events);
                               JsonText json;
                               write_appended(json, *appended);
                               answered(json_response(json.take()));
                             });
}

void Api::live_events(const Asked& asked, const Answered& answered) {
  auto follow = follow_asked_of(asked);
  if (!follow) return answered(refused(follow.error()));
  if (!follow->after) {
    auto head = served_.store.head();
    if (!head) return answered(refused(head.error()));
    follow->after = *head;
  }
  answered(std::make_shared<EventTail>(served_, types_, std::move(follow->query), *follow->after,
                                       options_.limits.heartbeat));
}

Result<StatsSample> Api::sample() const {
  auto stats = served_.administration.stats();
  if (!stats) return refuse(std::move(stats).error());
  return StatsSample{Timestamp::now(), *std::move(stats), served_.metrics->figures()};
}

}  // namespace evershard::http
