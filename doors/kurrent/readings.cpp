#include "evershard/doors/kurrent/readings.hpp"

#include <algorithm>

#include "evershard/doors/kurrent/stream_name.hpp"

namespace evershard::kurrent {
namespace {

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
  if (next_ < visible_.first) {
    if (!plan_.subscription && plan_.ends_told && visible_.first <= version_)
      out.emplace_back().set_first_stream_position(visible_.first.value - 1);
    next_ = visible_.first;
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
  const auto page = visit_page([&](const RecordedView& event) {
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
    open(kurrent_.events.read(Query::all(), options));
  }
  const auto page = visit_page([&](const RecordedView& event) {
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

std::optional<Refusal> DerivedReading::begin(std::vector<esp::ReadResp>&) { return std::nullopt; }

Result<bool> DerivedReading::count_up_to(std::uint64_t revision) {
  const std::lock_guard lock(table_->mutex);
  auto& matches = table_->matches;
  if (!counting_) {
    const auto head = kurrent_.events.head();
    if (!head) return refuse(head.error());
    counting_ = *head;
  }
  if (matches.count() > revision || matches.scanned() >= *counting_) return true;
  // A page at a time: a long way is gone in many steps, each of which can be broken off.
  auto stream = kurrent_.events.read(plan_.derived->query(), {.after = matches.scanned(), .up_to = *counting_});
  const auto page = stream.next_page();
  if (!page) return refuse(page.error());
  for (const auto& event : page->events) {
    if (plan_.derived->takes(event))
      matches.add(event.position);
    else
      matches.looked_at(event.position);
  }
  if (page->complete) matches.looked_at(*counting_);
  return matches.count() > revision || page->complete;
}

Reading::Stepped DerivedReading::go_on(std::vector<esp::ReadResp>& out) {
  constexpr auto all_of_them = std::uint64_t(-1) >> 2;
  const bool from_end = plan_.from == ReadPlan::From::end;
  if (has_enough()) return done_step();
  if (!placed_) {
    const bool at_start = plan_.from == ReadPlan::From::start;
    first_ = at_start ? 0 : from_end ? all_of_them : plan_.at + (plan_.subscription ? 1 : 0);
    if (!at_start || plan_.backwards) {
      const auto counted = count_up_to(first_);
      if (!counted) return failed(counted.error());
      if (!*counted) return Step{};
    }
    const std::lock_guard lock(table_->mutex);
    const auto& matches = table_->matches;
    if (from_end) first_ = matches.count();
    const auto mark = matches.before(
        plan_.backwards && first_ >= matches.count() && matches.count() != 0 ? matches.count() - 1 : first_);
    at_ = mark.after;
    revision_ = mark.revision;
    placed_ = true;
    if (plan_.backwards) {
      if (matches.count() == 0) {
        out.emplace_back().mutable_stream_not_found()->mutable_stream_identifier()->set_stream_name(plan_.stream);
        return done_step();
      }
      first_ = std::min(first_, matches.count() - 1);
    }
  }
  if (plan_.backwards) return backwards(out);
  if (!is_open()) open(kurrent_.events.read(plan_.derived->query(), {.after = at_}));
  const auto page = next_page();
  if (!page) return failed(page.error());
  for (const auto& event : page->events) {
    at_ = event.position;
    if (!plan_.derived->takes(event)) continue;
    const auto revision = revision_++;
    if (revision < first_ || !can_be_shown(event)) continue;
    give_link(event, revision, out);
    if (has_enough()) return done_step();
  }
  if (!page->complete) {
    if (plan_.subscription) fell_behind(static_cast<std::int64_t>(revision_) - 1, {}, out);
    return Step{};
  }
  if (!plan_.subscription) {
    if (revision_ == 0)
      out.emplace_back().mutable_stream_not_found()->mutable_stream_identifier()->set_stream_name(plan_.stream);
    else if (plan_.ends_told)
      out.emplace_back().set_last_stream_position(revision_ - 1);
    return done_step();
  }
  close_stream();
  at_ = std::max(at_, page->watermark);
  caught_up(static_cast<std::int64_t>(revision_) - 1, {}, out);
  return idle_at(at_);
}

/// Between two marks forwards, and what is wanted of it in the other order; then the two marks before.
Reading::Stepped DerivedReading::backwards(std::vector<esp::ReadResp>& out) {
  std::vector<std::pair<std::uint64_t, RecordedEvent>> block;
  auto stream = kurrent_.events.read(plan_.derived->query(), {.after = at_});
  auto revision = revision_;
  for (const auto& event : stream) {
    if (!plan_.derived->takes(event)) continue;
    if (revision > first_) break;
    if (can_be_shown(event)) block.emplace_back(revision, event);
    if (++revision > first_) break;
  }
  if (stream.error()) return failed(*stream.error());
  for (auto at = block.rbegin(); at != block.rend() && !has_enough(); ++at) give_link(at->second, at->first, out);
  if (revision_ == 0 || has_enough()) return done_step();
  first_ = revision_ - 1;
  const std::lock_guard lock(table_->mutex);
  const auto mark = table_->matches.before(first_);
  at_ = mark.after;
  revision_ = mark.revision;
  return Step{};
}

}  // namespace evershard::kurrent
