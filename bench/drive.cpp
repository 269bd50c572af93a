#include "evershard/bench/drive.hpp"

#include <algorithm>
#include <mutex>

#include "evershard/bench/in_flight.hpp"

namespace evershard::bench {

Outcome drive(EventStore& store, std::uint32_t in_flight, double seconds, const MakeAppend& make,
              const OnAnswer& on_answer, const std::function<bool()>& enough) {
  Outcome out;
  InFlight room(in_flight);
  std::mutex mutex;  // completions may come from more than one thread of the store
  const double began = now_seconds(), cpu = cpu_seconds();
  const auto answered = [&](const Result<Appended>& answer, double sent, std::size_t events) {
    const std::lock_guard lock(mutex);
    out.latencies.add((now_seconds() - sent) * 1e6);
    if (answer) {
      out.events += events;
      ++out.done;
    } else if (answer.error().code == ErrorCode::condition_failed ||
               answer.error().code == ErrorCode::version_conflict) {
      ++out.refused;
    } else {
      ++out.failed;
    }
    if (on_answer) on_answer(answer);
  };
  while (now_seconds() - began < seconds && !(enough && enough())) {
    Append append = make();
    const auto events = append.events.size();
    ++out.appends;
    if (in_flight == 1) {
      const double sent = now_seconds();
      answered(store.append(std::move(append)), sent, events);
    } else {
      room.enter();
      const double sent = now_seconds();
      store.append_async(std::move(append), [&answered, &room, sent, events](const Result<Appended>& answer) {
        answered(answer, sent, events);
        room.leave();
      });
    }
  }
  room.drain();
  out.seconds = now_seconds() - began;
  out.cpu = cpu_seconds() - cpu;
  return out;
}

Figure figure_of(std::string name, Outcome& out) {
  Figure f{std::move(name), static_cast<double>(out.events) / out.seconds, "events/s"};
  f.more = percentiles(out.latencies);
  f.more.emplace_back("cpu_us_per_event", out.cpu * 1e6 / static_cast<double>(std::max<std::uint64_t>(1, out.events)));
  if (out.refused) f.more.emplace_back("refused", static_cast<double>(out.refused));
  if (out.failed) f.more.emplace_back("failed", static_cast<double>(out.failed));
  return f;
}

}  // namespace evershard::bench
