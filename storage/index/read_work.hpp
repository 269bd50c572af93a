// ReadWork: what one read may cost, and whether somebody still waits for it.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

struct ReadWorkLimits {
  std::chrono::milliseconds processor_max =
      std::chrono::seconds(10);  ///< of processor time, of one piece of a read: a page, an answer
  std::chrono::milliseconds short_max = std::chrono::milliseconds(3);  ///< what takes longer is a long read
};

/// How to use it:
///
///     storage::ReadWork work(limits, when_long, deadline);
///     const storage::ReadWork::Scope at_work(work);       // in the thread that reads, around one piece
///     ... EVERSHARD_TRY(storage::spend(bytes)) ...        // in every loop whose length a reader decides
///
/// A thread without a scope spends freely: an application that reads its own store decides for itself.
/// Any thread.
class ReadWork {
 public:
  using Clock = std::chrono::steady_clock;
  /// Held until the piece is done.
  using Place = std::shared_ptr<void>;
  /// Called once a piece, in the thread at work, when it turns out to be long. May wait; an error ends the read.
  using WhenLong = std::function<Result<Place>(ReadWork&)>;

  explicit ReadWork(ReadWorkLimits limits = {}, WhenLong when_long = {}, std::optional<Clock::time_point> deadline = {})
      : limits_(limits), when_long_(std::move(when_long)), deadline_(deadline) {}
  ReadWork(const ReadWork&) = delete;

  /// Its loops end with that error, soon. The first one counts.
  void cancel(Error why = {ErrorCode::cancelled, "the read was cancelled"});
  /// Says when it was cancelled: for whoever waits on its behalf.
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] std::optional<Clock::time_point> deadline() const { return deadline_; }
  /// Errors: what it was cancelled with; timeout: its deadline is over
  [[nodiscard]] Result<void> wanted() const;

  /// Of the thread's scope; nullptr: it has none.
  [[nodiscard]] static ReadWork* current();

  enum class Hand : std::uint8_t {
    own,     ///< the thread that has the piece
    helping  ///< another one, while that one waits for it: it takes no place of its own
  };

  /// One piece of the read, in one thread. Scopes nest; the inner one counts. Owner: the work outlives it.
  class Scope {
   public:
    explicit Scope(ReadWork& work, Hand hand = Hand::own);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    friend class ReadWork;
    friend Result<void> spend(std::uint64_t units);
    friend Result<void> spend_at_once(std::uint64_t units);
    Result<void> look();
    Result<void> look_before(std::uint64_t units);
    Result<void> become_long();

    ReadWork& work_;
    Scope* const around_;
    std::int64_t left_;               ///< units until the next look
    std::chrono::nanoseconds began_;  ///< the thread's processor time
    bool long_;
    Place place_{};
  };

 private:
  const ReadWorkLimits limits_;
  const WhenLong when_long_;
  const std::optional<Clock::time_point> deadline_;
  mutable std::mutex mutex_;  ///< of the next
  std::optional<Error> why_{};
  std::stop_source stop_{};
};

/// A unit is about a nanosecond of work: a byte compared, a hundredth of a row. Cheap: most calls only count.
/// Errors: those of ReadWork::wanted and of its `when_long`; too_large: the piece has taken all the processor time it
/// may
[[nodiscard]] Result<void> spend(std::uint64_t units);

/// For one step of so many units that nothing can interrupt: looked at before, and a read that is long by it takes its
/// place as a long one first. Errors: as spend()
[[nodiscard]] Result<void> spend_at_once(std::uint64_t units);

}  // namespace evershard::storage
