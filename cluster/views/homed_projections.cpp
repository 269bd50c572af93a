#include "evershard/cluster/views/homed_projections.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "evershard/api/messages/projection_messages.hpp"
#include "evershard/cluster/views/homed_ask.hpp"
#include "evershard/services/indexes/query_spec.hpp"

namespace evershard::cluster {
namespace {

using std::chrono::milliseconds;
using Again = HomeCalls::Again;

constexpr milliseconds home_read_time =
    std::chrono::seconds(10);  ///< to find and ask a home; of a read that names a position what it names
constexpr milliseconds home_list_time = std::chrono::seconds(3);
constexpr std::size_t gathered_bytes_max = 8u << 20;  ///< of events: a page ends behind the part that goes beyond

template <class Entry>
std::size_t bytes_of_events(const std::vector<Entry>& entries) {
  std::size_t bytes = 0;
  for (const auto& entry : entries)
    bytes += entry.event ? entry.event->payload.size() + entry.event->metadata_bytes().size() : 0;
  return bytes;
}

Result<void> told_info(const Result<ProjectionInfo>& info, v1::ProjectionInfo& response) {
  if (!info) return refuse(info.error());
  messages::put(*info, response);
  return {};
}

/// A page of as many of the entries asked for as have room. `read(limit)` -> Result<page>
template <class Response, class Read>
Result<void> put_what_fits(std::size_t limit, Response& response, Read read) {
  for (;; limit /= 2) {
    const auto page = read(limit);
    if (!page) return refuse(page.error());
    response.Clear();
    messages::put(*page, response);
    if (limit <= 1 || response.ByteSizeLong() <= HomeCalls::answer_bytes_max) return {};
  }
}

template <class Request>
Result<ProjectionInfo> ask_for_homed(HomeCalls& homes, const char* method, AggregateId definition,
                                     const Request& request, milliseconds time, Again again) {
  v1::ProjectionInfo response;
  EVERSHARD_TRY(ask_home(homes, method, std::move(definition), request, response, time, again));
  ProjectionInfo info;
  EVERSHARD_TRY(messages::get(response, info));
  return info;
}

template <class Request>
void put_wait(std::optional<GlobalPosition> at_least, milliseconds time, Request& request) {
  if (!at_least) return;
  request.mutable_at_least()->set_position(at_least->value);
  request.mutable_at_least()->set_timeout_ms(static_cast<std::uint32_t>(time.count()));
}

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

/// A second call gives the projection that the first has made.
Again again_if(IfThere there) { return there == IfThere::give ? Again::always : Again::not_done; }

}  // namespace

void HomedProjections::serve() {
  serve_home<v1::CreateIndexRequest, v1::ProjectionInfo>(
      homes_, "projections.create_index", [this](auto& request, auto& response) -> Result<void> {
        Query query;
        EVERSHARD_TRY(messages::get(*request.mutable_query(), query));
        return told_info(host_.create_index(query), response);
      });
  serve_home<v1::CreateValueIndexRequest, v1::ProjectionInfo>(
      homes_, "projections.create_value_index", [this](auto& request, auto& response) -> Result<void> {
        return told_info(
            host_.create_value_index(
                request.name(),
                {{request.types().begin(), request.types().end()}, request.source(), request.path(), request.value()},
                request.if_absent() ? IfThere::give : IfThere::refuse),
            response);
      });
  serve_home<v1::CreateProjectionRequest, v1::ProjectionInfo>(
      homes_, "projections.create", [this](auto& request, auto& response) -> Result<void> {
        return told_info(host_.create(request.name(), request.kind(), request.spec(),
                                      request.if_absent() ? IfThere::give : IfThere::refuse),
                         response);
      });
  serve_home<v1::ChangeProjectionRequest, v1::ProjectionInfo>(
      homes_, "projections.change", [this](auto& request, auto& response) -> Result<void> {
        return told_info(host_.change(request.name(), request.spec(),
                                      request.has_expected() ? std::optional(SeqNr{request.expected()}) : std::nullopt),
                         response);
      });
  serve_home<v1::AskProjectionRequest, v1::AskProjectionResponse>(homes_, "projections.ask",
                                                                  [this](auto& request, auto&) -> Result<void> {
                                                                    Ask what{};
                                                                    EVERSHARD_TRY(messages::get(request, what));
                                                                    return host_.ask(request.name(), what);
                                                                  });
  serve_home<v1::ListProjectionsRequest, v1::ListProjectionsResponse>(
      homes_, "projections.hosted", [this](auto&, auto& response) -> Result<void> {
        for (const auto& info : host_.hosted()) messages::put(info, *response.add_projections());
        return {};
      });
  serve_home<v1::DescribeProjectionRequest, v1::ProjectionInfo>(
      homes_, "projections.describe", [this](auto& request, auto& response) -> Result<void> {
        return told_info(host_.describe(request.name()), response);
      });
  serve_home<v1::ReadIndexRequest, v1::IndexPage>(homes_, "projections.read_index",
                                                  [this](auto& request, auto& response) -> Result<void> {
                                                    IndexRead read;
                                                    EVERSHARD_TRY(messages::get(request, read));
                                                    return put_what_fits(read.limit, response, [&](std::size_t limit) {
                                                      return read.limit = limit, host_.read_index(request.name(), read);
                                                    });
                                                  });
  serve_home<v1::ReadValuesRequest, v1::ValuePage>(
      homes_, "projections.read_values", [this](auto& request, auto& response) -> Result<void> {
        ValueRead read;
        EVERSHARD_TRY(messages::get(request, read));
        return put_what_fits(read.limit, response, [&](std::size_t limit) {
          return read.limit = limit, host_.read_values(request.name(), read);
        });
      });
  serve_home<v1::WaitForProjectionRequest, v1::WaitForProjectionResponse>(
      homes_, "projections.wait", [this](auto& request, auto& response) -> Result<void> {
        const auto reached = host_.wait_until(request.name(), GlobalPosition{request.at_least().position()},
                                              milliseconds(request.at_least().timeout_ms()));
        if (!reached) return refuse(reached.error());
        response.set_position(reached->value);
        return {};
      });
}

Result<bool> HomedProjections::is_here(const std::string& name) const {
  EVERSHARD_TRY(actors::check_definition_name(catalogue_.names().category(), name));
  return homes_.is_home(of(name));
}

Result<ProjectionInfo> HomedProjections::create_index(const Query& query) {
  EVERSHARD_TRY(query.check());
  v1::CreateIndexRequest request;
  messages::put(query, *request.mutable_query());
  return ask_for_homed(homes_, "projections.create_index", of(actors::index_name(query)), request, home_change_time,
                       Again::always);
}

Result<ProjectionInfo> HomedProjections::create_value_index(const std::string& name, const ValueIndex& index,
                                                            IfThere there) {
  EVERSHARD_TRY(is_here(name));
  v1::CreateValueIndexRequest request;
  request.set_name(name);
  for (const auto& type : index.types) request.add_types(type);
  request.set_source(index.source);
  request.set_path(index.path);
  request.set_value(index.value);
  request.set_if_absent(there == IfThere::give);
  return ask_for_homed(homes_, "projections.create_value_index", of(name), request, home_change_time, again_if(there));
}

Result<ProjectionInfo> HomedProjections::create(const std::string& name, const std::string& kind,
                                                const std::string& spec, IfThere there) {
  EVERSHARD_TRY(is_here(name));
  v1::CreateProjectionRequest request;
  request.set_name(name);
  request.set_kind(kind);
  request.set_spec(spec);
  request.set_if_absent(there == IfThere::give);
  return ask_for_homed(homes_, "projections.create", of(name), request, home_change_time, again_if(there));
}

Result<ProjectionInfo> HomedProjections::change(const std::string& name, const std::string& spec,
                                                std::optional<SeqNr> expected) {
  EVERSHARD_TRY(is_here(name));
  v1::ChangeProjectionRequest request;
  request.set_name(name);
  request.set_spec(spec);
  if (expected) request.set_expected(expected->value);
  return ask_for_homed(homes_, "projections.change", of(name), request, home_change_time, Again::not_done);
}

Result<void> HomedProjections::ask(const std::string& name, Ask what) {
  EVERSHARD_TRY(is_here(name));
  v1::AskProjectionRequest request;
  request.set_name(name);
  messages::put(what, request);
  v1::AskProjectionResponse response;
  return ask_home(homes_, "projections.ask", of(name), request, response, home_change_time, Again::not_done);
}

Result<ProjectionInfo> HomedProjections::describe(const std::string& name) {
  EVERSHARD_TRY(is_here(name));
  v1::DescribeProjectionRequest request;
  request.set_name(name);
  return ask_for_homed(homes_, "projections.describe", of(name), request, home_read_time, Again::read);
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
  const auto here = is_here(name);
  if (!here) return refuse(here.error());
  if (*here) {
    if (auto page = host_.read_index(name, read); page || !has_just_gone(page.error())) return page;
  }
  IndexPage page;
  auto part = read;
  for (bool first = true;; first = false) {
    const auto got = wait_in_parts(read.rows.at_least ? read.rows.timeout : milliseconds(0),
                                   [&](milliseconds time) -> Result<IndexPage> {
                                     v1::ReadIndexRequest request;
                                     messages::put(part, request);
                                     request.set_name(name);
                                     put_wait(read.rows.at_least, time, request);
                                     v1::IndexPage response;
                                     EVERSHARD_TRY(ask_home(homes_, "projections.read_index", of(name), request,
                                                            response, std::max(time, home_read_time), Again::read));
                                     IndexPage told;
                                     EVERSHARD_TRY(messages::get(response, told));
                                     return told;
                                   });
    if (!got) return got;
    page.count = got->count;
    if (first) page.watermark = got->watermark;
    page.entries.insert(page.entries.end(), got->entries.begin(), got->entries.end());
    if (got->entries.empty() || page.entries.size() >= read.limit || bytes_of_events(page.entries) > gathered_bytes_max)
      return page;
    const auto last = page.entries.back().number;
    const bool backwards = read.direction == Direction::backwards;
    if (backwards ? last == 1 : last >= page.count) return page;
    part.start = backwards ? last - 1 : last + 1;
    part.limit = read.limit - page.entries.size();
  }
}

Result<ValuePage> HomedProjections::read_values(const std::string& name, const ValueRead& read) {
  const auto here = is_here(name);
  if (!here) return refuse(here.error());
  if (*here) {
    if (auto page = host_.read_values(name, read); page || !has_just_gone(page.error())) return page;
  }
  auto part = read;
  if (!part.rows.at_least) {
    const auto watermark = events_.head();
    if (!watermark) return refuse(watermark.error());
    part.rows.at_least = *watermark;
  }
  ValuePage page;
  for (bool first = true;; first = false) {
    auto got = wait_in_parts(read.rows.timeout, [&](milliseconds time) -> Result<ValuePage> {
      v1::ReadValuesRequest request;
      messages::put(part, request);
      request.set_name(name);
      put_wait(part.rows.at_least, time, request);
      v1::ValuePage response;
      EVERSHARD_TRY(ask_home(homes_, "projections.read_values", of(name), request, response,
                             std::max(time, home_read_time), Again::read));
      ValuePage told;
      EVERSHARD_TRY(messages::get(response, told));
      return told;
    });
    if (!got) return got;
    if (first) page.watermark = got->watermark;
    page.next = std::move(got->next);
    const bool none = got->entries.empty();
    std::move(got->entries.begin(), got->entries.end(), std::back_inserter(page.entries));
    if (none || page.next.empty() || page.entries.size() >= read.limit ||
        bytes_of_events(page.entries) > gathered_bytes_max)
      return page;
    part.after = page.next;
    part.limit = read.limit - page.entries.size();
  }
}

Result<GlobalPosition> HomedProjections::wait_until(const std::string& name, GlobalPosition position,
                                                    milliseconds timeout) {
  const auto here = is_here(name);
  if (!here) return refuse(here.error());
  if (*here) {
    if (auto reached = host_.wait_until(name, position, timeout); reached || !has_just_gone(reached.error()))
      return reached;
  }
  return wait_in_parts(timeout, [&](milliseconds time) -> Result<GlobalPosition> {
    v1::WaitForProjectionRequest request;
    request.set_name(name);
    put_wait(position, time, request);
    v1::WaitForProjectionResponse response;
    EVERSHARD_TRY(
        ask_home(homes_, "projections.wait", of(name), request, response, std::max(time, home_read_time), Again::read));
    return GlobalPosition{response.position()};
  });
}

}  // namespace evershard::cluster
