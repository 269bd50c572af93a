// The server itself: health, who is asking, figures, settings, maintenance, the page.

#include <utility>

#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/assets.hpp"
#include "evershard/doors/http/maintenance_run.hpp"
#include "evershard/store/json/administration_json.hpp"
#include "evershard/store/json/cluster_json.hpp"
#include "evershard/store/json/json_value.hpp"

namespace evershard::http {
namespace {

constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src "
    "'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types "
    "'none'";

/// Maintenance takes no options.
Result<void> check_empty(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (asked.request.body.empty()) return {};
  auto root = JsonValue::parse(asked.request.body);
  if (!root) return refuse(std::move(root).error());
  return root->for_each_member(
      [&](std::string_view key, const JsonValue&) -> Result<void> { return root->unknown_key(key, {}); });
}

}  // namespace

Response Api::health() const {
  JsonText json;
  json.begin_object()
      .key("status")
      .string(stopping_ ? "stopping" : "serving")
      .key("version")
      .string(options_.version)
      .end_object();
  auto response = json_response(json.take());
  if (stopping_) response.status = 503;
  return response;
}

std::string Api::session_json(const serving::Caller* caller) const {
  JsonText json;
  json.begin_object().key("open").boolean(served_.access()->is_open()).key("scopes").begin_array();
  for (const auto scope : {serving::Scope::read, serving::Scope::append, serving::Scope::admin}) {
    if (caller != nullptr && caller->may(scope)) json.string(serving::name_of(scope));
  }
  json.end_array().end_object();
  return json.take();
}

Response Api::session(const Request& request) const {
  const auto caller = served_.access()->identify(token_of(request).token);
  return json_response(session_json(caller ? &*caller : nullptr));
}

Result<Response> Api::open_session(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  auto root = JsonValue::parse(asked.request.body);
  if (!root) return refuse(std::move(root).error());
  std::string token;
  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key != "token") return root->unknown_key(key, {"token"});
    auto text = value.string();
    if (!text) return refuse(std::move(text).error());
    token = *std::move(text);
    return {};
  }));
  const auto access = served_.access();
  const auto caller = access->identify(token);
  if (!caller) return refuse(caller.error());
  auto response = json_response(session_json(&*caller));
  if (!access->is_open()) response.headers.emplace_back("Set-Cookie", cookie_with(token, around_.tls));
  return response;
}

Response Api::close_session() const {
  auto response = json_response(session_json(nullptr));
  response.headers.emplace_back("Set-Cookie", cookie_with({}, around_.tls));
  return response;
}

Response Api::asset(const Request& request, std::string_view path) const {
  const auto* found = find_asset(path);
  if (found == nullptr) return refused(Error(ErrorCode::not_found, "there is no such file"));
  Response response;
  response.content_type = found->content_type;
  response.headers = {{"Cache-Control", "no-cache"},
                      {"ETag", std::string(found->etag)},
                      {"Vary", "Accept-Encoding"},
                      {"Content-Security-Policy", std::string(page_policy)}};
  const auto known = request.field("if-none-match");
  if (known == "*" || lists(known, found->etag) || lists(known, "W/" + std::string(found->etag))) {
    response.status = 304;
    response.content_type.clear();
  } else if (!found->gzip_bytes.empty() && lists(request.field("accept-encoding"), "gzip")) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.embedded = found->gzip_bytes;
  } else {
    response.embedded = found->bytes;
  }
  return response;
}

Result<Response> Api::metrics_text(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  auto text = served_.metrics->text(served_.administration, *served_.long_reads);
  if (!text) return refuse(std::move(text).error());
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = *std::move(text);
  return response;
}

