// Network: virtual time, and messages that are lost, doubled, late and out of order.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace evershard::simulation {

class Network {
 public:
  using Microseconds = std::uint64_t;
  static constexpr Microseconds millisecond = 1'000;
  static constexpr Microseconds second = 1'000'000;
  /// Who sends and receives: nodes from 1, coordinators from 1'000, clients from 1'000'000.
  using Endpoint = std::uint64_t;
  static constexpr Endpoint clients = 1'000'000;

  explicit Network(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] Microseconds now() const { return now_; }
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return pick(n) == 0; }

  /// Something happens after a time.
  void after(Microseconds delay, std::function<void()> what) {
    queue_.emplace(std::pair(now_ + delay, sequence_++), std::move(what));
  }
  void send(Endpoint from, Endpoint to, std::function<void()> received) {
    if (faulty_ && from < clients && to < clients) remember({from, to, received});
    if (faulty_ && one_in(40)) return;
    for (int copies = faulty_ && one_in(25) ? 2 : 1; copies != 0; --copies) {
      after(delay(), [this, from, to, received] {
        if (reaches(from, to)) received();
      });
    }
  }
  /// Lost and late, never twice: an answer that somebody waits for.
  void send_once(Endpoint from, Endpoint to, std::function<void()> received) {
    if (faulty_ && one_in(40)) return;
    after(delay(), [this, from, to, received = std::move(received)] {
      if (reaches(from, to)) received();
    });
  }
  /// Twice, late and out of order, but not lost in silence: as within a session, which ends instead.
  void send_in_session(Endpoint from, Endpoint to, std::function<void()> received, std::function<void()> lost) {
    if (faulty_) remember({from, to, received});
    if (faulty_ && one_in(60)) return after(delay(), std::move(lost));
    for (int copies = faulty_ && one_in(25) ? 2 : 1; copies != 0; --copies) {
      after(delay(), [this, from, to, received, lost] { reaches(from, to) ? received() : lost(); });
    }
  }
  /// Something that was sent long ago, between nodes and coordinators, comes again.
  void echo() {
    if (!faulty_ || sent_.empty()) return;
    const Sent& again = sent_[pick(sent_.size())];
    after(delay(), [this, again] {
      if (reaches(again.from, again.to)) again.received();
    });
  }
  [[nodiscard]] bool reaches(Endpoint from, Endpoint to) const {
    return !cut_off_.contains(from) && !cut_off_.contains(to);
  }
  void cut_off(Endpoint who) { cut_off_.insert(who); }
  void join(Endpoint who) { cut_off_.erase(who); }
  /// No more faults; what is under way arrives.
  void heal() {
    faulty_ = false;
    cut_off_.clear();
  }

  [[nodiscard]] bool idle() const { return queue_.empty(); }
  /// The next thing happens.
  void step() {
    auto first = queue_.extract(queue_.begin());
    now_ = first.key().first;
    first.mapped()();
  }

 private:
  struct Sent {
    Endpoint from;
    Endpoint to;
    std::function<void()> received;
  };
  static constexpr std::size_t sent_max = 400;

  void remember(Sent sent) {
    if (sent_.size() < sent_max) {
      sent_.push_back(std::move(sent));
    } else if (one_in(3)) {
      sent_[pick(sent_max)] = std::move(sent);
    }
  }
  Microseconds delay() {
    if (faulty_ && one_in(50)) return pick(3 * second);  // long after its session
    return millisecond / 5 + pick(one_in(5) ? 30 * millisecond : 3 * millisecond);
  }

  std::mt19937_64 random_;
  std::map<std::pair<Microseconds, std::uint64_t>, std::function<void()>> queue_;
  std::uint64_t sequence_ = 0;
  Microseconds now_ = 0;
  bool faulty_ = true;
  std::vector<Sent> sent_;
  std::set<Endpoint> cut_off_;
};

}  // namespace evershard::simulation
