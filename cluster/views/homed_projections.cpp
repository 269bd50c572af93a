#include "evershard/cluster/views/homed_projections.hpp"

#include <map>
#include <utility>

#include "evershard/api/messages/projection_messages.hpp"
#include "evershard/cluster/homes/home_asker.hpp"
#include "evershard/services/indexes/query_spec.hpp"

namespace evershard::cluster {
namespace {

using Again = HomeCalls::Again;

constexpr auto home_list_time = std::chrono::seconds(3);

ProjectionInfo not_answered(const actors::Definition& definition, GlobalPosition watermark, const Error& why) {
  ProjectionInfo info{
      definition.name, definition.kind, definition.newest().spec, definition.last, definition.paused, watermark, {}};
  ProjectionVersion version;
  version.version = definition.newest().version;
  version.rows = definition.newest().rows;
  version.state = "waiting";
  version.lag = watermark.value;
  version.error = Error(ErrorCode::unavailable, "its home does not answer: " + why.what);
  info.versions.push_back(std::move(version));
  return info;
}

}  // namespace

HomedProjections::HomedProjections(EventStore& events, HomeCalls& homes, ProjectionHost& host)
    : AskedProjections(std::make_shared<HomeAsker>(homes, "projection")),
      events_(events),
      homes_(homes),
      host_(host),
      catalogue_(events, "projection") {}

void HomedProjections::serve() {
  serve_calls<Projections>(homes_, calls::projections_calls(), host_);
  homes_.serve("projections.hosted", [this](const HomeCall&) -> Result<std::string> {
    v1::ListProjectionsResponse response;
    for (const auto& info : host_.hosted()) messages::put(info, *response.add_projections());
    return response.SerializeAsString();
  });
}

bool HomedProjections::is_here(const std::string& name) const {
  return actors::check_definition_name(catalogue_.names().category(), name) && homes_.is_home(of(name));
}

Result<ProjectionInfo> HomedProjections::create_index(const Query& query) {
  EVERSHARD_TRY(query.check());
  v1::CreateIndexRequest request;
  messages::put(query, *request.mutable_query());
  v1::ProjectionInfo response;
  EVERSHARD_TRY(ask_home(homes_, "projections.create_index", of(actors::index_name(query)), request, response,
                         HomeTimes().change, Again::always));
  ProjectionInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

Result<std::vector<ProjectionInfo>> HomedProjections::list() {
  const auto definitions = catalogue_.list();
  if (!definitions) return refuse(definitions.error());
  const auto watermark = events_.head();
  if (!watermark) return refuse(watermark.error());
  struct Answered {
    std::map<std::string, ProjectionInfo> infos{};
    Error why{ErrorCode::unavailable, "it has just moved"};
  };
  std::map<std::uint32_t, Answered> by_home;
  std::vector<ProjectionInfo> all;
  for (const auto& definition : *definitions) {
    const auto [home, first] = by_home.try_emplace(homes_.owner(of(definition.name)));
    auto& answered = home->second;
    if (first) {
      v1::ListProjectionsResponse response;
      auto asked = ask_home(homes_, "projections.hosted", of(definition.name), v1::ListProjectionsRequest(), response,
                            home_list_time, Again::read);
      if (!asked) answered.why = std::move(asked).error();
      for (auto& one : *response.mutable_projections()) {
        ProjectionInfo info;
        EVERSHARD_TRY(messages::get(one, info));
        auto name = info.name;
        answered.infos.insert_or_assign(std::move(name), std::move(info));
      }
    }
    const auto found = answered.infos.find(definition.name);
    all.push_back(found != answered.infos.end() ? std::move(found->second)
                                                : not_answered(definition, *watermark, answered.why));
  }
  return all;
}

Result<IndexPage> HomedProjections::read_index(const std::string& name, const IndexRead& read) {
  if (is_here(name)) {
    if (auto page = host_.read_index(name, read); page || !has_just_gone(page.error())) return page;
  }
  return AskedProjections::read_index(name, read);
}

Result<ValuePage> HomedProjections::read_values(const std::string& name, const ValueRead& read) {
  if (is_here(name)) {
    if (auto page = host_.read_values(name, read); page || !has_just_gone(page.error())) return page;
  }
  auto shown = read;
  if (!shown.rows.at_least) {
    const auto watermark = events_.head();
    if (!watermark) return refuse(watermark.error());
    shown.rows.at_least = *watermark;
  }
  return AskedProjections::read_values(name, shown);
}

Result<GlobalPosition> HomedProjections::wait_until(const std::string& name, GlobalPosition position,
                                                    std::chrono::milliseconds timeout) {
  if (is_here(name)) {
    if (auto reached = host_.wait_until(name, position, timeout); reached || !has_just_gone(reached.error()))
      return reached;
  }
  return AskedProjections::wait_until(name, position, timeout);
}

}  // namespace evershard::cluster
