#include "evershard/compat/umadb/uma_read_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/compat/umadb/words/uma_query.hpp"

namespace evershard::umadb {
namespace {

namespace pb = ::umadb::v1;

/// Their start is the first event that is read, in the direction.
ReadOptions options_of(const pb::ReadRequest& request) {
  ReadOptions options;
  if (request.has_limit()) options.limit = request.limit();
  if (request.backwards()) {
    options.direction = Direction::backwards;
    if (request.has_start() && request.start() != std::numeric_limits<std::uint64_t>::max())
      options.before = GlobalPosition(request.start() + 1);
  } else if (request.start() > 0) {
    options.after = GlobalPosition(request.start() - 1);
  }
  return options;
}

}  // namespace

Result<void> UmaReadCall::begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) {
  EVERSHARD_TRY(here_.admit_stream(*context, serving::Scope::read, in.Length()));
  pb::ReadRequest request;
  EVERSHARD_TRY(door::parse(calls_, in, request));
  if (request.subscribe()) {
    return refuse(ErrorCode::invalid_argument,
                  "the argument `subscribe` of read() is deprecated: call the method subscribe() instead");
  }
  auto query = request.has_query() ? query_of(request.query()) : Query::all();
  nothing_ = !query;
  if (nothing_) query = Query::all();
  EVERSHARD_TRY(query->check());
  if (request.has_limit()) limit_ = request.limit();
  if (request.has_batch_size()) batch_ = std::clamp(request.batch_size(), 1u, batch_max);
  auto options = options_of(request);
  if (nothing_) options.limit = 0;
  small_ = options.limit && *options.limit <= at_hand_events_max;
  open_ = [&store = calls_.served.store, query = *std::move(query), options] { return store.read(query, options); };
  return {};
}

Result<door::ReadCall::Made> UmaReadCall::next(EventStream& stream) {
  for (;;) {
    if (auto made = next_made()) return *std::move(made);
    const auto page = stream.visit([this](const RecordedView& event) { take_in(event); });
    if (!page) return refuse(page.error());
    came(*page);
  }
}

std::optional<door::ReadCall::Made> UmaReadCall::at_hand(EventStream& stream) {
  const auto page =
      stream.visit([this](const RecordedView& event) { take_in(event); }, {.at_hand_max = at_hand_events_max});
  if (!page || page->says_nothing()) return std::nullopt;
  came(*page);
  auto made = next_made();
  return made ? std::move(made) : Made{};
}

bool UmaReadCall::is_full() const { return response_.events() == batch_ || response_.bytes() >= response_bytes_max; }

void UmaReadCall::take_in(const RecordedView& event) {
  const auto with_it = response_.bytes() + event.payload.size() + event.metadata_bytes().size();
  if (response_.events() != 0 && with_it > response_bytes_max) close_response();
  response_.add(event);
  if (is_full()) close_response();
}

void UmaReadCall::close_response() {
  const auto events = response_.events();
  const auto last = response_.last_position();
  full_.push_back({response_.take(), events, last});
}

void UmaReadCall::came(const VisitedPage& page) {
  head_ = page.watermark.value;
  read_all_ = page.complete;
}

std::optional<door::ReadCall::Made> UmaReadCall::next_made() {
  if (full_.empty()) {
    if (!read_all_) return std::nullopt;
    // An end without a word, where something was said.
    if (response_.events() == 0 && (gave_any_ || limit_ == 0u)) return Made{{}, 0, true};
    close_response();
  }
  auto next = std::move(full_.front());
  full_.pop_front();
  if (!limit_ && head_ != 0) put_head(head_, next.bytes);
  if (limit_ && next.events != 0) put_head(next.last_position, next.bytes);
  gave_any_ = true;
  return Made{std::move(next.bytes), next.events, read_all_ && full_.empty() && response_.events() == 0};
}

}  // namespace evershard::umadb
