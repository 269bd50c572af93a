#include "evershard/doors/http/api.hpp"

#include <algorithm>
#include <utility>

#include "evershard/doors/serving/history_heard.hpp"

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

Api::Api(serving::Served in_service, const HttpOptions& given, Surroundings here, std::string listens_at)
    : served(std::move(in_service)),
      options(given),
      around(std::move(here)),
      address(std::move(listens_at)),
      types(served.types) {
  for (const auto& route : routes()) {
    methods_.push_back(&served.metrics->method("http", std::string(route.method) + ' ' + std::string(route.path)));
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
  if (!served.clients->counts_requests()) return std::nullopt;
  const auto refusal = served.clients->ask(client, requests, bytes);
  if (!refusal) return std::nullopt;
  served.metrics->client_refused("http", serving::name_of(refusal->limit));
  return too_often(*refusal);
}

tl::expected<serving::ClientGate::Stream, Refusal> Api::open_stream(const std::string& client) const {
  auto opened = served.clients->open(client);
  if (!opened.refusal) return std::move(opened.stream);
  served.metrics->client_refused("http", serving::name_of(opened.refusal->limit));
  return tl::unexpected(too_often(*opened.refusal));
}

tl::expected<Asked, Refusal> Api::admit(const Request& head, std::string_view client_address) const {
  const auto access = served.access();
  const auto token_less = [&](const Error& error) { return tl::unexpected(Refusal{status_of(error.code), error, {}}); };
  auto target = read_target(head.target);
  if (!target) return token_less(target.error());
  auto routed = route_of(head.method, target->segments);
  if (!routed) return tl::unexpected(std::move(routed).error());
  auto caller = http::admit(head, *routed->route, around, *access, *served.wrong_tokens, std::string(client_address));
  if (!caller) return tl::unexpected(std::move(caller).error());
  const bool always = routed->route->manner == Manner::always;
  if (stopping_ && !always) return token_less({ErrorCode::unavailable, "the server is stopping"});
  auto client = serving::client_name(*caller, client_address);
  if (routed->route->scope) {
    const auto led = served.led();
    if (auto same =
            serving::goes_on(head.field(serving::fork_name), head.field(serving::led_name), served.fork, led.get());
        !same)
      return tl::unexpected(Refusal{status_of(same.error().code), same.error(), history()});
  }
  if (!always) {
    if (auto over = over_limit(client, 1, length_of_body(head))) return tl::unexpected(*std::move(over));
  }
  return Asked{
      {}, *std::move(target), routed->route, std::move(routed->argument), *std::move(caller), std::move(client)};
}

Headers Api::history() const {
  Headers names;
  if (!served.fork.empty()) names.emplace_back("Evershard-Fork", served.fork);
  if (const auto led = served.led(); led != nullptr && !led->empty()) names.emplace_back("Evershard-Led", *led);
  return names;
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

void Api::answer(Asked asked, Interested interest, Answered answered) {
  const auto& route = *asked.route;
  if (route.scope) {
    answered = [to = std::move(answered), names = history()](Answer answer) {
      if (auto* response = std::get_if<Response>(&answer))
        response->headers.insert(response->headers.end(), names.begin(), names.end());
      to(std::move(answer));
    };
  }
  if (route.manner != Manner::uncompressed && lists(asked.request.field("accept-encoding"), "gzip")) {
    answered = [to = std::move(answered)](Answer answer) {
      if (auto* response = std::get_if<Response>(&answer)) compress(*response);
      to(std::move(answer));
    };
  }
  if (const auto* at_once = std::get_if<AtOnce>(&route.answer)) return answered((*at_once)(*this, asked));
  run_for(interest, [this, asked = std::move(asked), interest, answered = std::move(answered)] {
    if (interest->gone()) return answered(refused(Error(ErrorCode::cancelled, "the client went away")));
    if (const auto* begin = std::get_if<Begun>(&asked.route->answer)) return (*begin)(*this, asked, interest, answered);
    if (const auto* rows = std::get_if<Rows>(&asked.route->answer)) return begin_rows(asked, interest, answered, *rows);
    auto response = std::get<FromPool>(asked.route->answer)(*this, asked);
    answered(response ? *std::move(response) : refused(response.error()));
  });
}

void Api::run_for(const Interested& interest, std::function<void()> work) {
  const auto reading = served.long_reads->begin();
  interest->when_gone([of = std::weak_ptr(reading)] {
    if (const auto read = of.lock()) read->cancel();
  });
  served.pool.run([reading, work = std::move(work)] {
    const storage::ReadWork::Scope at_work(*reading);
    work();
  });
}

Result<StatsSample> Api::sample() const {
  auto stats = served.administration.stats();
  if (!stats) return refuse(std::move(stats).error());
  return StatsSample{Timestamp::now(), *std::move(stats), served.metrics->figures()};
}

}  // namespace evershard::http
