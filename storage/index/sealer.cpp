#include "evershard/storage/index/sealer.hpp"

#include <algorithm>

#include "evershard/storage/index/run_builder.hpp"
#include "evershard/storage/steps.hpp"

namespace evershard::storage {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr auto poll_every = milliseconds(100);
constexpr auto step_target = microseconds(1'000);
constexpr int rows_between_looks = 32;
constexpr auto retry_after_min = milliseconds(500);
constexpr auto retry_after_max = milliseconds(60'000);
constexpr Family index_families[] = {Family::postings, Family::streams, Family::ids, Family::directory, Family::runs};

}  // namespace

Sealer::Sealer(Tails& tails, RunSink& sink, Options options)
    : tails_(tails),
      sink_(sink),
      options_(std::move(options)),
      pace_(options_.tail_events, options_.bytes_per_second),
      measured_position_(tails.next() - 1),
      measured_at_(Clock::now()) {}

Sealer::~Sealer() { stop(); }

void Sealer::start() {
  thread_ = std::thread([this] { run(); });
}

void Sealer::wake() {
  { std::lock_guard lock(mutex_); }
  work_.notify_one();
}

void Sealer::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  done_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<Error> Sealer::last_error() const {
  std::lock_guard lock(mutex_);
  return error_;
}

void Sealer::run() {
  auto retry_after = retry_after_min;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    work_.wait_for(lock, poll_every, [&] { return stop_ || tails_.has_sealable(); });
    if (stop_) break;
    ++attempt_;
    lock.unlock();
    measure_rate();
    auto tail = tails_.sealable();
    auto result = tail ? seal(tail, /*paced=*/true) : Result<void>{};
    lock.lock();
    if (result) {
      if (tail) error_.reset();
      retry_after = retry_after_min;
      done_.notify_all();
    } else if (!stop_) {
      error_ = std::move(result).error();
      failed_attempt_ = attempt_;
      done_.notify_all();
      // Whoever waits for sealing wants to know now whether it works again.
      work_.wait_for(lock, retry_after, [&] { return stop_ || waiting_.load(std::memory_order_relaxed) > 0; });
      retry_after = std::min(2 * retry_after, retry_after_max);
    }
  }
}

Result<void> Sealer::wait_sealed(GlobalPosition position, const std::function<Result<void>()>& urge) {
  waiting_.fetch_add(1);
  Result<void> urged;
  std::unique_lock lock(mutex_);
  // One that is under way may have met what is mended by now.
  const auto before = attempt_;
  while (urged && !stop_ && failed_attempt_ <= before && tails_.mark() < position) {
    lock.unlock();
    urged = urge();
    lock.lock();
    work_.notify_one();
    // Not only the thread's word counts: the tail becomes sealable by a commit, which tells nobody.
    done_.wait_for(lock, milliseconds(10),
                   [&] { return !urged || stop_ || failed_attempt_ > before || tails_.mark() >= position; });
  }
  waiting_.fetch_sub(1);
  if (tails_.mark() >= position) return {};
  if (!urged) return urged;
  if (failed_attempt_ > before) return refuse(*error_);
  return refuse(ErrorCode::cancelled, "the store was closed while it was sealing");
}

Result<void> Sealer::seal_here(const std::shared_ptr<const TailIndex>& tail) { return seal(tail, /*paced=*/false); }

Result<void> Sealer::seal(const std::shared_ptr<const TailIndex>& tail, bool paced) {
  step(steps::seal_begin);
  busy_ = microseconds(0);
  auto mark = tail->next() - 1;
  auto write = [&]() -> Result<void> {
    for (auto family : index_families) EVERSHARD_TRY(write_family(tail, family, paced));
    step(steps::seal_written);
    return sink_.publish(mark);
  };
  auto result = write();
  if (!result) {
    sink_.abandon();
    return result;
  }
  step(steps::seal_ingested);
  pace_.learn(tail->events(), busy_);
  runs_.fetch_add(1, std::memory_order_relaxed);
  tails_.sealed(mark);
  step(steps::seal_shown);
  return {};
}

Result<void> Sealer::write_family(const std::shared_ptr<const TailIndex>& tail, Family family, bool paced) {
  RunBuilder builder(tail, family);
  auto begun = Clock::now();
  while (!builder.prepare_step()) {
    EVERSHARD_TRY(pause(begun, 0, paced));
    step(steps::seal_sorting);
    begun = Clock::now();
  }
  EVERSHARD_TRY(sink_.begin(family));
  std::string_view key, value;
  std::size_t bytes = 0;
  for (int row = 1; builder.next(key, value); ++row) {
    EVERSHARD_TRY(sink_.put(key, value));
    bytes += key.size() + value.size();
    if (row % rows_between_looks != 0 || Clock::now() - begun < step_target) continue;
    EVERSHARD_TRY(pause(begun, bytes, paced));
    step(steps::seal_rows);
    bytes = 0;
    begun = Clock::now();
  }
  EVERSHARD_TRY(sink_.finish());
  EVERSHARD_TRY(pause(begun, bytes, paced));
  step(steps::seal_file);
  return {};
}

Result<void> Sealer::pause(Clock::time_point begun, std::size_t bytes, bool paced) {
  auto now = Clock::now();
  auto busy = std::chrono::duration_cast<microseconds>(now - begun);
  busy_ += busy;
  if (!paced) return {};
  measure_rate();
  auto rest = waiting_.load(std::memory_order_relaxed) > 0
                  ? microseconds(0)
                  : pace_.rest(busy, bytes, appended_per_second_, tails_.load());
  if (rest.count() > 0) rest_until(now + rest);
  std::lock_guard lock(mutex_);
  if (stop_) return refuse(ErrorCode::cancelled, "the store was closed while it was sealing");
  return {};
}

void Sealer::rest_until(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  work_.wait_until(lock, until, [&] { return stop_ || waiting_.load(std::memory_order_relaxed) > 0; });
}

void Sealer::measure_rate() {
  auto now = Clock::now();
  if (options_.poll && now - polled_at_ >= poll_every) {
    polled_at_ = now;
    options_.poll();
  }
  auto seconds = std::chrono::duration<double>(now - measured_at_).count();
  if (seconds < 0.05) return;
  auto position = tails_.mark() + tails_.events();
  auto appended = static_cast<double>(position.value - std::min(position.value, measured_position_.value));
  appended_per_second_ = 0.5 * appended_per_second_ + 0.5 * appended / seconds;
  measured_position_ = position;
  measured_at_ = now;
}

void Sealer::step(const char* name) const {
  if (options_.at_step) options_.at_step(name);
}

}  // namespace evershard::storage
