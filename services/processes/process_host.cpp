#include "evershard/services/processes/process_host.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "evershard/api/passing_feed.hpp"
#include "evershard/api/settled_place.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

using actors::ProcessActions;
using actors::ProcessDriver;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds feed_wait{200};  ///< also until a home that moved is noticed
constexpr std::chrono::milliseconds pause{200};      ///< after what failed
constexpr std::size_t page_events_max = 1'000;
constexpr std::chrono::milliseconds controls_every{100};  ///< what is wanted is looked for: a read each time

constexpr std::chrono::seconds says_every{10};  ///< that it runs, where nothing changes

}  // namespace

/// One process. A session is its driver's life: from taking the process over until its home is elsewhere.
class ProcessHost::Run {
 public:
  Run(ProcessHost& host, std::shared_ptr<const ProcessDefinition> process, ProcessOptions options, Effects effects)
      : host_(host),
        process_(std::move(process)),
        options_(options),
        effects_(std::move(effects)),
        link_(std::make_shared<Link>(this)),
        log_(ProcessDriver::log_of(*process_)),
        thread_([this] { loop(); }) {}
  ~Run() {
    stop();
    link_->end();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return asked_ == 0; });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(stopping_, true)) return;
      if (feed_) feed_->cancel();
    }
    changed_.notify_all();
    thread_.join();
  }
  [[nodiscard]] const std::string& type() const { return process_->type; }
  [[nodiscard]] ProcessStatus status() const {
    const std::lock_guard lock(mutex_);
    if (driver_) {
      auto status = driver_->status();
      if (status.trouble.empty()) status.trouble = trouble();
      return status;
    }
    ProcessStatus status;
    status.type = process_->type;
    status.position = checkpoint_.position;
    status.read_to = checkpoint_.position;
    status.stopped = checkpoint_.stopped;
    status.trouble = trouble();
    return status;
  }

 private:
  /// What a handler holds: it may say something when nobody listens any more.
  class Link {
   public:
    explicit Link(Run* run) : run_(run) {}
    void end() {
      std::unique_lock lock(mutex_);
      run_ = nullptr;
      unused_.wait(lock, [this] { return users_ == 0; });
    }
    void performed(std::uint64_t session, std::uint64_t number, const Result<std::string>& answer) {
      Run* run = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (run_ == nullptr) return;
        run = run_;
        ++users_;
      }
      run->performed(session, number, answer);  // not under the lock: what follows may be another handler's
      const std::lock_guard lock(mutex_);
      if (--users_ == 0) unused_.notify_all();
    }

   private:
    std::mutex mutex_;
    std::condition_variable unused_;
    Run* run_;
    int users_ = 0;
  };

  void loop() {
    while (wait_for_home()) {
      auto done = session();
      std::unique_lock lock(mutex_);
      driver_.reset();
      ++session_;
      if (stopping_) return;
      if (!done) say(done.error(), lock);
      // Somebody else believes that it is his: one of both is told soon.
      if (over_) changed_.wait_for(lock, pause, [this] { return stopping_; });
    }
  }

  [[nodiscard]] bool is_home() const { return !host_.options_.lives_here || host_.options_.lives_here(log_); }

  bool wait_for_home() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (stopping_) return false;
      lock.unlock();
      const bool home = is_home();
      lock.lock();
      if (home && !stopping_) return true;
      changed_.wait_for(lock, pause, [this] { return stopping_; });
    }
  }

  Result<void> session() {
    // Behind this event nobody who ran it before has an instance react to a rejection.
    const auto taken = host_.events_.append(ProcessDriver::taking_over(*process_));
    if (!taken) return refuse(taken.error());
    const auto found = host_.events_.snapshot(log_);
    if (!found && found.error().code != ErrorCode::corruption) return refuse(found.error());
    ProcessCheckpoint checkpoint;
    if (found && *found) {
      auto read = decode_process_checkpoint((*found)->payload);
      if (read) checkpoint = *std::move(read);
    }
    EVERSHARD_TRY(settle(checkpoint));
    version_ = taken->versions.front().version;
    GlobalPosition retired_at;
    if (auto retiring = ProcessDriver::retiring_others(*process_, options_)) {
      const auto retired = host_.events_.append(*std::move(retiring));
      if (!retired) return refuse(retired.error());
      retired_at = retired->last_position;
    }
    // What was wanted before it began, is before anything begins.
    auto controls = events_of_log(checkpoint.controls_to, taken->last_position);
    if (!controls) return refuse(std::move(controls).error());
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return {};
      trouble_.clear();
      over_ = false;
      checkpoint_ = checkpoint;
      kept_.clear();
      outdated_ = {};
      const auto after = std::max(checkpoint.position, retired_at);
      driver_.emplace(process_, std::move(checkpoint), taken->last_position, options_, effects_.bounds());
      driver_->begin_behind(retired_at);
      ProcessActions none;  // nothing is under way yet
      for (const auto& event : *controls) driver_->control(event, Clock::now(), none);
      controls_feed_.emplace(follow_controls(taken->last_position));
      feed_.emplace(follow(after));
    }
    auto next_checkpoint = Clock::now() + options_.checkpoint_every;
    auto next_controls = Clock::now();
    for (;;) {
      if (Clock::now() >= next_controls) {
        look_at_others();
        read_controls();
        begin_replays();
        next_controls = Clock::now() + controls_every;
      }
      read();
      look_again();
      tell_timer();
      if (Clock::now() >= next_checkpoint) {
        keep_checkpoint();
        next_checkpoint = Clock::now() + options_.checkpoint_every;
      }
      const std::lock_guard lock(mutex_);
      if (stopping_ || over_) break;
      if (!is_home()) break;
    }
    bool ends = false;
    {
      const std::lock_guard lock(mutex_);
      ends = stopping_;  // else somebody else has it, or soon will
    }
    keep_checkpoint(ends);
    return {};
  }

  /// The store may have been restored since: KeptPlace::settle().
  Result<void> settle(ProcessCheckpoint& checkpoint) {
    const auto reached = std::max(checkpoint.position, checkpoint.controls_to);
    const auto settled =
        settle_place(host_.events_, checkpoint.place, reached, host_.options_.fork, standing_in(host_.events_));
    if (!settled) return refuse(settled.error());
    if (!settled->stands) {
      checkpoint.fall_back(settled->position);
      if (host_.options_.warn)
        host_.options_.warn(
            {ErrorCode::invalid_argument, "process " + in_quotes(process_->type) + ": " + settled->why});
    }
    checkpoint.place.set_fork(host_.options_.fork);
    place_ = checkpoint.place;
    return {};
  }

  /// What there is, or, where too much is under way, until there is room.
  void read() {
    auto wait = feed_wait;
    {
      std::unique_lock lock(mutex_);
      if (driver_->is_full()) {
        waits_for_room_ = true;
        changed_.wait_for(lock, feed_wait, [this] { return stopping_ || !driver_->is_full(); });
        waits_for_room_ = false;
        if (stopping_ || driver_->is_full()) return;
      }
      if (const auto wake = driver_->wake_at(); wake != ProcessDriver::never)
        wait = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(wake - Clock::now()),
                          std::chrono::milliseconds(0), feed_wait);
    }
    const auto read_at = rewritten();
    auto item = feed_->next(wait);
    ProcessActions actions;
    std::uint64_t session = 0;
    {
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      if (!item) {  // a node is away: what is under way goes on
        say(item.error(), lock);
        if (!stopping_) feed_.emplace(follow(driver_->status().read_to));
        return;
      }
      trouble_.clear();
      session = session_;
      driver_->events(item->events, item->watermark, Clock::now(), actions, read_at);
    }
    perform(session, std::move(actions));
  }

  [[nodiscard]] EventFeed follow_controls(GlobalPosition after) { return past_damage(controls_of(), after); }
  [[nodiscard]] Query controls_of() const { return Query::of({{{std::string(process_controlled_type)}, {}, {log_}}}); }
  Result<std::vector<RecordedEvent>> events_of_log(GlobalPosition after, GlobalPosition up_to) {
    std::vector<RecordedEvent> all;
    auto events = host_.events_.read(controls_of(), {.after = after, .at_least = up_to});
    for (const auto& event : events) all.push_back(event);
    if (events.error()) return refuse(*events.error());
    return all;
  }

  /// How far its former versions are, until they are where it begins.
  void look_at_others() {
    {
      const std::lock_guard lock(mutex_);
      if (!driver_->waits_for_others()) return;
    }
    std::optional<GlobalPosition> all;
    for (const auto& other : options_.beside) {
      const auto found = host_.events_.snapshot(process_log(other));
      const auto read = found && *found ? decode_process_checkpoint((*found)->payload)
                                        : Result<ProcessCheckpoint>(ProcessCheckpoint{});
      const auto at = read ? read->position : GlobalPosition{0};
      all = all ? std::min(*all, at) : at;
    }
    ProcessActions actions;
    std::uint64_t session = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      session = session_;
      driver_->others_are_at(all.value_or(GlobalPosition{0}), Clock::now(), actions);
    }
    perform(session, std::move(actions));
  }

  /// By themselves: a process that is stopped, or has too much under way, reads no events.
  void read_controls() {
    for (;;) {
      auto item = controls_feed_->next(std::chrono::milliseconds(0));
      ProcessActions actions;
      std::uint64_t session = 0;
      {
        std::unique_lock lock(mutex_);
        if (stopping_) return;
        if (!item) {
          if (std::exchange(controls_trouble_, item.error().what) != item.error().what && host_.options_.warn)
            host_.options_.warn(
                Error(item.error().code,
                      "what is wanted of process " + in_quotes(process_->type) +
                          " (stop, resume, skip) cannot be read, and is tried again: " + item.error().what));
          controls_feed_.emplace(follow_controls(driver_->checkpoint().controls_to));
          return;
        }
        controls_trouble_.clear();
        if (item->events.empty()) return;
        session = session_;
        for (const auto& event : item->events) driver_->control(event, Clock::now(), actions);
      }
      perform(session, std::move(actions));
    }
  }

  void begin_replays() {
    std::vector<ProcessReplay> replays;
    std::uint64_t session = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      replays = driver_->replays_to_begin();
      session = session_;
    }
    for (const auto& replay : replays) {
      const auto read_at = rewritten();
      const auto reaction = host_.events_.event_at(replay.effect.position);
      ProcessActions actions;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        driver_->replay(replay, reaction, Clock::now(), actions, read_at);
      }
      perform(session, std::move(actions));
    }
  }

  /// Why nothing goes on; else which events it passed over. Empty: neither.
  [[nodiscard]] std::string trouble() const {
    if (!trouble_.empty()) return trouble_;
    const std::lock_guard lock(passed_mutex_);
    return passed_over_.text();
  }

  [[nodiscard]] std::uint64_t damaged() const {
    const std::lock_guard lock(passed_mutex_);
    return passed_over_.count();
  }

  /// Warns, once of the same, and waits.
  void say(const Error& error, std::unique_lock<std::mutex>& lock) {
    if (std::exchange(trouble_, error.what) != error.what && host_.options_.warn)
      host_.options_.warn(Error(error.code, "process " + in_quotes(process_->type) + ": " + error.what));
    changed_.wait_for(lock, pause, [this] { return stopping_; });
  }

  [[nodiscard]] EventFeed follow(GlobalPosition after) { return past_damage(ProcessDriver::query(*process_), after); }
  /// An event that cannot be read stops no process: it reacts to those beside it.
  [[nodiscard]] EventFeed past_damage(Query query, GlobalPosition after) {
    return follow_past_damage(
        host_.events_, std::move(query), {.after = after, .page_events_max = page_events_max},
        [this](GlobalPosition position, const Error& why) {
          {
            const std::lock_guard lock(passed_mutex_);
            passed_over_.add(position, why);
          }
          if (host_.options_.warn)
            host_.options_.warn(Error(why.code, "process " + in_quotes(process_->type) + " passes over event " +
                                                    std::to_string(position.value) + ": " + why.what));
        });
  }

  void tell_timer() {
    ProcessActions actions;
    std::uint64_t session = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      session = session_;
      driver_->timer(Clock::now(), actions);
    }
    perform(session, std::move(actions));
  }

  [[nodiscard]] std::uint64_t rewritten() const { return host_.options_.rewritten ? host_.options_.rewritten() : 0; }

  // Not under the lock: an answer may come from within. What a driver wanted that is gone by now, the next one does:
  // the answer would come to that one, under a number of its own.
  void perform(std::uint64_t session, ProcessActions actions) {
    {
      const std::lock_guard lock(mutex_);
      if (session != session_) return;
      if (actions.over) over_ = true;
      if (stopping_ || over_) return;
      asked_ += actions.asks.size();
    }
    begin(session, std::move(actions));
  }

  /// Events were removed or payloads erased since it was read: who answers must not wait for the disk.
  template <class One>
  [[nodiscard]] bool put_aside(std::uint64_t session, One& one, std::vector<One>& outdated) {
    if (one.read_at == rewritten()) return false;
    const std::lock_guard lock(mutex_);
    if (session == session_ && !stopping_ && !over_) outdated.push_back(std::move(one));
    return true;
  }

  /// What was put aside goes on where the event by which it was wanted is as it was; is passed over where that is gone;
  /// and is looked at again where it cannot be read just now.
  void look_again() {
    ProcessActions outdated;
    std::uint64_t session = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      outdated = std::exchange(outdated_, {});
      session = session_;
    }
    for (auto& one : outdated.asks) look_again(session, std::move(one), &ProcessActions::asks);
    for (auto& one : outdated.performs) look_again(session, std::move(one), &ProcessActions::performs);
  }

  /// It begins before the next one is looked at: that may take long, and something may be removed meanwhile.
  template <class One>
  void look_again(std::uint64_t session, One one, std::vector<One> ProcessActions::*among) {
    {
      const std::lock_guard lock(mutex_);
      if (session != session_ || stopping_ || over_) return;
    }
    one.read_at = rewritten();
    const auto event = host_.events_.event_at(one.because);
    ProcessActions next;
    if (event && event->state == EventState::live) {
      (next.*among).push_back(std::move(one));
    } else {
      const std::lock_guard lock(mutex_);
      if (session != session_ || stopping_ || over_) return;
      if (!event && event.error().code != ErrorCode::not_found) {
        (outdated_.*among).push_back(std::move(one));
        return;
      }
      driver_->gone(one.number, Clock::now(), next);
    }
    perform(session, std::move(next));
  }

  void begin(std::uint64_t session, ProcessActions actions) {
    for (auto& ask : actions.asks) {
      if (put_aside(session, ask, outdated_.asks)) {
        not_asked();
        continue;
      }
      host_.door_().ask_bytes(
          ask.aggregate, std::move(ask.type), std::move(ask.bytes),
          {.command_id = std::move(ask.command_id), .fail_if = std::move(ask.fail_if), .chain = ask.chain},
          [this, session, number = ask.number](const AnyAnswer& answer) { answered(session, number, answer); });
    }
    for (auto& one : actions.performs) {
      if (put_aside(session, one, outdated_.performs)) continue;
      effects_.perform(one.effect.type, one.effect.payload, one.attempt,
                       [link = link_, session, number = one.number](const Result<std::string>& answer) {
                         link->performed(session, number, answer);
                       });
    }
  }

  void not_asked() {
    const std::lock_guard lock(mutex_);
    --asked_;
    // Under the lock: who waits for it may be gone behind it.
    if (stopping_ || (waits_for_room_ && driver_ && !driver_->is_full())) changed_.notify_all();
  }

  void performed(std::uint64_t session, std::uint64_t number, const Result<std::string>& answer) {
    ProcessActions actions;
    {
      const std::lock_guard lock(mutex_);
      if (session == session_ && driver_ && !stopping_) driver_->performed(number, answer, Clock::now(), actions);
    }
    if (!actions.asks.empty() || !actions.performs.empty()) perform(session, std::move(actions));
  }

  void answered(std::uint64_t session, std::uint64_t number, const AnyAnswer& answer) {
    ProcessActions actions;
    {
      const std::lock_guard lock(mutex_);
      if (session == session_ && driver_ && !stopping_) driver_->answered(number, answer, Clock::now(), actions);
    }
    if (!actions.asks.empty() || !actions.performs.empty() || actions.over) perform(session, std::move(actions));
    not_asked();
  }

  /// What is lost of it is done again.
  void keep_checkpoint(bool ends = false) {
    Snapshot snapshot;
    ProcessCheckpoint checkpoint;
    {
      const std::lock_guard lock(mutex_);
      checkpoint = driver_->checkpoint();
      if (checkpoint.trouble.empty()) checkpoint.trouble = trouble();
      checkpoint.figures.damaged = damaged();
    }
    checkpoint.runs_at = host_.options_.name;
    checkpoint.ended = ends;
    if (place_.marks().empty() || checkpoint.position > place_.marks().back().position) {
      // An event that cannot be read is no mark: the next one is.
      if (const auto there = host_.events_.event_at(checkpoint.position)) place_.add({checkpoint.position, there->id});
    }
    checkpoint.place = place_;
    auto bytes = encode(checkpoint);
    if (bytes == kept_ && Clock::now() - kept_at_ < says_every) return;
    snapshot.aggregate = log_;
    snapshot.version = version_;
    snapshot.payload = bytes;
    snapshot.format = PayloadFormat::protobuf;
    snapshot.keep = 0;  // those of earlier sessions
    const auto kept = host_.events_.put_snapshot(std::move(snapshot));
    if (!kept && !std::exchange(said_unkept_, true) && host_.options_.warn)
      host_.options_.warn(Error(kept.error().code, "how far process " + in_quotes(process_->type) +
                                                       " is cannot be kept, and it is tried again: what it does "
                                                       "meanwhile is done once more after a crash: " +
                                                       kept.error().what));
    if (!kept) return;
    said_unkept_ = false;
    kept_ = std::move(bytes);
    kept_at_ = Clock::now();
    const std::lock_guard lock(mutex_);
    checkpoint_ = std::move(checkpoint);
  }

  ProcessHost& host_;
  const std::shared_ptr<const ProcessDefinition> process_;
  const ProcessOptions options_;
  const Effects effects_;
  const std::shared_ptr<Link> link_;
  const AggregateId log_;
  SeqNr version_;    ///< of it, as this session took it over
  KeptPlace place_;  ///< the thread's own

  mutable std::mutex passed_mutex_;  ///< under mutex_, where both are held
  PassedOver passed_over_;           ///< since it runs here
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool over_ = false;
  bool waits_for_room_ = false;
  std::string trouble_;
  std::string controls_trouble_;  ///< what was said of the feed of what is wanted of it
  ProcessCheckpoint checkpoint_;
  std::string kept_;  ///< as bytes: what is the same is seldom written again
  Clock::time_point kept_at_{};
  bool said_unkept_ = false;  ///< that it cannot be kept, since it could
  std::uint64_t session_ = 0;
  std::size_t asked_ = 0;    ///< commands that are not answered
  ProcessActions outdated_;  ///< to be looked at again before it is begun
  std::optional<ProcessDriver> driver_;
  std::optional<EventFeed> feed_;
  std::optional<EventFeed> controls_feed_;
  std::thread thread_;
};

ProcessHost::ProcessHost(EventStore& events, std::function<AggregateDoor&()> door, ProcessHostOptions options)
    : events_(events), door_(std::move(door)), options_(std::move(options)) {}

ProcessHost::~ProcessHost() { stop(); }

Result<void> ProcessHost::run(std::shared_ptr<const ProcessDefinition> process, ProcessOptions options,
                              Effects effects) {
  EVERSHARD_TRY(ProcessDriver::check(*process, options, effects));
  const std::lock_guard lock(mutex_);
  if (stopped_) return refuse(ErrorCode::unavailable, "the store is closed");
  if (std::ranges::any_of(runs_, [&](const auto& run) { return run->type() == process->type; }))
    return refuse(ErrorCode::invalid_argument, "process " + in_quotes(process->type) + " runs already");
  runs_.push_back(std::make_unique<Run>(*this, std::move(process), options, std::move(effects)));
  return {};
}

std::vector<ProcessStatus> ProcessHost::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<ProcessStatus> status;
  for (const auto& run : runs_) status.push_back(run->status());
  return status;
}

void ProcessHost::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& run : runs_) run->stop();
}

}  // namespace evershard::cluster
