// Remote: the store of a server, as if it were here.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "evershard/cluster/store/administration.hpp"
#include "evershard/cluster/store/event_store.hpp"

namespace evershard {

struct RemoteOptions {
  std::string server = "127.0.0.1:7420";  ///< HOST:PORT, or unix:PATH
  std::string token{};                    ///< empty: none is sent
  bool tls = false;                       ///< implied by each of the following
  std::filesystem::path tls_ca{};           ///< who signed the server's certificate; empty: whom this machine trusts
  std::filesystem::path tls_certificate{};  ///< this client's own, where the server asks for one
  std::filesystem::path tls_key{};
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  ///< of each call, with all its tries; reads: of each wait for a page
  bool compression = false;  ///< gzip of appends and of the pages of reads and follows: for slow networks, it costs both sides time
  std::size_t appends_in_flight_max = 4'096;                     ///< then `overloaded`
  std::size_t bytes_in_flight_max = 64u << 20;
};

/// The same words and errors as Local. What breaks on the way is tried again where that is safe: an append has its ids before it is
/// sent first, so that the server stores it once; reads and follows go on behind what they gave. Past the time-out an append's
/// outcome is unknown (`timeout`); where it was never sent, `unavailable`.
///
/// Connects when it is first used, and again whenever the connection is lost.
class Remote final : public EventStore, public Administration {
 public:
  /// Errors: invalid_argument (files that cannot be read)
  [[nodiscard]] static Result<Remote> connect(RemoteOptions options = {});
  Remote(Remote&&) noexcept;
  Remote& operator=(Remote&&) noexcept;
  /// What is in flight ends with `unavailable`, or `timeout` where it may have been stored. Streams and feeds made of it go on.
  ~Remote() override;

  using EventStore::read;
  Result<Appended> append(Append append) override;
  void append_async(Append append, AppendCompletion done) override;
  EventStream read(Query query, ReadOptions options = {}) override;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override;
  EventFeed follow(Query query, FollowOptions options = {}) override;
  Result<GlobalPosition> head() override;
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override;
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override;
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string> type, std::optional<AggregateId> after, std::size_t limit) override;
  Result<RecordedEvent> event_at(GlobalPosition position) override;
  Result<void> put_snapshot(Snapshot snapshot) override;
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate, std::optional<SeqNr> at_or_before = {}) override;
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) override;
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId& aggregate) override;

  Result<StoreStats> stats() const override;
  Result<void> flush() override;
  Result<VerifyReport> verify(Progress progress = {}) override;
  Result<void> vacuum(Progress progress = {}) override;
  /// Into a directory of the server's machine.
  using Administration::backup;
  Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options = {}, Progress progress = {}) override;

  /// What `evershard types` registered, as its file has it; empty: nothing.
  [[nodiscard]] Result<std::string> types();

 private:
  struct Impl;
  explicit Remote(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard
