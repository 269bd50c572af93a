// `evershard group work`: a worker of a group: events out, settlements in; or a command of the user's an event.

#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "evershard/api/json/group_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/event_command.hpp"
#include "evershard/cli/events/line_reader.hpp"
#include "evershard/cli/groups/group_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/type_flags.hpp"

namespace evershard::cli {
namespace {

constexpr auto look_every = std::chrono::milliseconds(20);
constexpr int status_park = 65;  // EX_DATAERR: what is wrong with the event is wrong the next time too
constexpr std::size_t settlement_bytes_max = 64u << 10;
constexpr std::uint64_t wait_ms_max =
    std::numeric_limits<std::uint32_t>::max();  ///< what is in a message; a group takes less

Options group_work_options() {
  Options options = store_options();
  options.argument("NAME", "the group's name");
  options.value("worker", "NAME", "the worker's name in lists; without it, this machine and process")
      .number("credit", "N", "how many events the worker may hold at a time; with --exec, one", GroupJoin{}.credit)
      .value("exec", "CMD",
             "a command that sh runs for each event, which it reads from standard input; status 0 acknowledges, 65 "
             "parks, any other rejects")
      .duration("timeout-ms", "how long the command may take; then it is killed and the event rejected; 0: for ever",
                group_time_rule, std::chrono::milliseconds(0))
      .value("limit", "N", "end after this many events were settled")
      .duration("idle-ms", "end when no event came for this long", group_time_rule);
  add_type_flags(options);
  return options;
}

/// One line of standard input: {"begin":17}, {"acknowledge":17}, {"reject":17,"reason":"..","after_ms":5000},
/// {"park":17,"reason":".."}, {"renew":17}.
struct Said {
  std::optional<GroupSettlement::Kind> kind{};  ///< absent: renew
  GlobalPosition position{};
  std::string reason{};
  std::optional<std::chrono::milliseconds> after{};
};

Result<Said> read_said(std::string_view line) {
  const auto json = JsonValue::parse(line);
  if (!json) return refuse(json.error());
  Said said;
  int verbs = 0;
  EVERSHARD_TRY(json->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "reason") {
      auto text = value.string();
      if (!text) return refuse(std::move(text).error());
      said.reason = *std::move(text);
      return {};
    }
    if (key != "after_ms" && key != "acknowledge" && key != "reject" && key != "park" && key != "renew" &&
        key != "begin")
      return json->unknown_key(key, {"begin", "acknowledge", "reject", "park", "renew", "reason", "after_ms"});
    const auto number = value.number();
    if (!number) return refuse(number.error());
    if (key == "after_ms") {
      if (*number > wait_ms_max) return value.wrong("that is too great");
      said.after = std::chrono::milliseconds(*number);
      return {};
    }
    ++verbs;
    said.position = GlobalPosition(*number);
    if (key == "acknowledge")
      said.kind = GroupSettlement::Kind::acknowledge;
    else if (key == "reject")
      said.kind = GroupSettlement::Kind::reject;
    else if (key == "park")
      said.kind = GroupSettlement::Kind::park;
    else if (key == "begin")
      said.kind = GroupSettlement::Kind::begin;
    return {};
  }));
  if (verbs != 1) return json->wrong("one of begin, acknowledge, reject, park and renew, with the position");
  return said;
}

/// Standard input, line by line, by a thread of its own.
class SaidLines {
 public:
  SaidLines() : reader_([this] { read(); }) {}
  ~SaidLines() {
    stop_ = true;
    reader_.join();
  }
  struct Line {
    std::uint64_t number;
    std::string text;
  };
  std::deque<Line> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  [[nodiscard]] bool ended() const { return ended_; }
  std::optional<Error> trouble() {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }

 private:
  void read() {
    LineReader lines(0, settlement_bytes_max, [this] { return stop_.load(); });
    while (!stop_) {
      auto line = lines.next();
      const std::lock_guard lock(mutex_);
      if (!line)
        trouble_ = line.error();
      else if (line->kind == LineReader::Kind::too_long)
        trouble_ =
            Error(ErrorCode::too_large, "line " + std::to_string(line->number) + " is too long for a settlement");
      else if (line->kind == LineReader::Kind::line)
        lines_.push_back({line->number, std::string(line->text)});
      else
        break;
      if (trouble_) break;
    }
    ended_ = true;
  }

