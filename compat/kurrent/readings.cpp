#include "evershard/compat/kurrent/readings.hpp"

#include <algorithm>
#include <chrono>

#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/doors/serving/beyond_head.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::chrono::milliseconds look_again_after{50};

std::int64_t last_revision_of(SeqNr version) { return static_cast<std::int64_t>(version.value) - 1; }

Reading::Step idle_at(GlobalPosition seen) { return {Reading::Step::Kind::idle, seen}; }
Reading::Step done_step() { return {Reading::Step::Kind::done, {}}; }

template <class Recorded>
bool can_be_shown(const Recorded& event) {
  return event.state != EventState::removed;
}

}  // namespace

std::optional<Refusal> StreamReading::begin(std::vector<esp::ReadResp>& out) {
  const auto& aggregate = *plan_.aggregate;
  if (is_metadata(aggregate)) {
    const auto of = stream_of_metadata(aggregate);
    const auto ended = of ? kurrent_.states.find(*of) : std::nullopt;
    if (ended && ended->tombstoned) return stream_deleted(plan_.stream);
  }
  const auto shown = shown_of(aggregate);
  if (!shown) return failed(shown.error());
  if (shown->tombstoned) return stream_deleted(plan_.stream);
  version_ = shown->version;
  visible_ = shown->visible;
  absent_ = shown->absent;
  if (absent_ && !plan_.subscription) {
    out.emplace_back().mutable_stream_not_found()->mutable_stream_identifier()->set_stream_name(plan_.stream);
    nothing_ = true;
    return std::nullopt;
  }
  if (plan_.backwards) {
    next_ = plan_.from == ReadPlan::From::end  ? version_
            : plan_.from == ReadPlan::From::at ? std::min(SeqNr(plan_.at + 1), version_)
                                               : SeqNr{1};
    nothing_ = next_ < visible_.first;
    return std::nullopt;
  }
  next_ = plan_.from == ReadPlan::From::end  ? version_ + 1
          : plan_.from == ReadPlan::From::at ? SeqNr(plan_.at + (plan_.subscription ? 2 : 1))
                                             : SeqNr{1};
  if (plan_.subscription && !plan_.settled && plan_.from == ReadPlan::From::at && !absent_) {
    if (auto refused = refused_beyond_the_last()) return refused;
  }
  if (next_ < visible_.first) {
    if (!plan_.subscription && plan_.ends_told && visible_.first <= version_)
      out.emplace_back().set_first_stream_position(visible_.first.value - 1);
    next_ = visible_.first;
  }
  return std::nullopt;
}

/// A node of a cluster may be a moment behind the one that named the revision.
std::optional<Refusal> StreamReading::refused_beyond_the_last() {
  const auto& served = kurrent_.calls.served;
  const auto until = std::chrono::steady_clock::now() + serving::may_be_behind;
  while (next_ > version_ + 1) {
    if (served.cluster == nullptr || std::chrono::steady_clock::now() >= until)
      return failed({ErrorCode::invalid_argument,
                     "revision " + std::to_string(plan_.at) + " lies beyond the last of the stream, " +
                         std::to_string(last_revision_of(version_)) + ", fork " + served.fork +
                         ": it is one of another store, or of this one before it was restored"});
    // Whether there is news shows in the next read.
    if (const auto head = kurrent_.events.head()) (void)kurrent_.events.wait_for(*head + 1, look_again_after);
    const auto shown = shown_of(*plan_.aggregate);
    if (!shown) return failed(shown.error());
    if (shown->tombstoned) return stream_deleted(plan_.stream);
    version_ = shown->version;
    visible_ = shown->visible;
  }
  return std::nullopt;
}

void StreamReading::open_at(SeqNr from) {
  StreamOptions options;
  options.from = from;
  options.direction = plan_.backwards ? Direction::backwards : Direction::forwards;
  // Older ones that are not shown do not count: the bound is only how much is asked of the disk.
  if (!plan_.subscription && !visible_.not_before) options.limit = bound_.ask(plan_.count - given_);
  open(kurrent_.events.read(*plan_.aggregate, options));
}

