#include "evershard/compat/kurrent/reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/compat/kurrent/readings.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/doors/serving/beyond_head.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::uint32_t window_by_default = 32;

void put_now(google::protobuf::Timestamp& to) {
  const auto now = Timestamp::now().micros;
  to.set_seconds(now / 1'000'000);
  to.set_nanos(static_cast<std::int32_t>(now % 1'000'000 * 1'000));
}

template <class Notice>
void put_place(std::optional<std::int64_t> revision, std::optional<GlobalPosition> position, Notice& to) {
  put_now(*to.mutable_timestamp());
  if (revision) to.set_stream_revision(*revision);
  if (!position) return;
  to.mutable_position()->set_commit_position(position->value);
  to.mutable_position()->set_prepare_position(position->value);
}

}  // namespace

Result<ReadPlan> ReadPlan::of(const esp::ReadReq& request) {
  const auto& options = request.options();
  ReadPlan plan;
  plan.backwards = options.read_direction() == esp::ReadReq::Backwards;
  plan.links = options.resolve_links();
  plan.structured_ids = options.uuid_option().content_case() == esp::ReadReq::UUIDOption::kStructured;
  plan.subscription = options.has_subscription();
  plan.ends_told = options.control_option().compatibility() >= 1;
  plan.count = options.count();
  if (plan.subscription && plan.backwards)
    return refuse(ErrorCode::invalid_argument, "a subscription goes forwards only");
  if (options.has_stream()) {
    const auto& stream = options.stream();
    plan.stream = stream.stream_identifier().stream_name();
    plan.derived = Derived::from(plan.stream);
    if (!plan.derived) {
      auto aggregate = aggregate_of(plan.stream);
      if (!aggregate) return refuse(std::move(aggregate).error());
      plan.aggregate = *std::move(aggregate);
    }
    if (stream.has_revision()) {
      plan.from = From::at;
      plan.at = std::min<std::uint64_t>(stream.revision(), std::numeric_limits<std::int64_t>::max());
    } else if (stream.has_end()) {
      plan.from = From::end;
    }
  } else if (options.has_all()) {
    const auto& all = options.all();
    if (all.has_position()) {
      plan.from = From::at;
      plan.at = std::min<std::uint64_t>(all.position().commit_position(), std::numeric_limits<std::int64_t>::max());
    } else if (all.has_end()) {
      plan.from = From::end;
    }
    if (options.has_filter()) {
      auto filter = EventFilter::of(options.filter());
      if (!filter) return refuse(std::move(filter).error());
      plan.filter = *std::move(filter);
      const std::uint64_t window = options.filter().has_max() ? options.filter().max() : window_by_default;
      plan.checkpoint_every = std::max<std::uint64_t>(window, 1) *
                              std::max<std::uint64_t>(options.filter().checkpointintervalmultiplier(), 1);
    }
  } else {
    return refuse(ErrorCode::invalid_argument, "a read is of a stream or of $all: neither is given");
  }
  return plan;
}

std::unique_ptr<Reading> Reading::make(Kurrent& kurrent, ReadPlan plan) {
  if (plan.derived) return std::make_unique<DerivedReading>(kurrent, std::move(plan));
  if (plan.aggregate) return std::make_unique<StreamReading>(kurrent, std::move(plan));
  return std::make_unique<AllReading>(kurrent, std::move(plan));
}

Refusal Reading::failed(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

Reading::Stepped Reading::step(std::vector<esp::ReadResp>& out) {
  events_ = 0;
  linked_.clear();
  auto stepped = std::exchange(begun_, true) ? go_on(out) : first_step(out);
  return broken_ ? failed(*broken_) : std::move(stepped);
}

Reading::Stepped Reading::first_step(std::vector<esp::ReadResp>& out) {
  if (const auto there = kurrent_.states.catch_up(); !there) return failed(there.error());
  if (plan_.subscription) out.emplace_back().mutable_confirmation()->set_subscription_id(EventId::random().text());
  if (auto refused = begin(out)) return *std::move(refused);
  return go_on(out);
}

std::optional<Refusal> Reading::refused_beyond(GlobalPosition after) const {
  if (plan_.settled) return std::nullopt;
  const auto& served = kurrent_.calls.served;
  auto beyond = serving::beyond_head(served, after);
  if (!beyond) return failed(beyond.error());
  if (*beyond && served.cluster != nullptr && kurrent_.events.wait_for(after, serving::may_be_behind)) beyond->reset();
  return *beyond ? std::optional(failed(**std::move(beyond))) : std::nullopt;
}

void Reading::open(EventStream stream) {
  const std::lock_guard lock(mutex_);
  stream_.emplace(std::move(stream));
  if (cancelled_) stream_->cancel();
}

void Reading::close_stream() {
  const std::lock_guard lock(mutex_);
  stream_.reset();
}

void Reading::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (stream_) stream_->cancel();
}

Result<Reading::Shown> Reading::shown_of(const AggregateId& aggregate) const {
  Shown shown;
  const auto state = kurrent_.states.find(aggregate);
  shown.tombstoned = state && state->tombstoned;
  if (shown.tombstoned) return shown;
  const auto version_at = [&](std::optional<GlobalPosition> position) -> Result<SeqNr> {
    const auto info = kurrent_.events.aggregate(aggregate, position);
    if (info) return info->version;
    if (info.error().code == ErrorCode::not_found) return state ? state->removed_version : SeqNr{0};
    return refuse(info.error());
  };
  const auto version = version_at({});
  if (!version) return refuse(version.error());
  shown.version = *version;
  SeqNr at_delete;
  StreamMetadata metadata;
  if (state) {
    metadata = state->metadata;
    if (state->deleted_at) {
      const auto was = version_at(state->deleted_at);
      if (!was) return refuse(was.error());
      at_delete = *was;
    }
  }
  if (is_metadata(aggregate) && !metadata.count_max) metadata.count_max = 1;  // older ones say nothing any more
  shown.visible = visible_of(metadata, shown.version, at_delete, Timestamp::now());
  shown.absent = shown.version.value == 0 || (at_delete.value != 0 && at_delete == shown.version);
  return shown;
}

Result<bool> Reading::is_shown(const RecordedEvent& event) {
  if (!event.aggregate) return true;
  if (!is_metadata(*event.aggregate) && !kurrent_.states.find(*event.aggregate)) return true;
  auto found = linked_.find(*event.aggregate);
  if (found == linked_.end()) {
    const auto shown = shown_of(*event.aggregate);
    if (!shown) return refuse(shown.error());
    found = linked_.emplace(*event.aggregate, *shown).first;
  }
  const auto& shown = found->second;
  return !shown.tombstoned && shown.visible.shows(event.seq_nr, event.occurred_at);
}

Result<std::optional<RecordedEvent>> Reading::linked(const RecordedEvent& link) {
  constexpr std::nullopt_t nothing = std::nullopt;
  const auto target = target_of(link.payload);  // what names no event is given as the link alone, as KurrentDB does
  if (!target) return nothing;
  const auto aggregate = aggregate_of(target->stream);
  if (!aggregate) return nothing;  // the same
  auto stream = kurrent_.events.read(*aggregate, {.from = SeqNr(target->revision + 1), .limit = 1});
  auto event = stream.next();
  if (!event && event.error().code == ErrorCode::not_found) return nothing;
  if (!event) return refuse(event.error());
  if (!*event || (*event)->state == EventState::removed) return nothing;
  const auto shown = is_shown(**event);
  if (!shown) return refuse(shown.error());
  return *shown ? std::move(*event) : nothing;
}

Reading::Stepped Reading::step(EventMessages& out) {
  std::vector<esp::ReadResp> messages;
  encoded_ = &out;
  auto stepped = step(messages);
  move_to_encoded(messages);
  encoded_ = nullptr;
  return stepped;
}

/// Messages that were made before go out before the events.
void Reading::move_to_encoded(std::vector<esp::ReadResp>& out) {
  for (const auto& message : out) encoded_->add(message);
  out.clear();
}

void Reading::give_event(const RecordedView& event, std::vector<esp::ReadResp>& out) {
  if (broken_) return;
  const bool shows_target = plan_.links && event.type == link_type;
  std::optional<RecordedEvent> target;
  if (shows_target) {
    auto found = linked(event.event());
    if (!found) {
      broken_ = std::move(found).error();
      return;
    }
    target = *std::move(found);
  }
  ++given_;
  ++events_;
  if (encoded_ != nullptr && !shows_target) {
    move_to_encoded(out);
    return encoded_->add(event, plan_.structured_ids);
  }
  const auto built = event.event();
  auto& given = *out.emplace_back().mutable_event();
  given.set_commit_position(built.position.value);
  if (!shows_target) return put_event(built, plan_.structured_ids, *given.mutable_event());
  put_event(built, plan_.structured_ids, *given.mutable_link());
  if (target) put_event(*target, plan_.structured_ids, *given.mutable_event());
}

void Reading::give_link(const RecordedEvent& event, std::vector<esp::ReadResp>& out) {
  if (broken_) return;
  const auto shown = plan_.links ? is_shown(event) : Result<bool>(false);
  if (!shown) {
    broken_ = shown.error();
    return;
  }
  auto& given = *out.emplace_back().mutable_event();
  given.set_commit_position(event.position.value);
  ++given_;
  ++events_;
  RecordedEvent link;
  link.position = event.position;
  link.aggregate = AggregateId{std::string(plain_type), plan_.stream};
  link.seq_nr = SeqNr(Derived::number_at(event.position) + 1);
  link.id = plan_.derived->link_id(event.id, event.position);
  link.type = link_type;
  link.payload = std::to_string(revision_of(event)) + '@' + name_of(event);
  link.occurred_at = event.occurred_at;
  put_event(link, plan_.structured_ids, plan_.links ? *given.mutable_link() : *given.mutable_event());
  if (*shown) put_event(event, plan_.structured_ids, *given.mutable_event());
}

void Reading::caught_up(std::optional<std::int64_t> revision, std::optional<GlobalPosition> position,
                        std::vector<esp::ReadResp>& out) {
  if (std::exchange(live_, true)) return;
  put_place(revision, position, *out.emplace_back().mutable_caught_up());
}

void Reading::fell_behind(std::optional<std::int64_t> revision, std::optional<GlobalPosition> position,
                          std::vector<esp::ReadResp>& out) {
  if (!std::exchange(live_, false)) return;
  put_place(revision, position, *out.emplace_back().mutable_fell_behind());
}

}  // namespace evershard::kurrent
