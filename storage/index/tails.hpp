// Tails: the list of tails, when one is full, and what readers are shown of them. Shared by both stores.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/view.hpp"

namespace evershard::storage {

/// One tail takes events, at most one before it is being sealed.
///
/// Owner: three sides, each one thread at a time: the stager adds, the committer shows, the sealer takes away. Views
///        and sizes are for any thread.
class Tails {
 public:
  struct Sizes {
    std::size_t events = 262'144;
    std::size_t bytes = 96u << 20;
  };

  /// Nothing above the mark yet. `whole`: see View.
  Tails(GlobalPosition mark, Sizes sizes, bool whole = true);

  // -- the stager

  TailIndex& active() { return *active_; }
  [[nodiscard]] GlobalPosition next() const { return active_->next(); }
  /// Begins a new tail if the active one is full and no other waits. Only between two batches.
  bool switch_if_full();
  /// The same for an active tail that holds anything at all.
  bool switch_if_any();
  /// A batch is in: its size counts from now on.
  void added();

  // -- the committer

  /// Everything up to here is durable. Never goes back.
  void show(GlobalPosition watermark);

  // -- the sealer

  /// The tail that takes no more events and is durable to its end; or nothing.
  [[nodiscard]] std::shared_ptr<const TailIndex> sealable() const;
  /// Its rows are in the families, up to and including `mark`.
  void sealed(GlobalPosition mark);

  // -- any thread

  [[nodiscard]] View view() const;
  [[nodiscard]] GlobalPosition watermark() const { return GlobalPosition{watermark_.load(std::memory_order_acquire)}; }
  [[nodiscard]] GlobalPosition mark() const { return GlobalPosition{mark_.load(std::memory_order_acquire)}; }
  [[nodiscard]] std::size_t events() const;
  [[nodiscard]] std::size_t bytes() const;
  /// What is in memory, in tails: 1 is one full tail, by events or by bytes, whichever is more.
  [[nodiscard]] double load() const;
  /// Cheap: is there something for the sealer?
  [[nodiscard]] bool has_sealable() const;

 private:
  using List = std::vector<std::shared_ptr<const TailIndex>>;
  void begin_next();

  const Sizes sizes_;
  const bool whole_;
  std::shared_ptr<TailIndex> active_;  // the stager's
  std::atomic<std::uint64_t> watermark_;
  std::atomic<std::uint64_t> mark_;
  std::atomic<std::uint64_t> last_added_;
  std::atomic<std::size_t> active_bytes_{0};
  std::atomic<std::size_t> waiting_bytes_{0};
  std::atomic<std::uint64_t> waiting_last_{0};  // last position of the tail to be sealed; 0: none
  mutable std::mutex mutex_;                    // list_ and mark_ change together
  std::shared_ptr<const List> list_;
};

}  // namespace evershard::storage
