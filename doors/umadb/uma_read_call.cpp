#include "evershard/doors/umadb/uma_read_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/doors/umadb/words/uma_query.hpp"

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
  const auto asked = request.has_query() ? UmaQuery::of(request.query()) : UmaQuery::all();
  auto query = asked.one();
  if (!query) return refuse(std::move(query).error());
  nothing_ = asked.is_nothing();
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
    auto made = made_of_held();
    if (!made || made->bytes || made->complete) return made;
    auto page = stream.next_encoded_page();
    if (!page) return refuse(page.error());
    hold(*std::move(page));
  }
}

std::optional<door::ReadCall::Made> UmaReadCall::at_hand(EventStream& stream) {
  auto page = stream.page_at_hand(at_hand_events_max);
  if (!page) return std::nullopt;
  hold(*std::move(page));
  auto made = made_of_held();
  if (!made) return std::nullopt;
  return *std::move(made);
}

void UmaReadCall::hold(EncodedPage page) {
  head_ = page.watermark.value;
  read_all_ = page.complete;
  held_ = EncodedEvents(std::move(page.bytes));
}

bool UmaReadCall::is_full() const { return response_.events() == batch_ || response_.bytes() >= response_bytes_max; }

/// A response where it is full, or nothing follows; without bytes: more is to be read.
Result<door::ReadCall::Made> UmaReadCall::made_of_held() {
  if (ahead_) {
    response_.add(*ahead_);
    ahead_.reset();
  }
  while (!is_full() && held_.next(view_)) {
    if (response_.events() != 0 &&
        response_.bytes() + view_.payload.size() + view_.metadata.size() > response_bytes_max) {
      ahead_ = view_;
      return made(false);
    }
    response_.add(view_);
  }
  if (held_.damaged()) return refuse(ErrorCode::corruption, "a page of events cannot be read");
  if (is_full()) return made(false);
  return read_all_ ? made(true) : Made{};
}

door::ReadCall::Made UmaReadCall::made(bool complete) {
  Made made{{}, response_.events(), complete};
  if (response_.events() == 0 && (gave_any_ || limit_ == 0u)) return made;  // an end without a word
  std::optional<std::uint64_t> head;
  if (limit_)
    head = response_.events() != 0 ? std::optional(response_.last_position()) : std::nullopt;
  else if (head_ != 0)
    head = head_;
  made.bytes = response_.take(head);
  gave_any_ = true;
  return made;
}

}  // namespace evershard::umadb
