// What an operator asks: figures, settings, how the cluster is, maintenance.

#include <memory>
#include <utility>

#include "evershard/api/json/administration_json.hpp"
#include "evershard/api/json/cluster_json.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/maintenance_run.hpp"

namespace evershard::http {
namespace {

/// Maintenance takes no options.
Result<void> check_empty(const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (asked.request.body.empty()) return {};
  auto root = JsonValue::parse(asked.request.body);
  if (!root) return refuse(std::move(root).error());
  return root->for_each_member(
      [&](std::string_view key, const JsonValue&) -> Result<void> { return root->unknown_key(key, {}); });
}

Result<Response> answer_stats(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto stats = api.served.administration.stats();
  if (!stats) return refuse(stats.error());
  JsonText json;
  write_stats(json, *stats);
  return json_response(json.take());
}

Result<Response> answer_cluster(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (api.served.cluster == nullptr)
    return refuse(ErrorCode::invalid_argument, "this server's store is one process, it has no cluster");
  const auto status = api.served.cluster->status();
  if (!status) return refuse(status.error());
  JsonText json;
  write_whole_cluster(json, *status);
  return json_response(json.take());
}

Result<Response> answer_settings(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (!api.options.settings) return refuse(ErrorCode::not_found, "this server has no table of settings");
  return json_response(api.options.settings());
}

Result<Response> answer_flush(Api& api, const Asked& asked) {
  EVERSHARD_TRY(check_empty(asked));
  EVERSHARD_TRY(api.served.administration.flush());
  const auto stats = api.served.administration.stats();
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

void begin_verify(Api& api, const Asked& asked, const Interested& interest, const Answered& answered) {
  api.maintain(asked, interest, answered,
               [&administration = api.served.administration](Progress progress) -> Result<std::string> {
                 auto report = administration.verify(std::move(progress));
                 if (!report) return refuse(std::move(report).error());
                 JsonText json;
                 write_verify_report(json, *report);
                 return json.take();
               });
}

void begin_vacuum(Api& api, const Asked& asked, const Interested& interest, const Answered& answered) {
  api.maintain(asked, interest, answered,
               [&administration = api.served.administration](Progress progress) -> Result<std::string> {
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
               });
}

}  // namespace

void Api::maintain(const Asked& asked, const Interested& interest, const Answered& answered,
                   std::function<Result<std::string>(Progress progress)> work) {
  if (auto empty = check_empty(asked); !empty) return answered(refused(empty.error()));
  if (maintaining_.exchange(true))
    return answered(refused(Error(ErrorCode::overloaded, "verify or vacuum is running already")));
  const auto run = std::make_shared<MaintenanceRun>(std::move(work));
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

std::span<const Route> administration_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/stats", read, answer_stats},
      {"GET", "/api/v1/settings", admin, answer_settings},
      {"GET", "/api/v1/cluster", admin, answer_cluster},
      // maintenance
      {"POST", "/api/v1/admin/flush", admin, answer_flush},
      {"POST", "/api/v1/admin/verify", admin, begin_verify},
      {"POST", "/api/v1/admin/vacuum", admin, begin_vacuum},
  };
  return rows;
}

}  // namespace evershard::http
