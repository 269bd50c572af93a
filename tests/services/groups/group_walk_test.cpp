// A consumer group against a naive model: workers that come, die and freeze, answers that come twice and late,
// restarts, clocks that jump.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "evershard/services/groups/group_state_bytes.hpp"

namespace evershard::actors {
namespace {

enum class Fate : std::uint8_t { unread, unsettled, acknowledged, parked, discarded };

/// What is known of one event, looked up the slow way.
struct Known {
  std::uint64_t lane = 0;
  bool matches = false;
  Fate fate = Fate::unread;
  std::uint32_t attempts = 0;
  bool begun = false;  ///< while it is with its worker
  bool behind = false;
  GroupTime not_before = 0;
  // Not kept:
  GroupWorkerId worker = 0;
  std::uint64_t delivery = 0;
  GroupTime lease_ends = 0;
};

struct Model {
  std::vector<Known> events;  ///< by position; the first is none
  std::uint64_t settled_to = 0;
};

class GroupWalk {
 public:
  explicit GroupWalk(std::uint64_t seed)
      : random_(seed), state_(settings_of(seed, random_), GlobalPosition(0), seed, 1) {
    model_.events.resize(1 + 40 + below(160));
    for (std::size_t i = 1; i < model_.events.size(); ++i)
      model_.events[i] = {.lane = 1 + below(1 + seed % 9), .matches = below(4) != 0};
    if (state_.settings().order == GroupOrder::global) {
      for (auto& event : model_.events) event.lane = 0;
    }
    persist();
  }