Reading::Stepped StreamReading::go_on(std::vector<esp::ReadResp>& out) {
  if (nothing_ || has_enough()) return done_step();
  if (!is_open()) open_at(next_);
  enum class End : std::uint8_t { none, enough, beginning, deleted } end = End::none;
  const auto page = visit([&](const RecordedView& event) {
    if (end != End::none) return;
    if (plan_.backwards && event.seq_nr < visible_.first) {
      end = End::beginning;
      return;
    }
    if (plan_.subscription && event.type == stream_deleted_type) {
      end = End::deleted;
      return;
    }
    next_ = plan_.backwards ? SeqNr(event.seq_nr.value - 1) : event.seq_nr + 1;
    if (!can_be_shown(event) || !visible_.shows(event.seq_nr, event.occurred_at)) return;
    give_event(event, out);
    if (has_enough()) end = End::enough;
  });
  if (!page) return failed(page.error());
  bound_.got(page->events);
  if (end == End::beginning) return done_step();
  if (end == End::deleted) return stream_deleted(plan_.stream);
  if (!page->complete) {
    if (plan_.subscription) fell_behind(last_revision_of(next_) - 1, {}, out);
    return has_enough() ? done_step() : Step{};
  }
  if (!plan_.subscription) {
    const bool more = plan_.backwards ? next_ >= visible_.first : next_ <= version_;
    if (more && bound_.is_reached() && !has_enough()) {
      close_stream();
      return Step{};
    }
    if (plan_.ends_told && !plan_.backwards && next_ > version_)
      out.emplace_back().set_last_stream_position(version_.value - 1);
    return done_step();
  }
  close_stream();
  caught_up(last_revision_of(next_) - 1, {}, out);
  return idle_at(page->watermark);
}

std::optional<Refusal> AllReading::begin(std::vector<esp::ReadResp>&) {
  if (plan_.backwards) {
    const bool from_a_place = plan_.from == ReadPlan::From::at;
    nothing_ = plan_.from == ReadPlan::From::start || (from_a_place && plan_.at == 0);
    if (from_a_place) at_ = GlobalPosition(plan_.at);
    return std::nullopt;
  }
  if (plan_.from == ReadPlan::From::at) at_ = GlobalPosition(plan_.at);
  if (plan_.from == ReadPlan::From::at && !plan_.subscription && plan_.at > 0) at_ = at_ - 1;
  if (plan_.from == ReadPlan::From::at && plan_.subscription) {
    if (auto refused = refused_beyond(at_)) return refused;
  }
  if (plan_.from == ReadPlan::From::end) {
    const auto head = kurrent_.events.head();
    if (!head) return failed(head.error());
    at_ = *head;
    nothing_ = !plan_.subscription;
  }
  return std::nullopt;
}

