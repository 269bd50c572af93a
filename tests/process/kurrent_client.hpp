// A client of KurrentDB's protocol over stubs of its own: what tests of processes ask, and a consumer that remembers.

#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "evershard/kurrent/persistent.grpc.pb.h"
#include "evershard/kurrent/streams.grpc.pb.h"

namespace evershard::testing {

namespace esp = ::event_store::client::streams;
namespace esps = ::event_store::client::persistent_subscriptions;

/// Calls wait until there is a server, at most 30 s.
class KurrentClient {
 public:
  explicit KurrentClient(const std::string& address);

  /// So many events to a stream.
  [[nodiscard]] grpc::Status append(const std::string& stream, int events);
  [[nodiscard]] grpc::Status create(const std::string& stream, const std::string& group,
                                    const esps::Settings& settings);
  [[nodiscard]] grpc::Status update(const std::string& stream, const std::string& group,
                                    const esps::Settings& settings);
  [[nodiscard]] grpc::Status remove(const std::string& stream, const std::string& group);
  [[nodiscard]] grpc::Status replay(const std::string& stream, const std::string& group);
  [[nodiscard]] grpc::Status restart();
  /// Absent: it was refused.
  [[nodiscard]] std::optional<esps::SubscriptionInfo> info(const std::string& stream, const std::string& group);
  [[nodiscard]] std::vector<std::string> groups_of(const std::string& stream);
  [[nodiscard]] esps::PersistentSubscriptions::Stub& subscriptions() { return *subscriptions_; }

 private:
  std::unique_ptr<esp::Streams::Stub> streams_;
  std::unique_ptr<esps::PersistentSubscriptions::Stub> subscriptions_;
};

/// Settings of a subscription that keeps its place often.
[[nodiscard]] esps::Settings eager_settings(int retries_max);
/// Of what is not checkpointed: -1.
[[nodiscard]] std::int64_t checkpoint_of(const esps::SubscriptionInfo& info);

/// Consumes a stream's subscription in a thread, and joins again when its call ends.
class KurrentConsumer {
 public:
  enum class Answer : std::uint8_t { acknowledge, retry, park, skip };
  /// `retries`: as the server says. Called in the consumer's thread.
  using Decide = std::function<Answer(std::uint64_t revision, int retries)>;

  KurrentConsumer(const std::string& address, std::string stream, std::string group, Decide decide, int slots = 10);
  ~KurrentConsumer() { stop(); }
  void stop();

  /// From here on nothing at or before it may come; what does is in `came_again`.
  void nothing_up_to(std::int64_t revision) { floor_ = revision; }
  struct Seen {
    std::map<std::uint64_t, int> given{};        ///< how often
    std::map<std::uint64_t, int> retries_max{};  ///< the greatest count it came with
    std::vector<std::uint64_t> first_order{};    ///< as they came the first time
    std::vector<std::uint64_t> came_again{};
    int calls = 0;  ///< that were confirmed
    std::size_t total = 0;
    std::string last_status{};
  };
  [[nodiscard]] Seen seen();

 private:
  void run();
  void consume();

  KurrentClient client_;
  const std::string stream_, group_;
  const Decide decide_;
  const int slots_;
  std::atomic<std::int64_t> floor_{-1};
  std::atomic<bool> over_{false};
  std::mutex mutex_;
  Seen seen_;
  grpc::ClientContext* context_ = nullptr;
  std::thread thread_;
};

/// Waits until it holds, for long: what a slow machine needs too.
[[nodiscard]] bool comes_true(const std::function<bool()>& holds,
                              std::chrono::seconds within = std::chrono::seconds(90));

}  // namespace evershard::testing
