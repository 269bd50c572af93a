#include "evershard/api/calls/projections_calls.hpp"

#include <iterator>

#include "evershard/api/messages/projection_messages.hpp"

namespace evershard::calls {
namespace {

using messages::get, messages::put;

constexpr std::size_t gathered_bytes_max = 8u << 20;  ///< of events: a page ends behind the part that goes beyond

template <class Entry>
std::size_t bytes_of_events(const std::vector<Entry>& entries) {
  std::size_t bytes = 0;
  for (const auto& entry : entries)
    bytes += entry.event ? entry.event->payload.size() + entry.event->metadata_bytes().size() : 0;
  return bytes;
}

Result<void> told_projection(const Result<ProjectionInfo>& found, pb::ProjectionInfo& out) {
  return told(found, [&](const ProjectionInfo& info) { put(info, out); });
}

template <class Request>
IfThere if_there(const Request& request) {
  return request.if_absent() ? IfThere::give : IfThere::refuse;
}

const Row<Projections, pb::CreateIndexRequest, pb::ProjectionInfo> create_index_call(
    "/evershard.v1.Projections/CreateIndex", Scope::admin, Again::always, {"projections.create_index"},
    [](Projections& projections, auto& in, auto& out) -> Result<void> {
      Query query;
      EVERSHARD_TRY(get(*in.mutable_query(), query));
      return told_projection(projections.create_index(query), out);
    });
const Row<Projections, pb::CreateValueIndexRequest, pb::ProjectionInfo> create_value_index_call(
    "/evershard.v1.Projections/CreateValueIndex", Scope::admin, Again::not_done,
    {"projections.create_value_index", &pb::CreateValueIndexRequest::name},
    [](Projections& projections, auto& in, auto& out) {
      ValueIndex index{{in.types().begin(), in.types().end()}, "payload", in.path(), "text"};
      if (!in.source().empty()) index.source = in.source();
      if (!in.value().empty()) index.value = in.value();
      return told_projection(projections.create_value_index(in.name(), index, if_there(in)), out);
    });
const Row<Projections, pb::CreateProjectionRequest, pb::ProjectionInfo> create_projection_call(
    "/evershard.v1.Projections/CreateProjection", Scope::admin, Again::not_done,
    {"projections.create", &pb::CreateProjectionRequest::name}, [](Projections& projections, auto& in, auto& out) {
      return told_projection(projections.create(in.name(), in.kind(), in.spec(), if_there(in)), out);
    });
const Row<Projections, pb::ChangeProjectionRequest, pb::ProjectionInfo> change_projection_call(
    "/evershard.v1.Projections/ChangeProjection", Scope::admin, Again::not_done,
    {"projections.change", &pb::ChangeProjectionRequest::name}, [](Projections& projections, auto& in, auto& out) {
      const auto expected = in.has_expected() ? std::optional(SeqNr{in.expected()}) : std::nullopt;
      return told_projection(projections.change(in.name(), in.spec(), expected), out);
    });
const Row<Projections, pb::AskProjectionRequest, pb::AskProjectionResponse> ask_projection_call(
    "/evershard.v1.Projections/AskProjection", Scope::admin, Again::not_done,
    {"projections.ask", &pb::AskProjectionRequest::name},
    [](Projections& projections, auto& in, auto&) -> Result<void> {
      Projections::Ask what{};
      EVERSHARD_TRY(get(in, what));
      return projections.ask(in.name(), what);
    });
const Row<Projections, pb::ListProjectionsRequest, pb::ListProjectionsResponse> list_projections_call(
    "/evershard.v1.Projections/ListProjections", Scope::read, Again::read, {},
    [](Projections& projections, auto&, auto& out) {
      return told(projections.list(), [&](const auto& all) {
        for (const auto& info : all) put(info, *out.add_projections());
      });
    });
const Row<Projections, pb::DescribeProjectionRequest, pb::ProjectionInfo> describe_projection_call(
    "/evershard.v1.Projections/DescribeProjection", Scope::read, Again::read,
    {"projections.describe", &pb::DescribeProjectionRequest::name}, [](Projections& projections, auto& in, auto& out) {
      return told_projection(projections.describe(in.name()), out);
    });
const Row<Projections, pb::ReadIndexRequest, pb::IndexPage> read_index_call(
    "/evershard.v1.Projections/ReadIndex", Scope::read, Again::read,
    {.name = "projections.read_index", .definition = &pb::ReadIndexRequest::name, .in_parts = true},
    [](Projections& projections, auto& in, auto& out, milliseconds wait) -> Result<void> {
      IndexRead read;
      EVERSHARD_TRY(get(in, read));
      read.rows.timeout = wait;
      return told(projections.read_index(in.name(), read), [&](const IndexPage& page) { put(page, out); });
    });
const Row<Projections, pb::ReadValuesRequest, pb::ValuePage> read_values_call(
    "/evershard.v1.Projections/ReadValues", Scope::read, Again::read,
    {.name = "projections.read_values",
     .definition = &pb::ReadValuesRequest::name,
     .in_parts = true,
     .shows_head = true},
    [](Projections& projections, auto& in, auto& out, milliseconds wait) -> Result<void> {
      ValueRead read;
      EVERSHARD_TRY(get(in, read));
      read.rows.timeout = wait;
      return told(projections.read_values(in.name(), read), [&](const ValuePage& page) { put(page, out); });
    });
const Row<Projections, pb::WaitForProjectionRequest, pb::WaitForProjectionResponse> wait_for_projection_call(
    "/evershard.v1.Projections/WaitForProjection", Scope::read, Again::read,
    {"projections.wait", &pb::WaitForProjectionRequest::name},
    [](Projections& projections, auto& in, auto& out, milliseconds wait) -> Result<void> {
      if (!in.has_at_least()) return refuse(ErrorCode::invalid_argument, "at_least: is missing");
      return told(projections.wait_until(in.name(), GlobalPosition{in.at_least().position()}, wait),
                  [&](GlobalPosition reached) { out.set_position(reached.value); });
    });

template <class Request>
Result<ProjectionInfo> asked_for_projection(Asker& asker, const Row<Projections, Request, pb::ProjectionInfo>& row,
                                            Request& request) {
  pb::ProjectionInfo response;
  EVERSHARD_TRY(asker.ask(row, request, response));
  ProjectionInfo info;
  EVERSHARD_TRY(get(response, info));
  return info;
}

template <class Read, class Request, class Page>
Result<void> asked_for_page(Asker& asker, const Row<Projections, Request, Page>& row, const std::string& name,
                            const Read& read, auto& page) {
  Request request;
  put(read, request);
  request.set_name(name);
  Page response;
  EVERSHARD_TRY(asker.ask(row, request, response, {read.rows.at_least, read.rows.timeout}));
  return get(response, page);
}

}  // namespace

const Calls<Projections>& projections_calls() {
  static const Calls<Projections> all{&create_index_call,       &create_value_index_call,  &create_projection_call,
                                      &change_projection_call,  &ask_projection_call,      &list_projections_call,
                                      &read_index_call,         &describe_projection_call, &read_values_call,
                                      &wait_for_projection_call};
  return all;
}

Result<ProjectionInfo> AskedProjections::create_index(const Query& query) {
  EVERSHARD_TRY(query.check());
  pb::CreateIndexRequest request;
  put(query, *request.mutable_query());
  return asked_for_projection(*asker_, create_index_call, request);
}

Result<ProjectionInfo> AskedProjections::create_value_index(const std::string& name, const ValueIndex& index,
                                                            IfThere there) {
  pb::CreateValueIndexRequest request;
  request.set_name(name);
  for (const auto& type : index.types) request.add_types(type);
  request.set_source(index.source);
  request.set_path(index.path);
  request.set_value(index.value);
  request.set_if_absent(there == IfThere::give);
  return asked_for_projection(*asker_, create_value_index_call, request);
}

Result<ProjectionInfo> AskedProjections::create(const std::string& name, const std::string& kind,
                                                const std::string& spec, IfThere there) {
  pb::CreateProjectionRequest request;
  request.set_name(name);
  request.set_kind(kind);
  request.set_spec(spec);
  request.set_if_absent(there == IfThere::give);
  return asked_for_projection(*asker_, create_projection_call, request);
}

Result<ProjectionInfo> AskedProjections::change(const std::string& name, const std::string& spec,
                                                std::optional<SeqNr> expected) {
  pb::ChangeProjectionRequest request;
  request.set_name(name);
  request.set_spec(spec);
  if (expected) request.set_expected(expected->value);
  return asked_for_projection(*asker_, change_projection_call, request);
}

Result<void> AskedProjections::ask(const std::string& name, Ask what) {
  pb::AskProjectionRequest request;
  request.set_name(name);
  put(what, request);
  pb::AskProjectionResponse response;
  return asker_->ask(ask_projection_call, request, response);
}

Result<std::vector<ProjectionInfo>> AskedProjections::list() {
  pb::ListProjectionsRequest request;
  pb::ListProjectionsResponse response;
  EVERSHARD_TRY(asker_->ask(list_projections_call, request, response));
  std::vector<ProjectionInfo> all;
  for (auto& info : *response.mutable_projections()) EVERSHARD_TRY(get(info, all.emplace_back()));
  return all;
}

Result<ProjectionInfo> AskedProjections::describe(const std::string& name) {
  pb::DescribeProjectionRequest request;
  request.set_name(name);
  return asked_for_projection(*asker_, describe_projection_call, request);
}

Result<IndexPage> AskedProjections::read_index(const std::string& name, const IndexRead& read) {
  IndexPage page;
  EVERSHARD_TRY(asked_for_page(*asker_, read_index_call, name, read, page));
  const bool backwards = read.direction == Direction::backwards;
  for (bool none = page.entries.empty(); asker_->gives_parts() && !none;) {
    const auto last = page.entries.back().number;
    if (page.entries.size() >= read.limit || (backwards ? last == 1 : last >= page.count) ||
        bytes_of_events(page.entries) > gathered_bytes_max)
      break;
    auto rest = read;
    rest.start = backwards ? last - 1 : last + 1;
    rest.limit = read.limit - page.entries.size();
    IndexPage part;
    EVERSHARD_TRY(asked_for_page(*asker_, read_index_call, name, rest, part));
    page.count = part.count;
    none = part.entries.empty();
    std::ranges::move(part.entries, std::back_inserter(page.entries));
  }
  return page;
}

Result<ValuePage> AskedProjections::read_values(const std::string& name, const ValueRead& read) {
  ValuePage page;
  EVERSHARD_TRY(asked_for_page(*asker_, read_values_call, name, read, page));
  for (bool none = page.entries.empty(); asker_->gives_parts() && !none && !page.next.empty();) {
    if (page.entries.size() >= read.limit || bytes_of_events(page.entries) > gathered_bytes_max) break;
    auto rest = read;
    rest.after = page.next;
    rest.limit = read.limit - page.entries.size();
    ValuePage part;
    EVERSHARD_TRY(asked_for_page(*asker_, read_values_call, name, rest, part));
    page.next = std::move(part.next);
    none = part.entries.empty();
    std::ranges::move(part.entries, std::back_inserter(page.entries));
  }
  return page;
}

Result<GlobalPosition> AskedProjections::wait_until(const std::string& name, GlobalPosition position,
                                                    milliseconds timeout) {
  pb::WaitForProjectionRequest request;
  request.set_name(name);
  pb::WaitForProjectionResponse response;
  EVERSHARD_TRY(asker_->ask(wait_for_projection_call, request, response, {position, timeout}));
  return GlobalPosition{response.position()};
}

Result<void> AskedProjections::vacuum_projections() {
  return refuse(ErrorCode::invalid_argument, "a server's projections are vacuumed with its store");
}

}  // namespace evershard::calls
