#include "tests/history/history.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace evershard::testing {
namespace {

std::string at(GlobalPosition position) { return "position " + std::to_string(position.value); }

/// Goes through everything once; the log is indexed first.
class HistoryCheck {
 public:
  HistoryCheck(const History& history, const std::vector<RecordedEvent>& log) : history_(history), log_(log) {}

  std::vector<std::string> run() {
    check_log();
    find_requests();
    for (std::size_t i = 0; i != history_.appends.size(); ++i) check_append(i);
    replay();
    check_real_time();
    for (std::size_t i = 0; i != history_.appends.size(); ++i) check_refusal(i);
    for (const auto& read : history_.reads) check_read(read);
    for (const auto& follow : history_.follows)
      check_seen("a subscription", follow.query, follow.after, follow.watermark, follow.events);
    return std::move(faults_);
  }

 private:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  void fault(std::string what) { faults_.push_back(std::move(what)); }
  [[nodiscard]] bool is_others(const RecordedEvent& event) const {
    return event.aggregate && history_.others.contains(event.aggregate->type);
  }
  [[nodiscard]] std::string name(std::size_t request) const {
    return "request \"" + history_.appends[request].append.events.front().payload + "\"";
  }

  void check_log() {
    for (std::size_t i = 0; i != log_.size(); ++i)
      if (log_[i].position.value != i + 1)
        return fault("I-Dense: event " + std::to_string(i + 1) + " of the log stands at " + at(log_[i].position));
  }

  static std::string key(const std::string& type, const std::string& payload) { return type + '\n' + payload; }

  // Whose event each one of the log is, by type and payload.
  void find_requests() {
    std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> whose;
    for (std::size_t r = 0; r != history_.appends.size(); ++r) {
      const auto& events = history_.appends[r].append.events;
      for (std::size_t e = 0; e != events.size(); ++e) {
        if (!whose.emplace(key(events[e].type, events[e].payload), std::pair(r, e)).second)
          fault("the history itself: two events are alike, " + name(r));
      }
    }
    first_of_.assign(history_.appends.size(), GlobalPosition{0});
    request_at_.assign(log_.size(), nobody);
    std::vector<std::vector<bool>> seen(history_.appends.size());
    for (std::size_t i = 0; i != log_.size(); ++i) {
      const auto& event = log_[i];
      const auto found = whose.find(key(event.type, event.payload));
      if (found == whose.end()) {
        if (is_others(event)) continue;
        fault("I-Once: " + at(event.position) + " holds \"" + event.payload + "\", which nobody sent");
        continue;
      }
      const auto [r, e] = found->second;
      auto& own = seen[r];
      own.resize(history_.appends[r].append.events.size());
      if (own[e]) {
        fault("I-Once: " + at(event.position) + " holds \"" + event.payload + "\" once more");
        continue;
      }
      own[e] = true;
      request_at_[i] = r;
      for (const auto& tag : event.tags) tagged_[tag].push_back(event.position);
      const GlobalPosition first{event.position.value - e};
      if (first_of_[r].value == 0) first_of_[r] = first;
      if (first != first_of_[r])
        fault("I-Together: \"" + event.payload + "\" stands at " + at(event.position) +
              ", not with the rest of its append from " + at(first_of_[r]));
      check_content(history_.appends[r].append.events[e], event);
    }
    for (std::size_t r = 0; r != seen.size(); ++r) {
      const auto there = std::ranges::count(seen[r], true);
      if (there != 0 && static_cast<std::size_t>(there) != history_.appends[r].append.events.size())
        fault("I-Atomic: " + std::to_string(there) + " of " + std::to_string(history_.appends[r].append.events.size()) +
              " events are there, of " + name(r));
    }
  }

  void check_content(const Event& sent, const RecordedEvent& stored) {
    auto tags = sent.tags;
    std::ranges::sort(tags);
    tags.erase(std::ranges::unique(tags).begin(), tags.end());
    if (sent.aggregate != stored.aggregate || tags != stored.tags)
      fault("I-Durable: " + at(stored.position) + " has another aggregate or other tags than were sent");
  }

  void check_append(std::size_t r) {
    const auto& asked = history_.appends[r];
    if (!asked.acknowledged) return;
    const auto& said = *asked.acknowledged;
    const auto count = asked.append.events.size();
    if (first_of_[r].value == 0)
      return fault("I-Durable: acknowledged at " + at(said.first_position) + " and not there, " + name(r));
    if (first_of_[r] != said.first_position || said.last_position != said.first_position + (count - 1))
      return fault("I-Durable: acknowledged at " + at(said.first_position) + " to " + at(said.last_position) +
                   ", it stands at " + at(first_of_[r]) + ", " + name(r));
    for (const auto& version : said.versions) {
      SeqNr last{0};
      for (std::size_t e = 0; e != count; ++e)
        if (const auto* event = event_at(said.first_position + e);
            event != nullptr && event->aggregate == version.aggregate)
          last = event->seq_nr;
      if (last != version.version)
        fault("I-Version: " + version.aggregate.text() + " was said to be at " + std::to_string(version.version.value) +
              ", it is at " + std::to_string(last.value) + ", " + name(r));
    }
  }

