// Money that moves by a process, and orders whose timers cancel them, as a program for tests: one answer a line.
//   local DATA, or node NUMBER DATA COORDINATOR SECRET SHARDS
//   open                      five accounts of 10,000 each                                      done
//   request FIRST COUNT       so many transfers, from that one on                               done
//   place FIRST COUNT MS      so many orders, which nobody pays, each due in up to so long      done
//   schedule FIRST COUNT MS   so many appends, made in up to so long; every fourth is cancelled done
//   check TRANSFERS ORDERS SCHEDULED
//                             once all that follows is done                                     whole, or what is wrong

#include <algorithm>
#include <chrono>
#include <evershard/cluster.hpp>
#include <evershard/local.hpp>
#include <evershard/process.hpp>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "evershard/protocol/timers.hpp"
#include "tests/actors/process/transfers.hpp"
#include "tests/actors/timers/order.hpp"

namespace {

using namespace evershard;
using namespace std::chrono_literals;

constexpr auto patience = 100s;
constexpr int accounts = 5;
constexpr std::int64_t each = 10'000;

std::string account(int number) { return "a" + std::to_string(number); }
/// Some to an account that is not open.
int to_of(int transfer) { return (transfer + 1 + transfer % 3) % (accounts + 1); }

/// Until it is taken; a command id makes that harmless.
template <class Store, class A, class C>
bool ask(Store& store, const std::string& id, const C& command, const std::string& command_id) {
  for (const auto until = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(10ms)) {
    const auto answer = store.template get<A>(id).ask(command, {.command_id = command_id, .timeout = 5s});
    if (!answer.failed()) return answer.replied();
  }
  return false;
}

/// Until somebody has taken it; the id makes that harmless. One that is to be cancelled is due when nobody looks any
/// more.
template <class Store>
bool schedule(Store& store, int number, int ms) {
  const auto id = std::to_string(number);
  const bool goes = number % 4 == 0;
  ScheduleOrder order;
  order.id = id;
  order.append = Append{}.event("thing-" + id, "Done", id).event("account-" + std::to_string(number % 7), "Also", id);
  // A time that is the same with each try: else it would be another one of the same id.
  order.due = Timestamp{goes ? Timestamp::last().micros : Timestamp::now().micros + (number * 37 % ms) * 1'000};
  for (const auto until = std::chrono::steady_clock::now() + patience; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(10ms)) {
    if (const auto there = store.scheduled().get(id); !there) {
      if (!store.scheduled().schedule(order)) continue;
    }
    if (!goes || store.scheduled().cancel(id)) return true;
  }
  return false;
}

template <class Store>
std::string check(Store& store, int transfers, int orders, int scheduled) {
  std::string wrong = "nothing was looked at";
  for (const auto until = std::chrono::steady_clock::now() + patience;
       !wrong.empty() && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(50ms)) {
    wrong.clear();
    std::int64_t sum = 0;
    for (int n = 0; n != accounts; ++n) {
      const auto state = store.template get<bank::Account>(account(n)).state();
      if (!state) {
        wrong = state.error().what;
        break;
      }
      sum += state->state.balance;
    }
    std::map<std::string, std::map<std::string, int>> of;
    auto events = store.read(Query::all());
    for (const auto& event : events) {
      if (!event.aggregate) continue;
      if (event.type == "Done" || event.type == "Also") ++of["scheduled " + event.payload][event.type];
      if (event.aggregate->type == "transfer" && event.type.front() != '$') ++of[event.aggregate->value][event.type];
      if (event.aggregate->type != "order") continue;
      if (event.type == "cancelled") ++of["order " + event.aggregate->value]["cancelled"];
      if (event.type == timers_changed_type && !decode_timers_changed(event.payload)->fired.empty())
        ++of["order " + event.aggregate->value]["fired"];
    }
    if (events.error()) wrong = events.error()->what;
    if (wrong.empty() && sum != accounts * each) wrong = "the sum is " + std::to_string(sum);
    for (int n = 0; n != transfers && wrong.empty(); ++n) {
      const auto& had = of["t" + std::to_string(n)];
      const std::string end = to_of(n) == accounts ? "taken_back" : "finished";
      if (had != std::map<std::string, int>{{"started", 1}, {end, 1}}) {
        wrong = "transfer " + std::to_string(n) + " has";
        for (const auto& [type, count] : had) wrong += " " + type + " " + std::to_string(count);
      }
    }
    for (int n = 0; n != orders && wrong.empty(); ++n)
      if (of["order " + std::to_string(n)] != std::map<std::string, int>{{"cancelled", 1}, {"fired", 1}})
        wrong = "order " + std::to_string(n) + " fired " + std::to_string(of["order " + std::to_string(n)]["fired"]) +
                " times";
    for (int n = 0; n != scheduled && wrong.empty(); ++n) {
      const auto& had = of["scheduled " + std::to_string(n)];
      const std::map<std::string, int> once{{"Done", 1}, {"Also", 1}};
      if (n % 4 == 0 ? !had.empty() : had != once)
        wrong = "scheduled append " + std::to_string(n) + " has " + std::to_string(had.size()) + " kinds of events";
    }
  }
  if (!wrong.empty())
    for (const auto& status : store.process_status()) wrong += "; " + status.trouble;
  return wrong.empty() ? "whole" : wrong;
}

template <class Store>
int serve(Store& store) {
  if (!store.template host<bank::Account>() || !store.template host<bank::Desk>() ||
      !store.template host<timed::Order>())
    return 1;
  if (const auto runs = store.template run<bank::Transfers>(); !runs) {
    std::cerr << runs.error().what << '\n';
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    int first = 0, count = 0, ms = 0;
    words >> what >> first >> count >> ms;
    bool done = true;
    if (what == "check") {
      std::cout << check(store, first, count, ms) << std::endl;
      continue;
    }
    if (what == "open")
      for (int n = 0; n != accounts; ++n)
        done = done && ask<Store, bank::Account>(store, account(n), bank::Open{"-", "-", "-", each}, "open");
    for (int n = first; what == "request" && n != first + count; ++n) {
      const auto id = "t" + std::to_string(n);
      done = done && ask<Store, bank::Desk>(store, std::to_string(n % 7),
                                            bank::Request{id, account(n % accounts), account(to_of(n)), n % 50}, id);
    }
    for (int n = first; what == "place" && n != first + count; ++n)
      done = done && ask<Store, timed::Order>(store, std::to_string(n), timed::PlaceBriefly{n * 37 % ms}, "place");
    for (int n = first; what == "schedule" && n != first + count; ++n) done = done && schedule(store, n, ms);
    std::cout << (done ? "done" : "not done") << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "local") {
    auto store = Local::open({.data_dir = words[1], .shards = 8});
    if (!store) {
      std::cerr << store.error().what << '\n';
      return 1;
    }
    return serve(*store);
  }
  if (words.size() != 6) return 2;
  ClusterOptions options;
  options.node = static_cast<std::uint32_t>(std::stoul(words[1]));
  options.data_dir = words[2];
  options.coordinator = words[3];
  options.secret_file = words[4];
  options.shards = static_cast<std::uint32_t>(std::stoul(words[5]));
  options.disk_reserve_bytes = 0;
  auto node = Cluster::join(options);
  if (!node) {
    std::cerr << node.error().what << '\n';
    return 1;
  }
  return serve(*node);
}
