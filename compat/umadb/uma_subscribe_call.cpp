#include "evershard/compat/umadb/uma_subscribe_call.hpp"

#include <algorithm>
#include <limits>

#include "evershard/compat/umadb/uma_read_call.hpp"
#include "evershard/compat/umadb/words/uma_query.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard::umadb {

Result<bool> UmaSubscribeCall::begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) {
  EVERSHARD_TRY(here_.admit_stream(*context, serving::Scope::read, in.Length()));
  ::umadb::v1::SubscribeRequest request;
  EVERSHARD_TRY(door::parse(calls_, in, request));
  if (request.after() == std::numeric_limits<std::uint64_t>::max()) return false;
  const auto query = request.has_query() ? query_of(request.query()) : Query::all();
  never_ = !query;
  query_ = query.value_or(Query::all());
  EVERSHARD_TRY(query_.check());
  at_ = GlobalPosition(request.after());
  EVERSHARD_TRY(check_after(at_, false));
  heartbeat_ = without_heartbeat;
  answers_at_once_ = true;
  FollowOptions options;
  options.after = at_;
  options.page_events_max = std::clamp(request.has_batch_size() ? request.batch_size() : batch_default, 1u, batch_max);
  feed_.emplace(calls_.served.store.follow(query_, options));
  return true;
}

std::optional<grpc::ByteBuffer> UmaSubscribeCall::message_of(const FeedItem& item, GlobalPosition /*at*/) {
  if (item.events.empty()) return std::nullopt;
  for (const auto& event : item.events) {
    show(event, view_);
    response_.add(view_);
  }
  const auto slice = door::slice_of(response_.take());
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace evershard::umadb
