#include "evershard/compat/kurrent/persistent_read_call.hpp"

#include <algorithm>
#include <utility>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/compat/kurrent/virtual_streams.hpp"

namespace evershard::kurrent {
namespace {

constexpr int looks_again_max = 8;  ///< at an event, while things are removed all the time; then others have the thread
constexpr auto look_pause = std::chrono::milliseconds(100);
constexpr auto unread_max =
    std::chrono::seconds(5);  ///< then the consumer has to come again, and others have its events

template <class Ids>
Result<std::vector<EventId>> ids_in(const Ids& named) {
  std::vector<EventId> ids;
  for (const auto& each : named) {
    const auto id = id_of(each);
    if (!id) return refuse(id.error());
    ids.push_back(*id);
  }
  return ids;
}

void put_structured(es::UUID& id) {
  if (const auto read = id_of(id)) put_id(*read, true, id);
}

}  // namespace

PersistentReadCall::PersistentReadCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted,
                                       grpc::CallbackServerContext* context)
    : kurrent_(std::move(kurrent)), here_(kurrent_->calls, counted), context_(context) {
  kurrent_->calls.served.metrics->streams(kurrent_->calls.speaks, 1);
}

PersistentReadCall::~PersistentReadCall() { kurrent_->calls.served.metrics->streams(kurrent_->calls.speaks, -1); }

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PersistentReadCall::start(
    const std::shared_ptr<Kurrent>& kurrent, serving::MethodMetrics& counted, grpc::CallbackServerContext* context) {
  auto call = std::make_shared<PersistentReadCall>(kurrent, counted, context);
  call->self_ = call;
  auto* reactor = call.get();
  Refusal refusal;
  // What a consumer settles is a change, and what it is given are events.
  if (auto admitted = call->here_.admit_stream(*context, serving::Scope::read | serving::Scope::append, 0); !admitted)
    refusal.error = admitted.error();
  else if (!kurrent->calls.remember(call))
    refusal.error = door::calls_stopping();
  else {
    call->reading_ = true;
    call->StartRead(&call->incoming_);
    return reactor;
  }
  call->finished_ = true;
  call->Finish(status_of(call->here_, *context, refusal, 0));
  return reactor;
}

void PersistentReadCall::OnReadDone(bool ok) {
  const auto keep = shared_from_this();
  esps::ReadReq request;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !session_ && !joining_;
    if (ok && first) joining_ = true;
  }
  if (!ok) {
    end(grpc::Status::OK);
  } else if (auto over = here_.over_limit(incoming_.Length())) {
    end(here_.refused(over->error));
  } else if (auto parsed = door::parse(kurrent_->calls, incoming_, request); !parsed) {
    end(here_.refused(parsed.error()));
  } else if (request.has_options() != first) {
    end(here_.refused(
        {ErrorCode::invalid_argument, first ? "it begins with its options" : "it has its options twice"}));
  } else if (first) {
    kurrent_->calls.served.pool.run([keep, options = request.options()] { keep->join(options); });
  } else {
    heard(request);
  }
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
  }
  go_on();
}