  std::mutex mutex_;
  std::deque<Line> lines_;
  std::optional<Error> trouble_;
  std::atomic<bool> ended_{false}, stop_{false};
  std::thread reader_;
};

class GroupWork {
 public:
  GroupWork(const Invocation& invocation, GroupWorker worker, const PayloadTypes& types)
      : invocation_(invocation),
        worker_(std::move(worker)),
        types_(types),
        limit_(invocation.arguments.number("limit")),
        idle_(invocation.arguments.duration("idle-ms")) {}

  Outcome by_lines() {
    SaidLines lines;
    while (!done()) {
      const bool ended = lines.ended();
      const auto said = lines.take();
      for (const auto& line : said) {
        if (auto heard = hear(line); !heard) return heard;
      }
      if (const auto trouble = lines.trouble()) return Failed(Failure(*trouble));
      if (ended && said.empty()) break;
      if (auto given = next(look_every, [this](const GroupDelivery& delivery) { return show(delivery); }); !given)
        return given;
    }
    return told();
  }

  Outcome by_command(const std::string& command) {
    const auto timeout = *invocation_.arguments.duration("timeout-ms");
    while (!done()) {
      if (auto given =
              next(look_every * 5, [&](const GroupDelivery& delivery) { return run(command, timeout, delivery); });
          !given)
        return given;
    }
    return told();
  }

 private:
  bool done() const {
    if (interrupted() || invocation_.out.ended() || (limit_ && settled_ >= *limit_)) return true;
    return idle_ && out_.empty() && std::chrono::steady_clock::now() - last_ >= *idle_;
  }
  Outcome told() const {
    if (!interrupted()) return {};
    return Failed(
        Failure(ErrorCode::cancelled, "stopped after " + std::to_string(settled_) +
                                          " events were settled; the others are given to whoever comes next"));
  }

  template <class Give>
  Outcome next(std::chrono::milliseconds wait, Give give) {
    auto delivery = worker_.next(wait);
    if (!delivery) return Failed(Failure(std::move(delivery).error()));
    if (!*delivery) return {};
    last_ = std::chrono::steady_clock::now();
    return give(**delivery);
  }

  Outcome show(const GroupDelivery& delivery) {
    out_[delivery.event.position] = delivery;
    write(delivery);
    invocation_.out.write(json_.text());
    invocation_.out.write("\n");
    invocation_.out.flush();
    return {};
  }
  void write(const GroupDelivery& delivery) {
    json_.clear();
    write_delivery(json_, delivery, types_);
  }

  Outcome hear(const SaidLines::Line& line) {
    last_ = std::chrono::steady_clock::now();
    const auto said = read_said(line.text);
    if (!said) {
      Failure failure(said.error());
      failure.line = line.number;
      return Failed(std::move(failure));
    }
    if (!said->kind) {
      // Where that fails, settling the event says so.
      (void)worker_.renew({said->position});
      return {};
    }
    const auto found = out_.find(said->position);
    if (found == out_.end()) {
      Failure failure(ErrorCode::invalid_argument, "position " + std::to_string(said->position.value) +
                                                       " was not given to this worker, or is settled already");
      failure.line = line.number;
      return Failed(std::move(failure));
    }
    if (*said->kind == GroupSettlement::Kind::begin) {
      worker_.begin(found->second);
      return {};
    }
    if (settle(found->second, *said->kind, said->reason, said->after)) out_.erase(found);
    return {};
  }