  [[nodiscard]] const RecordedEvent* event_at(GlobalPosition position) const {
    return position.value == 0 || position.value > log_.size() ? nullptr : &log_[position.value - 1];
  }

  // In order of position: numbers within aggregates, expectations and conditions where each append stands.
  void replay() {
    for (std::size_t i = 0; i != log_.size(); ++i) {
      const auto& event = log_[i];
      const auto r = request_at_[i];
      if (r != nobody && first_of_[r] == event.position) check_holds(r, event.position);
      if (!event.aggregate) continue;
      auto& made = made_[event.aggregate->text()];
      made.push_back(event.position);
      if (event.seq_nr != SeqNr{made.size()})
        fault("I-Version: " + at(event.position) + " is number " + std::to_string(event.seq_nr.value) + " of " +
              event.aggregate->text() + ", " + std::to_string(made.size()) + " was next");
    }
  }

  /// Strictly between the two. By tags where the query has some: conditions are many, and their events few.
  [[nodiscard]] std::optional<GlobalPosition> first_match(const Query& query, GlobalPosition after,
                                                          GlobalPosition before) const {
    static const std::vector<GlobalPosition> none;
    std::optional<GlobalPosition> first;
    const auto look = [&](GlobalPosition position) {
      if (position > after && position < before && (!first || position < *first) &&
          query.matches(log_[position.value - 1]))
        first = position;
    };
    const bool by_tags =
        !query.is_all() && std::ranges::none_of(query.items(), [](const QueryItem& item) { return item.tags.empty(); });
    if (!by_tags) {
      for (auto position = after + 1; position < before && !first; ++position) look(position);
      return first;
    }
    for (const auto& item : query.items()) {
      const auto found = tagged_.find(item.tags.front());
      for (const auto position : found == tagged_.end() ? none : found->second) look(position);
    }
    return first;
  }

  void check_holds(std::size_t r, GlobalPosition first) {
    const auto& append = history_.appends[r].append;
    for (const auto& expected : append.expectations) {
      const auto made = made_.find(expected.aggregate.text());
      const SeqNr version{made == made_.end() ? 0 : made->second.size()};
      if (!expected.version.holds_for(version))
        fault("I-Version: " + expected.aggregate.text() + " was at " + std::to_string(version.value) + " where " +
              name(r) + " stands, it expects " + expected.version.text());
    }
    for (const auto& condition : append.conditions) {
      if (const auto match = first_match(condition.query, condition.after, first))
        fault("I-Condition: " + at(*match) + " matches a condition of " + name(r) + ", which stands at " + at(first));
    }
  }

  void check_real_time() {
    std::vector<std::size_t> by_end, by_begin;
    for (std::size_t r = 0; r != history_.appends.size(); ++r) {
      if (history_.appends[r].acknowledged) by_end.push_back(r);
      if (first_of_[r].value != 0) by_begin.push_back(r);
    }
    std::ranges::sort(by_end, {}, [&](std::size_t r) { return history_.appends[r].ended; });
    std::ranges::sort(by_begin, {}, [&](std::size_t r) { return history_.appends[r].began; });
    GlobalPosition behind;
    auto ended = by_end.begin();
    for (const auto r : by_begin) {
      for (; ended != by_end.end() && history_.appends[*ended].ended < history_.appends[r].began; ++ended)
        behind = std::max(behind, history_.appends[*ended].acknowledged->last_position);
      if (first_of_[r] <= behind)
        fault("I-RealTime: " + name(r) + " stands at " + at(first_of_[r]) + ", it began after " + at(behind) +
              " was acknowledged");
    }
  }

  /// Up to here everything was acknowledged before this moment.
  [[nodiscard]] GlobalPosition acknowledged_before(Moment moment) const {
    GlobalPosition last;
    for (const auto& append : history_.appends)
      if (append.acknowledged && append.ended < moment) last = std::max(last, append.acknowledged->last_position);
    return last;
  }
  /// Whether the event can have been there before this moment: it was asked for by then.
  [[nodiscard]] bool may_be_there(GlobalPosition position, Moment moment) const {
    const auto r = request_at_[position.value - 1];
    return r == nobody || history_.appends[r].began < moment;
  }