void PersistentReadCall::join(const esps::ReadReq::Options& options) {
  const auto name = name_in(options);
  Told told;
  const auto& metadata = context_->client_metadata();
  if (const auto given = metadata.find("connection-name"); given != metadata.end())
    told.connection = std::string(given->second.data(), given->second.size());
  told.from = context_->peer();
  const auto caller = kurrent_->calls.admit(*context_, serving::Scope::read | serving::Scope::append);
  told.user = caller && caller->by_token ? caller->name : "anonymous";
  told.slots = static_cast<std::size_t>(std::clamp(options.buffer_size(), 1, 10'000));
  const auto slots = told.slots;
  auto joined = kurrent_->persistent->join(name, shared_from_this(), std::move(told));
  if (auto* refused = std::get_if<Refusal>(&joined)) return end(*refused);
  const auto session = std::get<std::shared_ptr<PersistentSession>>(joined);
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    session_ = session;
    waiting_.set_slots(slots);
    subscription_id_ = name.stream + "::" + name.group;
    structured_ids_ = options.uuid_option().content_case() == esps::ReadReq::Options::UUIDOption::kStructured;
  }
  session->start();
  go_on();
}

void PersistentReadCall::joined() {
  esps::ReadResp response;
  response.mutable_subscription_confirmation()->set_subscription_id(subscription_id_);
  {
    const std::lock_guard lock(mutex_);
    confirmation_ = door::bytes_of(response);
  }
  go_on();
}

void PersistentReadCall::heard(const esps::ReadReq& request) {
  const auto fails = [&](const Error& error) { end(here_.refused(error)); };
  if (request.has_ack()) {
    const auto ids = ids_in(request.ack().ids());
    if (!ids) return fails(ids.error());
    return session_->acknowledge(*ids);
  }
  if (!request.has_nack()) return fails({ErrorCode::invalid_argument, "neither ack nor nack"});
  const auto ids = ids_in(request.nack().ids());
  if (!ids) return fails(ids.error());
  const auto& reason = request.nack().reason();
  switch (request.nack().action()) {
    case esps::ReadReq::Nack::Park:
      return session_->refuse_events(*ids, PersistentSubscription::Nack::park, reason);
    case esps::ReadReq::Nack::Skip:
      return session_->refuse_events(*ids, PersistentSubscription::Nack::skip, reason);
    case esps::ReadReq::Nack::Stop:
      return end(grpc::Status::OK);  // others have it then
    default:
      return session_->refuse_events(*ids, PersistentSubscription::Nack::retry, reason);
  }
}

PersistentReadCall::Shown PersistentReadCall::shown_of(const esp::ReadResp::ReadEvent::RecordedEvent& event) {
  const auto& stream = event.stream_identifier().stream_name();
  Shown shown{.position = GlobalPosition(event.commit_position()),
              .id = id_of(event.id()).value_or(EventId{}),
              .has_data = !event.data().empty()};
  auto lies_in =
      stream == no_stream_name ? Result<AggregateId>(refuse(ErrorCode::not_found, "none")) : aggregate_of(stream);
  if (Derived::from(stream)) {
    shown.has_data = false;
    const auto target = target_of(event.data());
    lies_in = target ? aggregate_of(target->stream) : refuse(target.error());
  }
  if (lies_in) shown.aggregate = *std::move(lies_in);
  return shown;
}

void PersistentReadCall::give(esps::ReadResp response, std::uint64_t read_at) {
  auto& event = *response.mutable_event();
  Unsent unsent{.read_at = read_at};
  unsent.shown.push_back(shown_of(event.event()));
  if (event.has_link()) unsent.shown.push_back(shown_of(event.link()));
  const auto id = id_of((event.has_link() ? event.link() : event.event()).id());
  if (structured_ids_) {
    put_structured(*event.mutable_event()->mutable_id());
    if (event.has_link()) put_structured(*event.mutable_link()->mutable_id());
  }
  unsent.id = id.value_or(EventId{});
  unsent.bytes = door::bytes_of(response);
  {
    const std::lock_guard lock(mutex_);
    waiting_.add(id.value_or(EventId{}), std::move(unsent), event.retry_count() != 0);
  }
  go_on();
}

void PersistentReadCall::drop(const Dropped& how) { end(how.why); }

void PersistentReadCall::end(const Refusal& why) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    ending_ = status_of(here_, *context_, why, 0);
  }
  leave();
  go_on();
}

void PersistentReadCall::end(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    ending_ = status;
  }
  leave();
  go_on();
}

void PersistentReadCall::leave() {
  std::shared_ptr<PersistentSession> session;
  {
    const std::lock_guard lock(mutex_);
    session = session_;
  }
  if (session) session->leave();
}