  void run(std::size_t steps) {
    for (std::size_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
    drain();
  }

 private:
  static GroupSettings settings_of(std::uint64_t seed, std::mt19937_64& random) {
    GroupSettings settings;
    settings.order = seed % 5 == 0 ? GroupOrder::global : GroupOrder::aggregate;
    settings.after_parked = seed % 2 == 0 ? AfterParked::block : AfterParked::go_on;
    settings.attempts_max = 1 + static_cast<std::uint32_t>(random() % 4);
    settings.retry_first = std::chrono::milliseconds(random() % 3 == 0 ? 0 : 1'000);
    settings.lease = std::chrono::milliseconds(500);
    settings.window = 1 + static_cast<std::uint32_t>(random() % 30);
    settings.parked_max = 1 + static_cast<std::uint32_t>(random() % (random() % 2 == 0 ? 4 : 300));
    return settings;
  }

  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }
  std::uint64_t last() const { return model_.events.size() - 1; }
  Known& at(GlobalPosition position) { return model_.events[position.value]; }
  std::size_t parked_count() const {
    return static_cast<std::size_t>(std::ranges::count(model_.events, Fate::parked, &Known::fate));
  }
  bool lane_blocked(std::uint64_t lane) const {
    return state_.settings().after_parked == AfterParked::block &&
           std::ranges::any_of(model_.events,
                               [&](const Known& event) { return event.fate == Fate::parked && event.lane == lane; });
  }
  static EventId id_of(std::uint64_t position) {
    EventId id;
    for (int i = 0; i < 8; ++i)
      id.bytes[static_cast<std::size_t>(15 - i)] = static_cast<std::uint8_t>(position >> (8 * i));
    return id;
  }

  void step() {
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
        read();
        break;
      case 3:
        if (workers_.size() < 5) join();
        break;
      case 4:
        if (below(3) == 0) leave();
        break;
      case 5:
        if (below(3) == 0)
          lose();
        else
          begin();
        break;
      case 6:
        for (const auto worker : workers_) hear(worker);
        break;
      case 7:
      case 8:
        pass(below(200));
        break;
      case 9:
        if (below(4) == 0) pass(below(4'000));
        break;
      case 10:
      case 11:
        persist();
        break;
      case 12:
        if (below(4) == 0) restart();
        break;
      case 13:
        renew();
        break;
      case 14:
        reject();
        break;
      case 15:
        if (below(3) == 0) park();
        break;
      case 16:
        if (below(6) == 0) replay_or_discard();
        break;
      default:
        acknowledge();
        break;
    }
    deliver();
    compare();
  }

  void read() {
    const auto room = state_.room();
    const auto from = state_.read_to().value;
    std::vector<GroupEvent> found;
    auto to = from;
    while (to < last() && found.size() < std::min<std::uint64_t>(room, 8) && to - from < 20) {
      ++to;
      if (model_.events[to].matches) found.push_back({GlobalPosition(to), model_.events[to].lane, id_of(to)});
    }
    if (room == 0) return;
    for (const auto& event : found) {
      auto& known = at(event.position);
      known.fate = Fate::unsettled;
      if (lane_blocked(known.lane) && parked_count() < state_.settings().parked_max)
        park_known(event.position.value, true);
    }
    if (below(5) == 0 && !found.empty())
      state_.read(std::span(found).first(1), GlobalPosition(0), 7);  // and once more, with the rest
    state_.read(found, GlobalPosition(to), 7);
  }

  void join() { workers_.push_back(state_.join("w", 1 + static_cast<std::uint32_t>(below(4)), now_)); }
  GroupWorkerId any_worker() { return workers_.empty() ? 0 : workers_[below(workers_.size())]; }
  void hear(GroupWorkerId worker) {
    (void)state_.heard(worker, now_ - static_cast<GroupTime>(below(2) * below(1'000)));
    heard_[worker] = now_;
  }

  void leave() {
    const auto worker = any_worker();
    state_.leave(worker, now_);
    for (auto& event : model_.events) {
      if (worker != 0 && event.worker == worker) event.worker = 0;
    }
    std::erase(workers_, worker);
  }
  void lose() {
    const auto worker = any_worker();
    if (worker == 0) return;
    state_.lose(worker, now_, 7);
    lose_known(worker);
  }
  /// What was begun; of a worker that began nothing the one that it was given first.
  bool counts(std::uint64_t position) const {
    const auto& known = model_.events[position];
    if (known.begun || began_.contains(known.worker)) return known.begun;
    return std::ranges::none_of(model_.events, [&](const auto& other) {
      return other.worker == known.worker && other.delivery < known.delivery;
    });
  }
  void landed(std::uint64_t position) { model_.events[position].worker = 0; }
  void begin() {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 1; i <= last(); ++i) {
      if (model_.events[i].worker != 0) out.push_back(i);
    }
    if (out.empty()) return;
    const auto position = out[below(out.size())];
    auto& known = model_.events[position];
    EXPECT_EQ(state_.begin(GlobalPosition(position), known.delivery + 1'000'000, now_).error().code, ErrorCode::fenced)
        << "that is another one's";
    EXPECT_TRUE(state_.begin(GlobalPosition(position), known.delivery, now_));
    known.begun = true;
    known.lease_ends = now_ + state_.settings().lease.count();
    began_.insert(known.worker);
  }
  void lose_known(GroupWorkerId worker) {
    std::vector<std::pair<std::uint64_t, bool>> with_it;
    for (std::uint64_t i = 1; i <= last(); ++i) {
      if (model_.events[i].worker == worker) with_it.emplace_back(i, counts(i));
    }
    for (const auto& [i, counted] : with_it) counted ? failed(i, false, false) : landed(i);
    std::erase(workers_, worker);
  }

  void pass(std::uint64_t ms) {
    // One that goes back changes nothing.
    if (below(8) == 0) {
      EXPECT_TRUE(state_.tick(now_ - 1'000, 7).empty());
    }
    now_ += static_cast<GroupTime>(ms);
    for (const auto worker : state_.tick(now_, 7)) {
      EXPECT_LE(heard_[worker] + state_.settings().lease.count(), now_) << "a worker that was heard is lost";
      lose_known(worker);
    }
    std::vector<std::pair<GroupTime, std::uint64_t>> ran_out;
    for (std::uint64_t i = 1; i <= last(); ++i) {
      if (model_.events[i].worker != 0 && model_.events[i].lease_ends <= now_)
        ran_out.emplace_back(model_.events[i].lease_ends, i);
    }
    std::ranges::sort(ran_out);
    for (const auto& [ends, i] : ran_out) counts(i) ? failed(i, false, false) : landed(i);
  }

  void renew() {
    const auto worker = any_worker();
    if (worker == 0) return;
    ASSERT_TRUE(state_.renew(worker, {}, now_));
    heard_[worker] = now_;
    for (auto& event : model_.events) {
      if (event.worker == worker) event.lease_ends = now_ + state_.settings().lease.count();
    }
  }

  /// Any delivery that ever was, in this life or one before; often one that is out.
  struct Given {
    GlobalPosition position;
    std::uint64_t delivery;
  };
  std::optional<Given> any_given() {
    if (given_.empty()) return std::nullopt;
    const auto back = below(3) == 0 ? given_.size() : std::min<std::size_t>(given_.size(), 6);
    return given_[given_.size() - 1 - below(back)];
  }

  void acknowledge() {
    const auto given = any_given();
    if (!given) return;
    auto& known = at(given->position);
    const bool settles = known.fate == Fate::unsettled && known.delivery == given->delivery;
    const bool was = known.fate == Fate::acknowledged || known.fate == Fate::discarded;
    const auto before = state_.counters().acknowledged;
    const auto done = state_.acknowledge(given->position, given->delivery, now_);
    EXPECT_EQ(done.has_value(), settles || was) << given->position.value << ' ' << (done ? "" : done.error().what);
    EXPECT_EQ(state_.counters().acknowledged - before, settles ? 1u : 0u) << "settled once";
    if (settles) settle(given->position.value, Fate::acknowledged);
  }
  void reject() {
    const auto given = any_given();
    if (!given) return;
    auto& known = at(given->position);
    const bool out = known.fate == Fate::unsettled && known.delivery == given->delivery && known.worker != 0;
    const bool was = known.fate == Fate::acknowledged || known.fate == Fate::discarded;
    const auto done = state_.reject(given->position, given->delivery, "no " + std::to_string(below(3)), {}, now_, 7);
    EXPECT_EQ(done.has_value(), out || was);
    if (out) failed(given->position.value, true, false);
  }
  void park() {
    const auto given = any_given();
    if (!given) return;
    auto& known = at(given->position);
    const bool out = known.fate == Fate::unsettled && known.delivery == given->delivery && known.worker != 0;
    const bool full = parked_count() >= state_.settings().parked_max;
    const auto done = state_.park(given->position, given->delivery, "never", now_, 7);
    if (out) {
      EXPECT_EQ(done.has_value(), !full);
    }
    if (out && full) {
      EXPECT_EQ(done.error().code, ErrorCode::overloaded);
    }
    if (out && !full) failed(given->position.value, false, true);
  }

  void settle(std::uint64_t position, Fate fate) {
    auto& known = model_.events[position];
    EXPECT_EQ(known.fate, Fate::unsettled) << position << " is settled twice";
    known.fate = fate;
    known.worker = 0;
  }
  void park_known(std::uint64_t position, bool behind) {
    settle(position, Fate::parked);
    model_.events[position].behind = behind;
  }
  void failed(std::uint64_t position, bool waits, bool at_once) {
    auto& known = model_.events[position];
    known.worker = 0;
    ++known.attempts;
    const auto& settings = state_.settings();
    const bool spent = at_once || known.attempts >= settings.attempts_max;
    if (spent && parked_count() < settings.parked_max) {
      park_known(position, false);
      for (std::uint64_t i = 1; i <= last() && settings.after_parked == AfterParked::block; ++i) {
        auto& later = model_.events[i];
        if (later.lane == known.lane && later.fate == Fate::unsettled && parked_count() < settings.parked_max)
          park_known(i, true);
      }
      return;
    }
    auto wait = static_cast<double>(settings.retry_first.count());
    for (std::uint32_t i = 1; i < known.attempts; ++i)
      wait = std::min(wait * settings.retry_factor, static_cast<double>(settings.retry_most.count()));
    if (waits || spent) known.not_before = now_ + static_cast<GroupTime>(wait * 0.8);
  }

  void release(std::uint64_t position) {
    auto& known = model_.events[position];
    EXPECT_EQ(known.fate, Fate::parked);
    known.fate = Fate::unsettled;
    known.attempts = 0;
    known.behind = false;
    known.not_before = 0;
    known.delivery = 0;
  }
  void replay_or_discard() {
    std::vector<std::uint64_t> parked;
    for (std::uint64_t i = 1; i <= last(); ++i) {
      if (model_.events[i].fate == Fate::parked) parked.push_back(i);
    }
    const bool block = state_.settings().after_parked == AfterParked::block;
    if (parked.empty()) {
      EXPECT_FALSE(state_.replay(GlobalPosition(1 + below(last())), now_));
      return;
    }
    const auto one = parked[below(parked.size())];
    const auto lane = model_.events[one].lane;
    switch (below(4)) {
      case 0:
        EXPECT_EQ(state_.replay_all(now_), parked.size());
        for (const auto position : parked) release(position);
        break;
      case 1: {
        const auto count = state_.replay(GlobalPosition(one), now_);
        std::erase_if(parked, [&](auto p) { return p != one && (!block || model_.events[p].lane != lane); });
        EXPECT_EQ(*count, parked.size());
        for (const auto position : parked) release(position);
        break;
      }
      case 2: {
        ASSERT_TRUE(state_.discard(GlobalPosition(one), now_));
        std::erase_if(parked, [&](auto p) { return model_.events[p].lane != lane; });
        model_.events[one].fate = Fate::discarded;
        if (parked.front() != one) break;
        for (std::size_t i = 1; i < parked.size() && model_.events[parked[i]].behind; ++i) release(parked[i]);
        break;
      }
      default:
        EXPECT_EQ(state_.discard_all(now_), parked.size());
        for (const auto position : parked) model_.events[position].fate = Fate::discarded;
        break;
    }
  }

  void deliver() {
    for (const auto& out : state_.deliver(now_)) {
      auto& known = at(out.position);
      const auto what = "position " + std::to_string(out.position.value);
      EXPECT_TRUE(known.matches && known.fate == Fate::unsettled) << what << " is given out and needs nothing";
      EXPECT_EQ(known.worker, 0u) << what << " is given out twice at a time";
      EXPECT_EQ(out.attempt, known.attempts + 1) << what;
      EXPECT_GE(now_, known.not_before) << what << " is given out before its time";
      EXPECT_TRUE(std::ranges::find(workers_, out.worker) != workers_.end()) << what << " goes to nobody";
      for (std::uint64_t i = 1; i <= last(); ++i) {
        const auto& other = model_.events[i];
        if (i == out.position.value || other.lane != known.lane) continue;
        EXPECT_EQ(other.worker, 0u) << what << " goes out beside " << i << " of its aggregate";
        if (i > out.position.value) continue;
        EXPECT_TRUE(!other.matches || other.fate != Fate::unsettled) << what << " overtakes " << i;
      }
      EXPECT_FALSE(lane_blocked(known.lane)) << what << " is blocked by a parked one";
      EXPECT_FALSE(seen_deliveries_.contains(out.delivery)) << "a delivery's number comes twice";
      seen_deliveries_[out.delivery] = true;
      known.worker = out.worker;
      known.begun = false;
      known.delivery = out.delivery;
      known.lease_ends = now_ + state_.settings().lease.count();
      given_.push_back({out.position, out.delivery});
    }
  }

  void compare() {
    std::uint64_t unsettled = 0, out = 0, first = 0;
    for (std::uint64_t i = 1; i <= last(); ++i) {
      const auto& known = model_.events[i];
      if (!known.matches) continue;
      if (i <= state_.read_to().value) {
        EXPECT_NE(known.fate, Fate::unread) << i << " was skipped";
      }
      if (known.fate == Fate::unsettled && i <= state_.read_to().value) {
        ++unsettled;
        if (first == 0) first = i;
      }
      out += known.worker != 0 ? 1u : 0u;
      EXPECT_EQ(state_.parked().contains(i), known.fate == Fate::parked) << i;
    }
    EXPECT_EQ(state_.unsettled(), unsettled);
    EXPECT_EQ(state_.in_flight(), out);
    EXPECT_EQ(state_.position().value, first == 0 ? state_.read_to().value : first - 1)
        << "moves past what is settled, and no further";
    std::uint64_t shares = 0;
    for (const auto& worker : state_.worker_figures()) {
      EXPECT_LE(worker.in_flight, worker.credit);
      shares += worker.share;
    }
    if (!workers_.empty()) {
      EXPECT_EQ(shares, unsettled) << "every event is somebody's";
    }
  }

  void persist() {
    bytes_ = GroupStateBytes::encode(state_, {3, "fork"}, now_, wall_);
    kept_ = model_;
    kept_now_ = now_;
    kept_wall_ = wall_;
  }
  void restart() {
    began_.clear();
    ++lives_;
    const auto passed = now_ - kept_now_;
    now_ = static_cast<GroupTime>(1 + below(100'000));  // another process, another origin
    wall_ = kept_wall_ + (below(3) == 0 ? static_cast<std::int64_t>(below(200'000'000)) - 100'000'000 : passed);
    auto decoded = GroupStateBytes::decode(bytes_, state_.settings(), now_, wall_, random_(), lives_ * 1'000'000);
    ASSERT_TRUE(decoded) << decoded.error().what;
    EXPECT_EQ(decoded->kept, (GroupKept{3, "fork"}));
    state_ = std::move(decoded->state);
    model_ = kept_;
    for (std::uint64_t i = 1; i <= last(); ++i) {
      auto& event = model_.events[i];
      event.worker = 0;
      event.delivery = 0;
      event.not_before = 0;  // by another clock; that it waits no longer than it may is looked at by drain()
      if (i <= state_.read_to().value) continue;
      EXPECT_TRUE(event.fate == Fate::unread || event.fate == Fate::unsettled)
          << i << " was settled, and is to be read again";
      EXPECT_EQ(event.attempts, 0u) << i << " was tried, and that is forgotten";
      event.fate = Fate::unread;
    }
    workers_.clear();
    heard_.clear();
    compare();
  }

  /// Whoever is there now does what he should: in the end nothing is left.
  void drain() {
    join();
    const auto wait_most = state_.settings().retry_most.count() * 2;
    for (std::size_t round = 0;
         round < 40 * model_.events.size() && (state_.position().value < last() || state_.unsettled() > 0) &&
         !::testing::Test::HasFailure();
         ++round) {
      read();
      for (const auto worker : workers_) {
        hear(worker);
      }
      deliver();
      for (std::uint64_t i = 1; i <= last(); ++i) {
        auto& known = model_.events[i];
        if (known.worker == 0) continue;
        EXPECT_TRUE(state_.acknowledge(GlobalPosition(i), known.delivery, now_));
        settle(i, Fate::acknowledged);
      }
      if (round % 8 == 7 && state_.room() == 0 &&
          state_.in_flight() == 0) {  // blocked by parked ones: an operator comes
        EXPECT_EQ(state_.replay_all(now_), parked_count());
        for (std::uint64_t i = 1; i <= last(); ++i) {
          if (model_.events[i].fate == Fate::parked) release(i);
        }
      }
      if (state_.waiting() > 0) {
        now_ += wait_most;
        for (const auto worker : workers_) hear(worker);
        (void)state_.tick(now_, 7);
        for (const auto worker : std::vector(workers_)) {
          if (!state_.knows(worker)) lose_known(worker);
        }
        if (workers_.empty()) join();
      }
      compare();
    }
    if (state_.settings().after_parked == AfterParked::go_on) {
      EXPECT_EQ(state_.unsettled(), 0u);
    }
    for (std::uint64_t i = 1; i <= last(); ++i) {
      const auto& known = model_.events[i];
      if (!known.matches) continue;
      const bool done = known.fate == Fate::acknowledged || known.fate == Fate::parked || known.fate == Fate::discarded;
      EXPECT_TRUE(done || lane_blocked(known.lane)) << i << " is left over";
    }
    if (!std::ranges::any_of(model_.events, [](const Known& event) { return event.fate == Fate::parked; })) {
      EXPECT_EQ(state_.position().value, last());
    }
  }

  std::mt19937_64 random_;
  GroupTime now_ = 1'000;
  std::int64_t wall_ = 1'700'000'000'000;
  GroupState state_;
  Model model_;
  std::vector<GroupWorkerId> workers_;
  std::set<GroupWorkerId> began_;  ///< those that began anything
  std::map<GroupWorkerId, GroupTime> heard_;
  std::vector<Given> given_;
  std::map<std::uint64_t, bool> seen_deliveries_;
  std::string bytes_;
  Model kept_;
  GroupTime kept_now_ = 0;
  std::int64_t kept_wall_ = 0;
  std::uint64_t lives_ = 1;
};

TEST(GroupWalk, SettlesEveryEventOnceInOrder) {
  const char* asked = std::getenv("EVERSHARD_ROUNDS");
  const auto rounds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 400;
  for (std::uint64_t seed = 1; seed <= rounds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GroupWalk(seed).run(600);
  }
}

}  // namespace
}  // namespace evershard::actors