  void check_refusal(std::size_t r) {
    const auto& asked = history_.appends[r];
    if (!asked.refused) return;
    const auto& error = *asked.refused;
    const auto* details = error.details.get();
    if (error.code == ErrorCode::condition_failed) {
      if (there_all_the_same(r)) return;
      if (details == nullptr || !details->condition || !details->position ||
          *details->condition >= asked.append.conditions.size())
        return fault("I-Honest: no condition and position are named: " + error.what + ", " + name(r));
      const auto& condition = asked.append.conditions[*details->condition];
      const auto* witness = event_at(*details->position);
      if (witness == nullptr || witness->position <= condition.after || !condition.query.matches(*witness))
        return fault("I-Honest: " + at(*details->position) + " breaks no condition of " + name(r));
      if (!may_be_there(witness->position, asked.ended))
        fault("I-Honest: " + at(witness->position) + " was asked for after " + name(r) + " was refused by it");
      return;
    }
    if (error.code != ErrorCode::version_conflict)
      return fault("I-Honest: " + name(r) + " was refused with " + std::string(name_of(error.code)) + ": " +
                   error.what);
    if (details == nullptr || !details->aggregate || !details->actual)
      return fault("I-Honest: no aggregate and version are named: " + error.what + ", " + name(r));
    const auto expected = std::ranges::find(asked.append.expectations, *details->aggregate, &Expectation::aggregate);
    if (expected == asked.append.expectations.end() || expected->version.holds_for(*details->actual))
      return fault("I-Honest: the version named is as expected: " + error.what + ", " + name(r));
    const bool may_come =
        expected->version.kind() == ExpectedVersion::Kind::exactly && *details->actual < expected->version.number();
    const bool may_exist = expected->version.kind() == ExpectedVersion::Kind::exists;
    // A try that was slow on its way may have found, later, what was missing for the one that was refused.
    if (!(asked.tries > 1 && (may_come || may_exist)) && there_all_the_same(r)) return;
    static const std::vector<GlobalPosition> none;
    const auto found = made_.find(details->aggregate->text());
    const auto& made = found == made_.end() ? none : found->second;
    const auto actual = details->actual->value;
    if (actual > made.size())
      return fault("I-Honest: " + details->aggregate->text() + " was never at " + std::to_string(actual) + ": " +
                   error.what);
    if (actual != 0 && !may_be_there(made[actual - 1], asked.ended))
      fault("I-Honest: " + at(made[actual - 1]) + " was asked for after " + name(r) + " was refused by it");
    if (actual < made.size() && made[actual] <= acknowledged_before(asked.began))
      fault("I-Honest: " + details->aggregate->text() + " was beyond " + std::to_string(actual) + " at " +
            at(made[actual]) + ", acknowledged before " + name(r) + " began");
  }

  bool there_all_the_same(std::size_t r) {
    if (first_of_[r].value == 0) return false;
    fault("I-Honest: refused and there, at " + at(first_of_[r]) + ", " + name(r));
    return true;
  }

  void check_read(const HistoryRead& read) {
    auto until = read.watermark;
    if (read.options.at_least && until < *read.options.at_least)
      fault("I-NoSkip: a read that waits for " + at(*read.options.at_least) + " is bounded by " + at(until));
    if (read.options.up_to) until = std::min(until, *read.options.up_to);
    check_seen("a read", read.query, read.options.after, until, read.events);
    for (const auto& event : read.events) {
      if (event_at(event.position) == nullptr || may_be_there(event.position, read.ended)) continue;
      return fault("I-RealTime: a read found " + at(event.position) + " before it was asked for");
    }
  }

  void check_seen(const std::string& who, const Query& query, GlobalPosition after, GlobalPosition until,
                  const std::vector<RecordedEvent>& events) {
    if (until.value > log_.size())
      return fault("I-Durable: " + who + " is bounded by " + at(until) + ", the log ends with " +
                   at(GlobalPosition{log_.size()}));
    auto seen = events.begin();
    const auto pass_over = [&] {
      while (seen != events.end() && is_others(*seen)) ++seen;
    };
    for (auto position = after + 1; position <= until; ++position) {
      const auto& event = log_[position.value - 1];
      pass_over();
      if (is_others(event) || !query.matches(event)) continue;
      if (seen == events.end() || seen->position > position)
        return fault("I-NoSkip: " + who + " up to " + at(until) + " skips " + at(position));
      if (!(*seen == event))
        return fault("I-NoSkip: " + who + " has at " + at(seen->position) +
                     " what is not there, or at another place: \"" + seen->payload + "\"");
      ++seen;
    }
    pass_over();
    if (seen != events.end()) fault("I-NoSkip: " + who + " up to " + at(until) + " goes on with " + at(seen->position));
  }

  const History& history_;
  const std::vector<RecordedEvent>& log_;
  std::vector<std::string> faults_;
  std::vector<GlobalPosition> first_of_;  ///< of each request; 0: not there
  std::vector<std::size_t> request_at_;   ///< of each event of the log
  std::unordered_map<std::string, std::vector<GlobalPosition>> tagged_;
  std::map<std::string, std::vector<GlobalPosition>>
      made_;  ///< of each aggregate: where its versions 1, 2, 3 were made
};

}  // namespace

std::vector<std::string> faults_of(const History& history, const std::vector<RecordedEvent>& log) {
  return HistoryCheck(history, log).run();
}

}  // namespace evershard::testing