  Outcome run(const std::string& command, std::chrono::milliseconds timeout, const GroupDelivery& delivery) {
    write(delivery);
    const auto& event = delivery.event;
    std::vector<std::pair<std::string, std::string>> environment{
        {"EVERSHARD_POSITION", std::to_string(event.position.value)},
        {"EVERSHARD_TYPE", event.type},
        {"EVERSHARD_AGGREGATE", event.aggregate ? event.aggregate->text() : ""},
        {"EVERSHARD_ATTEMPT", std::to_string(delivery.attempt)}};
    auto renewed = std::chrono::steady_clock::now();
    const auto end = run_event_command(command, json_.text() + "\n", environment, timeout, [&] {
      if (std::chrono::steady_clock::now() - renewed >= worker_.lease() / 4) {
        renewed = std::chrono::steady_clock::now();
        (void)worker_.renew();  // where that fails, settling says so
      }
      return !interrupted();
    });
    if (!end) return Failed(Failure(end.error()));
    if (end->killed && interrupted()) return {};  // it leaves: no attempt
    const auto reason = end->killed ? "the command took longer than " + text_of_duration(timeout)
                                    : "the command ended with status " + std::to_string(end->status);
    if (!end->killed && end->status == 0)
      settle(delivery, GroupSettlement::Kind::acknowledge, {}, {});
    else if (!end->killed && end->status == status_park)
      settle(delivery, GroupSettlement::Kind::park, reason, {});
    else
      settle(delivery, GroupSettlement::Kind::reject, reason, {});
    return {};
  }

  /// And says how it went, on standard output beside the events.
  /// Returns: false: it was refused and is this worker's still, to be settled in another way; what else was refused
  /// comes again, or is somebody else's.
  bool settle(const GroupDelivery& delivery, GroupSettlement::Kind kind, const std::string& reason,
              std::optional<std::chrono::milliseconds> after) {
    const auto result = kind == GroupSettlement::Kind::acknowledge ? worker_.acknowledge(delivery)
                        : kind == GroupSettlement::Kind::reject    ? worker_.reject(delivery, reason, after)
                                                                   : worker_.park(delivery, reason);
    static constexpr const char* words[] = {"acknowledged", "rejected", "parked"};
    json_.clear();
    json_.begin_object().key("position").number(delivery.event.position.value);
    if (result) {
      ++settled_;
      json_.key("settled").string(words[static_cast<std::size_t>(kind)]);
    } else {
      json_.key("error")
          .begin_object()
          .key("code")
          .string(name_of(result.error().code))
          .key("message")
          .string(result.error().what)
          .end_object();
    }
    json_.end_object();
    invocation_.out.write(json_.text());
    invocation_.out.write("\n");
    invocation_.out.flush();
    return result ||
           (result.error().code != ErrorCode::invalid_argument && result.error().code != ErrorCode::overloaded);
  }

  const Invocation& invocation_;
  GroupWorker worker_;
  const PayloadTypes& types_;
  const std::optional<std::uint64_t> limit_;
  const std::optional<std::chrono::milliseconds> idle_;
  JsonText json_;
  std::map<GlobalPosition, GroupDelivery> out_;  ///< shown, not settled
  std::uint64_t settled_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Outcome run_group_work(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto command = arguments.text("exec");
  GroupJoin join{.name = arguments.text("worker").value_or("")};
  const auto credit = arguments.number("credit").value_or(join.credit);
  join.credit =
      command && !arguments.has("credit") ? 1 : static_cast<std::uint32_t>(std::min<std::uint64_t>(credit, 1u << 30));
  join.begins_with_next = command.has_value();  // who reads lines says when it begins
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const auto types = payload_types(invocation);
  if (!types) return Failed(types.error());
  auto worker = store->groups().join_group(arguments.required("NAME"), std::move(join));
  if (!worker) return Failed(Failure(std::move(worker).error()));
  GroupWork work(invocation, *std::move(worker), *types);
  return command ? work.by_command(*command) : work.by_lines();
}

}  // namespace

Command group_work_command() {
  return {
      "group work",
      "consumer groups",
      "Takes a group's events: as JSON Lines, or by a command for each event.",
      "evershard group work billing --data shop --exec ./bill-one",
      group_work_options,
      run_group_work,
      nullptr,
      "Without --exec it reads settlements from standard input, a JSON object a line, such as {\"acknowledge\":17}."};
}

}  // namespace evershard::cli
