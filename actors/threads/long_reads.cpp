#include "evershard/actors/threads/long_reads.hpp"

#include <string>
#include <utility>

#include "evershard/actors/threads/work_pool.hpp"

namespace evershard::cluster {

using storage::ReadWork;

struct LongReads::Places {
  explicit Places(LongReadOptions of) : options(of) {}

  /// Its place in the line. Errors: overloaded, unavailable; those of ReadWork::wanted
  static Result<ReadWork::Place> take(const std::shared_ptr<Places>& places, ReadWork& work) {
    std::unique_lock lock(places->mutex);
    if (places->closed) return refuse(ending());
    if (places->waiting.size() >= places->options.waiting_max) {
      ++places->turned_away;
      return refuse(ErrorCode::overloaded,
                    std::to_string(places->options.waiting_max) + " long reads wait for their turn already");
    }
    places->reads.insert(&work);
    const std::uint64_t mine = places->line++;
    places->waiting.insert(mine);
    const auto my_turn = [&] {
      return places->closed || (places->at_work < places->options.at_once && *places->waiting.begin() == mine);
    };
    const auto deadline = work.deadline().value_or(ReadWork::Clock::now() + std::chrono::hours(1));
    const bool turn = places->changed.wait_until(lock, work.token(), deadline, my_turn);
    places->waiting.erase(mine);
    auto wanted = places->closed ? Result<void>(refuse(ending())) : work.wanted();
    if (wanted && !turn) wanted = refuse(ErrorCode::timeout, "the time of the read is over");
    if (!wanted) {
      places->reads.erase(&work);
      places->changed.notify_all();
      return refuse(std::move(wanted).error());
    }
    ++places->at_work;
    places->changed.notify_all();
    return ReadWork::Place(&work, [places](void* of) { places->leave(static_cast<ReadWork*>(of)); });
  }

  void leave(ReadWork* work) {
    const std::lock_guard lock(mutex);
    reads.erase(work);
    --at_work;
    changed.notify_all();
  }

  static Error ending() { return {ErrorCode::unavailable, "the server is ending: the read was given up"}; }

  const LongReadOptions options;
  std::mutex mutex{};
  std::condition_variable_any changed{};
  bool closed = false;
  std::size_t at_work = 0;
  std::uint64_t turned_away = 0;
  std::uint64_t line = 0;             ///< how many ever stood in it
  std::set<std::uint64_t> waiting{};  ///< their numbers: the first is next
  std::set<ReadWork*> reads{};        ///< at work or waiting
};

LongReads::LongReads(LongReadOptions options) : limits_(options.limits), places_(std::make_shared<Places>(options)) {}

std::shared_ptr<ReadWork> LongReads::begin(std::optional<ReadWork::Clock::time_point> deadline) const {
  return std::make_shared<ReadWork>(
      limits_,
      [places = places_](ReadWork& work) {
        WorkPool::part_with_this_thread();
        return Places::take(places, work);
      },
      deadline);
}

void LongReads::close() {
  const std::lock_guard lock(places_->mutex);
  places_->closed = true;
  for (auto* read : places_->reads) read->cancel(Places::ending());
  places_->changed.notify_all();
}

LongReads::Figures LongReads::figures() const {
  const std::lock_guard lock(places_->mutex);
  return {places_->at_work, places_->waiting.size(), places_->line, places_->turned_away};
}

}  // namespace evershard::cluster