Result<Response> Api::info(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto stats = served_.administration.stats();
  if (!stats) return refuse(stats.error());
  JsonText json;
  json.begin_object();
  write_info_members(json, stats->info);
  json.key("version").string(options_.version).key("started_at").string(started_at_.text());
  json.key("listen").begin_object().key("http").string(address_);
  for (const auto& [name, address] : options_.other_doors) json.key(name).string(address);
  json.end_object();
  const auto& store = options_.store_limits;
  const auto& own = options_.limits;
  json.key("limits").begin_object();
  json.key("payload_bytes").number(store.payload_bytes_max).key("metadata_bytes").number(store.metadata_bytes_max);
  json.key("snapshot_bytes").number(store.snapshot_bytes_max).key("append_events").number(store.append_events_max);
  json.key("append_bytes")
      .number(store.append_bytes_max)
      .key("shard_queue_appends")
      .number(store.shard_queue_appends_max);
  json.key("shard_queue_bytes").number(store.shard_queue_bytes_max);
  json.key("http_connections")
      .number(own.connections)
      .key("http_streams")
      .number(own.streams)
      .key("http_header_bytes")
      .number(own.header_bytes);
  json.key("http_body_bytes")
      .number(own.body_bytes)
      .key("http_response_bytes")
      .number(own.response_bytes)
      .end_object()
      .end_object();
  return json_response(json.take());
}

Result<Response> Api::stats(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto stats = served_.administration.stats();
  if (!stats) return refuse(stats.error());
  JsonText json;
  write_stats(json, *stats);
  return json_response(json.take());
}

Result<Response> Api::cluster(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (served_.cluster == nullptr)
    return refuse(ErrorCode::invalid_argument, "this server's store is one process, it has no cluster");
  const auto status = served_.cluster->status();
  if (!status) return refuse(status.error());
  JsonText json;
  write_whole_cluster(json, *status);
  return json_response(json.take());
}

Result<Response> Api::settings(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (!options_.settings) return refuse(ErrorCode::not_found, "this server has no table of settings");
  return json_response(options_.settings());
}

Result<Response> Api::flush(const Asked& asked) {
  EVERSHARD_TRY(check_empty(asked));
  EVERSHARD_TRY(served_.administration.flush());
  const auto stats = served_.administration.stats();
  if (!stats) return refuse(stats.error());
  JsonText json;
  json.begin_object()
      .key("sealed")
      .number(stats->sealed.value)
      .key("tail_events")
      .number(stats->tail_events)
      .end_object();
  return json_response(json.take());
}

void Api::maintain(const Asked& asked, const Interested& interest, const Answered& answered) {
  if (auto empty = check_empty(asked); !empty) return answered(refused(empty.error()));
  if (maintaining_.exchange(true))
    return answered(refused(Error(ErrorCode::overloaded, "verify or vacuum is running already")));
  auto& administration = served_.administration;
  const auto verify = [&administration](Progress progress) -> Result<std::string> {
    auto report = administration.verify(std::move(progress));
    if (!report) return refuse(std::move(report).error());
    JsonText json;
    write_verify_report(json, *report);
    return json.take();
  };
  const auto vacuum = [&administration](Progress progress) -> Result<std::string> {
    const auto before = administration.stats();
    EVERSHARD_TRY(administration.vacuum(std::move(progress)));
    const auto now = administration.stats();
    JsonText json;
    json.begin_object()
        .key("disk_bytes_before")
        .number(before ? before->disk_bytes : 0)
        .key("disk_bytes")
        .number(now ? now->disk_bytes : 0)
        .end_object();
    return json.take();
  };
  const auto run = std::make_shared<MaintenanceRun>(asked.route->id == RouteId::verify ? MaintenanceRun::Work(verify)
                                                                                       : MaintenanceRun::Work(vacuum));
  interest->when_gone([run] { run->cancel(); });
  const bool streamed = lists(asked.request.field("accept"), "text/event-stream");
  if (streamed) answered(std::shared_ptr<Stream>(run));
  maintenance_->run([this, run, streamed, answered, interest] {
    run->run([&](const Result<std::string>& result) {
      maintaining_ = false;
      if (!streamed) answered(result ? json_response(*result) : refused(result.error()));
    });
  });
}

}  // namespace evershard::http