void PersistentReadCall::go_on() {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  if (!writing_ && !broken_ && (confirmation_ || !waiting_.empty())) {
    writing_ = true;
    if (!confirmation_ && !is_as_read(waiting_.front())) {
      kurrent_->calls.served.pool.run(
          [self = shared_from_this(), unsent = waiting_.take()]() mutable { self->look_again(std::move(unsent)); });
    } else {
      outgoing_ = confirmation_ ? *std::exchange(confirmation_, std::nullopt) : waiting_.take().bytes;
      StartWrite(&outgoing_);
    }
  }
  if (ending_ && !writing_ && (broken_ || (!confirmation_ && waiting_.empty()))) {
    finished_ = true;
    const auto status = *ending_;
    lock.unlock();
    return Finish(status);
  }
  if (!ending_ && !reading_ && session_) {
    reading_ = true;
    StartRead(&incoming_);
  }
}

void PersistentReadCall::look_again(Unsent unsent) {
  bool there = true;
  for (int looks = 0; there && !is_as_read(unsent) && looks != looks_again_max; ++looks) {
    const auto looked = look(unsent);
    if (!looked) return look_later(std::move(unsent), looked.error());
    there = *looked;
  }
  const auto id = unsent.id;
  std::shared_ptr<PersistentSession> session;
  {
    const std::lock_guard lock(mutex_);
    unread_since_.reset();
    if (!there) {
      session = session_;
    } else if (!broken_ && is_as_read(unsent)) {
      // The last look: behind it nothing holds it back any more.
      outgoing_ = std::move(unsent.bytes);
      return StartWrite(&outgoing_);
    } else if (!broken_) {
      waiting_.put_back(id, std::move(unsent));
    }
  }
  if (session) session->acknowledge({id});
  next();
}

Result<bool> PersistentReadCall::look(Unsent& unsent) const {
  const auto& served = kurrent_->calls.served;
  const auto read_at = served.rewritten();
  std::vector<bool> erased;
  for (const auto& shown : unsent.shown) {
    const auto now = served.look_again(shown.position, shown.aggregate, shown.id);
    if (!now && now.error().code != ErrorCode::not_found) return refuse(now.error());
    if (!now || now->state == EventState::removed) return false;
    erased.push_back(now->state == EventState::erased && shown.has_data);
  }
  if (std::ranges::find(erased, true) != erased.end()) {
    esps::ReadResp response;
    EVERSHARD_TRY(door::parse(unsent.bytes, unsent.bytes.Length(), response, "what waits to be sent"));
    if (erased.front()) response.mutable_event()->mutable_event()->clear_data();
    if (erased.back() && response.event().has_link()) response.mutable_event()->mutable_link()->clear_data();
    unsent.bytes = door::bytes_of(response);
  }
  unsent.read_at = read_at;
  return true;
}

void PersistentReadCall::look_later(Unsent unsent, const Error& why) {
  auto& served = kurrent_->calls.served;
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    if (!unread_since_) unread_since_ = now;
    waits = !broken_ && !ending_ && now - *unread_since_ < unread_max;
    const auto id = unsent.id;
    if (waits) waiting_.put_back(id, std::move(unsent));
  }
  if (!waits) {
    end(subscription_failed(why));
    {
      const std::lock_guard lock(mutex_);
      broken_ = true;  // what waits behind it is others' too
    }
    return next();
  }
  served.watch.at(Clock::now() + look_pause, [weak = weak_from_this(), &pool = served.pool](const Result<void>& there) {
    pool.run([weak, closing = !there] {
      const auto self = weak.lock();
      if (!self) return;
      if (closing) self->drain();
      self->next();
    });
  });
}

void PersistentReadCall::next() {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  go_on();
}

void PersistentReadCall::OnWriteDone(bool ok) {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    broken_ = broken_ || !ok;
  }
  if (!ok) return end(grpc::Status::CANCELLED), go_on();
  go_on();
}

void PersistentReadCall::OnCancel() {
  const auto keep = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
  }
  end(grpc::Status::CANCELLED);
}

void PersistentReadCall::OnDone() {
  here_.leaves();
  kurrent_->calls.forget(this);
  self_.reset();
}

void PersistentReadCall::drain() { end(here_.refused(door::calls_stopping())); }

}  // namespace evershard::kurrent
