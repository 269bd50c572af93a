#include "evershard/compat/umadb/uma_append_call.hpp"

#include <string>
#include <utility>

#include "evershard/compat/umadb/uma_tracking.hpp"
#include "evershard/compat/umadb/words/uma_append.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard::umadb {
namespace {

namespace pb = ::umadb::v1;

constexpr int tracking_tries_max = 100;
constexpr auto shown_within = std::chrono::seconds(5);

/// From its request to its answer: read for, where it tracks a source; appended; looked at again, where it was refused.
class AppendCall final : public std::enable_shared_from_this<AppendCall> {
 public:
  AppendCall(door::Calls& calls, serving::MethodMetrics& counted, grpc::ServerUnaryReactor& reactor,
             const grpc::ByteBuffer& in, grpc::ByteBuffer& out)
      : here_(calls, counted), calls_(calls), reactor_(reactor), in_(in), out_(out) {}

  void begin(grpc::CallbackServerContext& context) {
    if (auto admitted = here_.admit(context, serving::Scope::append, in_.Length()); !admitted)
      return refused(admitted.error());
    if (auto read = take_request(); !read) return refused(read.error());
    if (const auto head = calls_.served.store.head()) head_ = *head;
    events_ = asked_.append.events.size();
    if (events_ == 0) return in_pool([](AppendCall& self) { self.answer_empty(); });
    append();
  }

 private:
  Result<void> take_request() {
    pb::AppendRequest request;
    EVERSHARD_TRY(door::parse(calls_, in_, request));
    auto read = UmaAppend::of(request);
    if (!read) return refuse(std::move(read).error());
    asked_ = *std::move(read);
    return {};
  }
  template <class Work>
  void in_pool(Work work) {
    calls_.served.pool.run([self = shared_from_this(), work] { work(*self); });
  }

  void append() {
    if (asked_.tracking) return in_pool([](AppendCall& self) { self.append_tracked(); });
    send(std::move(asked_.append));
  }
  void send(Append append) {
    calls_.append(std::move(append),
                  [self = shared_from_this()](const Result<Appended>& result) { self->appended(result); });
  }
  void append_tracked() {
    const auto newest = newest_tracked(calls_.served.store, asked_.tracking->source);
    if (!newest) return refused(newest.error());
    auto append = asked_.tracked_after(*newest);
    if (!append) return answer_repeated(append.error());
    send(*std::move(append));
  }

  void appended(const Result<Appended>& result) {
    if (result && !(result->duplicate && was_there_before(result->last_position))) {
      if (!result->duplicate)
        calls_.served.metrics->appended(calls_.speaks, std::chrono::steady_clock::now() - here_.began, events_);
      return answer_when_shown(result->last_position);
    }
    if (result || result.error().code == ErrorCode::duplicate_event)
      return in_pool([](AppendCall& self) { self.append_with_other_ids(); });
    if (asked_.tracked_meanwhile(result.error()) && ++tries_ < tracking_tries_max)
      return in_pool([](AppendCall& self) { self.append_tracked(); });
    if (result.error().code != ErrorCode::condition_failed) return refused(result.error());
    calls_.served.pool.run([self = shared_from_this(), error = result.error()] { self->answer_repeated(error); });
  }

  /// A store that tries again by itself may find what it has just stored, on this call's behalf.
  [[nodiscard]] bool was_there_before(GlobalPosition position) const { return position <= head_; }

  /// UmaDB does not know events again by their ids, only appends whose condition fails.
  void append_with_other_ids() {
    if (std::exchange(other_ids_, true))
      return refused({ErrorCode::duplicate_event, "new ids of events are there already: this cannot be"});
    if (auto read = take_request(); !read) return refused(read.error());
    asked_.give_other_ids();
    append();
  }

  /// A client that reads next is to see what it has written. In one process it does.
  void answer_when_shown(GlobalPosition position) {
    const auto head = calls_.served.store.head();
    if (!head || *head >= position) return answer(position);  // it is stored, whatever keeps the head from being told
    calls_.served.watch.when_reached(
        position, serving::HeadWatch::Clock::now() + shown_within,
        [self = shared_from_this(), position](const Result<GlobalPosition>&) { self->answer(position); });
  }

  /// In the pool. What forbids an append may be this append itself, sent before.
  void answer_repeated(const Error& refusal) {
    pb::AppendRequest request;
    if (!asked_.condition || !door::parse(calls_, in_, request)) return refused(refusal);
    UmaAppend::Repetition repetition(request);
    RecordedView viewed;
    UmaEvent shown;
    auto stream = calls_.served.store.read(*asked_.condition, ReadOptions{.after = asked_.after, .limit = events_});
    for (const auto& event : stream) {
      show(event, viewed);
      shown.show(viewed);
      repetition.found(shown);
    }
    if (stream.error()) return refused(refusal);
    const auto position = repetition.position();
    position ? answer(*position) : refused(refusal);
  }

  /// In the pool: nothing is written, but a condition may have failed.
  void answer_empty() {
    if (asked_.condition) {
      auto found = calls_.served.store.read(*asked_.condition, ReadOptions{.after = asked_.after, .limit = 1});
      const auto event = found.next();
      if (!event) return refused(event.error());
      if (*event) {
        return refused({ErrorCode::condition_failed,
                        "the event at position " + std::to_string((*event)->position.value) + " matches"});
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

  door::UnderWay here_;  // destroyed last: after that the door may be gone
  door::Calls& calls_;
  grpc::ServerUnaryReactor& reactor_;
  const grpc::ByteBuffer& in_;  ///< read again where it is sent again
  grpc::ByteBuffer& out_;
  UmaAppend asked_;  ///< its append only until that is sent
  std::size_t events_ = 0;
  GlobalPosition head_;  ///< when the call came
  bool other_ids_ = false;
  int tries_ = 0;
};

}  // namespace

grpc::ServerUnaryReactor* answer_append(door::Calls& calls, serving::MethodMetrics& counted,
                                        grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                        grpc::ByteBuffer* out) {
  auto* reactor = context->DefaultReactor();
  std::make_shared<AppendCall>(calls, counted, *reactor, *in, *out)->begin(*context);
  return reactor;
}

}  // namespace evershard::umadb