void AllReading::give_checkpoint(GlobalPosition position, std::vector<esp::ReadResp>& out) const {
  auto& checkpoint = *out.emplace_back().mutable_checkpoint();
  checkpoint.set_commit_position(position.value);
  checkpoint.set_prepare_position(position.value);
  const auto now = Timestamp::now().micros;
  checkpoint.mutable_timestamp()->set_seconds(now / 1'000'000);
  checkpoint.mutable_timestamp()->set_nanos(static_cast<std::int32_t>(now % 1'000'000 * 1'000));
}

Reading::Stepped AllReading::go_on(std::vector<esp::ReadResp>& out) {
  if (nothing_ || has_enough()) return done_step();
  if (!is_open()) {
    ReadOptions options;
    if (!plan_.backwards) {
      options.after = at_;
    } else {
      options.direction = Direction::backwards;
      if (at_ != GlobalPosition{}) options.before = at_;
    }
    if (!plan_.subscription && !plan_.filter) options.limit = bound_.ask(plan_.count - given_);
    open(kurrent_.events.read(plan_.filter ? plan_.filter->query() : Query::all(), options));
  }
  const auto page = visit([&](const RecordedView& event) {
    if (has_enough()) return;
    at_ = event.position;
    const bool taken = can_be_shown(event) && (!plan_.filter || plan_.filter->takes(event));
    if (taken) give_event(event, out);
    if (!plan_.subscription || plan_.checkpoint_every == 0 || ++looked_at_ < plan_.checkpoint_every) return;
    looked_at_ = 0;
    give_checkpoint(at_, out);
  });
  if (!page) return failed(page.error());
  bound_.got(page->events);
  if (has_enough()) return done_step();
  if (!page->complete) {
    if (plan_.subscription) fell_behind({}, at_, out);
    return Step{};
  }
  if (!plan_.subscription && !bound_.is_reached()) return done_step();
  close_stream();
  if (!plan_.subscription) return Step{};  // some were not shown
  at_ = std::max(at_, page->watermark);
  caught_up({}, at_, out);
  return idle_at(at_);
}

std::optional<Refusal> DerivedReading::begin(std::vector<esp::ReadResp>&) {
  using From = ReadPlan::From;
  const auto named = Derived::position_of(plan_.at);
  if (plan_.backwards) {
    at_ = plan_.from == From::at ? named + 1 : plan_.from == From::start ? GlobalPosition{2} : GlobalPosition{0};
    return std::nullopt;
  }
  if (plan_.from == From::at) at_ = plan_.subscription ? named : named - 1;
  if (plan_.from == From::at && plan_.subscription) return refused_beyond(at_);
  if (plan_.from != From::end) return std::nullopt;
  const auto head = kurrent_.events.head();
  if (!head) return failed(head.error());
  at_ = *head;
  return std::nullopt;
}

Reading::Stepped DerivedReading::go_on(std::vector<esp::ReadResp>& out) {
  if (looks_for_last_) return end(out);
  if (has_enough()) return done_step();
  if (!is_open()) {
    ReadOptions options;
    options.direction = plan_.backwards ? Direction::backwards : Direction::forwards;
    if (!plan_.backwards)
      options.after = at_;
    else if (at_.value != 0)
      options.before = at_;
    open(kurrent_.events.read(plan_.derived->query(), options));
  }
  const auto page = next_page();
  if (!page) return failed(page.error());
  for (const auto& event : page->events) {
    at_ = event.position;
    if (!plan_.derived->takes(event)) continue;
    last_ = event.position;
    if (!can_be_shown(event)) continue;
    give_link(event, out);
    if (has_enough()) return done_step();
  }
  if (plan_.subscription) {
    const auto number = [this] { return static_cast<std::int64_t>(at_.value) - 1; };
    if (!page->complete) {
      fell_behind(number(), {}, out);
      return Step{};
    }
    close_stream();
    at_ = std::max(at_, page->watermark);
    caught_up(number(), {}, out);
    return idle_at(at_);
  }
  if (!page->complete) return Step{};
  close_stream();
  if (last_ && (plan_.backwards || !plan_.ends_told)) return done_step();
  return end(out);
}

Reading::Stepped DerivedReading::end(std::vector<esp::ReadResp>& out) {
  if (!last_) {
    if (!std::exchange(looks_for_last_, true))
      open(kurrent_.events.read(plan_.derived->query(), {.direction = Direction::backwards}));
    const auto page = next_page();
    if (!page) return failed(page.error());
    for (const auto& event : page->events) {
      if (!last_ && plan_.derived->takes(event)) last_ = event.position;
    }
    if (!last_ && !page->complete) return Step{};
  }
  if (!last_)
    out.emplace_back().mutable_stream_not_found()->mutable_stream_identifier()->set_stream_name(plan_.stream);
  else if (plan_.ends_told && !plan_.backwards)
    out.emplace_back().set_last_stream_position(Derived::number_at(*last_));
  return done_step();
}

}  // namespace evershard::kurrent
