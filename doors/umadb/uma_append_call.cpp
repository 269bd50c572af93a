#include "evershard/doors/umadb/uma_append_call.hpp"

#include <google/protobuf/arena.h>

#include <utility>

#include "evershard/doors/umadb/uma_tracking.hpp"
#include "evershard/doors/umadb/words/uma_append.hpp"

namespace evershard::umadb {
namespace {

namespace pb = ::umadb::v1;

constexpr int tracking_tries_max = 100;
constexpr auto shown_within = std::chrono::seconds(5);

/// From its request to its answer: read for, where it tracks a source; appended; looked at again, where it was refused.
class AppendCall final : public std::enable_shared_from_this<AppendCall> {
 public:
  AppendCall(door::Calls& calls, serving::MethodMetrics& counted, grpc::ServerUnaryReactor& reactor,
             grpc::ByteBuffer& out)
      : here_(calls, counted), calls_(calls), reactor_(reactor), out_(out) {}

  void begin(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& in) {
    if (auto admitted = here_.admit(context, serving::Scope::append, in.Length()); !admitted)
      return refused(admitted.error());
    pb::AppendRequest request;
    if (auto parsed = door::parse(calls_, in, request); !parsed) return refused(parsed.error());
    auto read = UmaAppend::of(request);
    if (!read) return refused(read.error());
    asked_ = *std::move(read);
    events_ = asked_.append.events.size();
    if (events_ == 0) return in_pool([](AppendCall& self) { self.answer_empty(); });
    if (asked_.tracking) return in_pool([](AppendCall& self) { self.append_tracked(); });
    send(may_be_repeated() ? asked_.append : std::move(asked_.append));
  }

 private:
  /// The store has said no, or may: then it is asked whether it has the events already.
  [[nodiscard]] bool may_be_repeated() const { return asked_.condition && !asked_.given_ids.empty(); }

  template <class Work>
  void in_pool(Work work) {
    calls_.served.pool.run([self = shared_from_this(), work] { work(*self); });
  }

  void send(Append append) {
    calls_.append(std::move(append),
                  [self = shared_from_this()](const Result<Appended>& result) { self->appended(result); });
  }
  void append_tracked() {
    const auto newest = newest_tracked(calls_.served.store, asked_.tracking->source);
    if (!newest) return refused(newest.error());
    auto append = asked_.tracked_after(*newest);
    if (!append) return may_be_repeated() ? answer_repeated(append.error()) : refused(append.error());
    send(*std::move(append));
  }

  void appended(const Result<Appended>& result) {
    if (result) {
      if (!result->duplicate)
        calls_.served.metrics->appended(calls_.speaks, std::chrono::steady_clock::now() - here_.began, events_);
      return answer_when_shown(result->last_position);
    }
    if (asked_.tracked_meanwhile(result.error()) && ++tries_ < tracking_tries_max)
      return in_pool([](AppendCall& self) { self.append_tracked(); });
    const auto code = result.error().code;
    if (may_be_repeated() && (code == ErrorCode::condition_failed || code == ErrorCode::duplicate_event)) {
      calls_.served.pool.run([self = shared_from_this(), error = result.error()] { self->answer_repeated(error); });
      return;
    }
    refused(result.error());
  }

  /// A client that reads next is to see what it has written. In one process it does.
  void answer_when_shown(GlobalPosition position) {
    const auto head = calls_.served.store.head();
    if (!head || *head >= position) return answer(position);
    calls_.served.watch.when_reached(
        position, serving::HeadWatch::Clock::now() + shown_within,
        [self = shared_from_this(), position](const Result<GlobalPosition>&) { self->answer(position); });
  }

  /// In the pool. What forbids an append may be this append itself, sent before.
  void answer_repeated(const Error& refusal) {
    const auto query = asked_.condition->one();
    if (!query || asked_.condition->is_nothing()) return refused(refusal);
    auto found = calls_.served.store.read(*query, ReadOptions{.after = asked_.after, .limit = events_});
    std::size_t same = 0;
    GlobalPosition last;
    for (const auto& event : found) {
      if (same == asked_.given_ids.size() || event.id != asked_.given_ids[same]) return refused(refusal);
      ++same;
      last = event.position;
    }
    if (found.error() || same != asked_.given_ids.size()) return refused(refusal);
    answer(last);
  }

  /// In the pool: nothing is written, but a condition may have failed.
  void answer_empty() {
    if (asked_.condition && !asked_.condition->is_nothing()) {
      for (const auto& part : asked_.condition->parts()) {
        auto found = calls_.served.store.read(part, ReadOptions{.after = asked_.after, .limit = 1});
        const auto event = found.next();
        if (!event) return refused(event.error());
        if (*event) {
          return refused({ErrorCode::condition_failed,
                          "the event at position " + std::to_string((*event)->position.value) + " matches"});
        }
      }
    }
    answer(GlobalPosition(0));
  }

  void answer(GlobalPosition position) {
    pb::AppendResponse response;
    response.set_position(position.value);
    out_ = door::bytes_of(response);
    reactor_.Finish(grpc::Status::OK);
  }
  void refused(const Error& error) { reactor_.Finish(here_.refused(error)); }

  door::UnderWay here_;  // the last that goes: then the door may be gone
  door::Calls& calls_;
  grpc::ServerUnaryReactor& reactor_;
  grpc::ByteBuffer& out_;
  UmaAppend asked_;
  std::size_t events_ = 0;
  int tries_ = 0;
};

}  // namespace

grpc::ServerUnaryReactor* answer_append(door::Calls& calls, serving::MethodMetrics& counted,
                                        grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                        grpc::ByteBuffer* out) {
  auto* reactor = context->DefaultReactor();
  std::make_shared<AppendCall>(calls, counted, *reactor, *out)->begin(*context, *in);
  return reactor;
}

}  // namespace evershard::umadb
