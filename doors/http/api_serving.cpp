// The server itself: health, who is asking, metrics, what it is, the page.

#include <utility>

#include "evershard/api/json/administration_json.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/assets.hpp"

namespace evershard::http {
namespace {

constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src "
    "'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types "
    "'none'";

Answer answer_health(Api& api, const Asked&) {
  const auto failed = api.served.cannot_write();
  const auto waits = failed ? std::nullopt : api.served.not_ready();
  JsonText json;
  json.begin_object()
      .key("status")
      .string(api.stopping() ? "stopping"
              : failed       ? "failed"
              : waits        ? "starting"
                             : "serving")
      .key("version")
      .string(api.options.version);
  if (failed) json.key("error").string(failed->what);
  if (waits) json.key("waits_for").string(waits->what);
  // It answers reads: whoever sends them here goes on.
  if (const auto full = failed || waits ? std::nullopt : api.served.short_of_disk())
    json.key("disk_full").boolean(true).key("error").string(full->what);
  json.end_object();
  auto response = json_response(json.take());
  if (api.stopping() || failed || waits) response.status = 503;
  return response;
}

std::string session_json(Api& api, const serving::Caller* caller) {
  JsonText json;
  json.begin_object().key("open").boolean(api.served.access()->is_open()).key("scopes").begin_array();
  for (const auto scope : {serving::Scope::read, serving::Scope::append, serving::Scope::admin}) {
    if (caller != nullptr && caller->may(scope)) json.string(serving::name_of(scope));
  }
  json.end_array().end_object();
  return json.take();
}

Answer answer_session(Api& api, const Asked& asked) {
  const auto caller =
      api.served.wrong_tokens->identify(*api.served.access(), token_of(asked.request).token, asked.client);
  return json_response(session_json(api, caller ? &*caller : nullptr));
}

Result<Response> answer_open_session(Api& api, const Asked& asked) {
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
  const auto access = api.served.access();
  const auto caller = api.served.wrong_tokens->identify(*access, token, asked.client);
  if (!caller) return refuse(caller.error());
  auto response = json_response(session_json(api, &*caller));
  if (!access->is_open()) response.headers.emplace_back("Set-Cookie", cookie_with(token, api.around.tls));
  return response;
}

Answer answer_close_session(Api& api, const Asked&) {
  auto response = json_response(session_json(api, nullptr));
  response.headers.emplace_back("Set-Cookie", cookie_with({}, api.around.tls));
  return response;
}

Response asset(const Request& request, std::string_view path) {
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

Result<Response> answer_metrics(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  auto text = api.served.metrics->text(api.served.administration, *api.served.long_reads, api.served.cluster,
                                       api.served.processes);
  if (!text) return refuse(std::move(text).error());
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = *std::move(text);
  return response;
}

Result<Response> answer_info(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto stats = api.served.administration.stats();
  if (!stats) return refuse(stats.error());
  JsonText json;
  json.begin_object();
  write_info_members(json, stats->info);
  json.key("version").string(api.options.version).key("started_at").string(api.started_at.text());
  json.key("listen").begin_object().key("http").string(api.address);
  for (const auto& [name, addresses] : api.options.other_doors) json.key(name).string(addresses);
  json.end_object();
  json.key("cluster").boolean(api.served.cluster != nullptr);
  const auto& store = api.options.store_limits;
  const auto& own = api.options.limits;
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

Answer answer_page(Api&, const Asked& asked) { return asset(asked.request, "/index.html"); }

Answer answer_asset(Api&, const Asked& asked) { return asset(asked.request, "/assets/" + asked.argument); }

Answer answer_live_stats(Api& api, const Asked& asked) {
  if (auto known = asked.target.parameters.only({}); !known) return refused(known.error());
  return std::make_shared<StatsStream>(api.live_stats());
}

}  // namespace

std::span<const Route> serving_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/health", {}, answer_health, Manner::always},
      {"GET", "/metrics", read, answer_metrics},
      {"GET", "/", {}, answer_page},
      {"GET", "/assets/{path...}", {}, answer_asset},
      {"GET", "/api/v1/session", {}, answer_session},
      {"POST", "/api/v1/session", {}, answer_open_session},
      {"DELETE", "/api/v1/session", {}, answer_close_session},
      {"GET", "/api/v1/info", read, answer_info},
      {"GET", "/api/v1/live/stats", read, answer_live_stats, Manner::stream},
  };
  return rows;
}

}  // namespace evershard::http
