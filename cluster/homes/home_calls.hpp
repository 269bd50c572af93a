// HomeCalls: what belongs to one definition is done at its home, the node that owns the shard of the definition's
// aggregate, and asked for from any node.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/cluster/homes/home_network.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::cluster {

struct HomeCallsOptions {
  std::uint32_t node = 0;
  std::size_t threads = 16;         ///< for what other nodes ask: a handler may wait in one
  std::size_t waiting_max = 1'000;  ///< of those, for a thread; beyond it `overloaded`
  std::chrono::milliseconds away_wait = std::chrono::seconds(1);  ///< for a home that is known to be away, of a read
  std::chrono::milliseconds away_change_wait =
      std::chrono::seconds(4);  ///< of all else: as long as it takes until another node is the home
};

/// What a handler is given.
struct HomeCall {
  AggregateId aggregate{};  ///< its shard was open here a moment ago
  Epoch epoch{};            ///< under which it was
  std::string request{};
  std::chrono::steady_clock::time_point deadline{};  ///< then nobody listens any more
};

/// How to use it, for projections, groups, retention alike:
///
///     // On every node that may be a home, before the node joins:
///     homes.serve("groups.describe", [&](const HomeCall& call) -> Result<std::string> { ... });
///
///     // On any node:
///     auto bytes = homes.call({"groups.describe", names.aggregate("mail"), request.SerializeAsString(), 10s},
///                             HomeCalls::Again::always);
///
/// A call goes to the owner of the shard, in this process or over the link, and is made again, until its time is over,
/// where nothing was done because the shard has no owner just now, is not open yet, or has moved (AskRoute); where the
/// home is known to be away for as long as HomeCallsOptions says, the answer is `unavailable`, and names it. What a
/// handler answers, error or not, is the answer: its code, message and details arrive as they were. Where nobody knows
/// what became of a call (its node died, its answer was lost) it is made again only if `again` says `always`: it
/// changes nothing, or changes once. Else, and where that does not help in time, the answer is `timeout`: the outcome
/// is unknown.
///
/// A handler is asked while the shard is open here, and the shard may go while it works: what must not be done twice
/// goes through the shard (an append that expects a version, put_snapshot), which refuses it then. `wrong_shard` from a
/// handler says that nothing was done: the call goes on. It may read the whole store, and must not call a home: all
/// threads of two nodes could wait for each other. It runs in a thread of its own pool, or in the caller's where the
/// home is here; it is not asked when its time is over.
///
/// Requests and answers have a page's size: at most answer_bytes_max is what a handler aims at, larger things come in
/// pages (request by request); the link refuses a payload beyond its limit (`too_large`). A node that does not know
/// this kind of call, or not this method, is `unavailable`.
///
/// Any thread. Owner: `node` outlives it and is stopped after it; `network` gives it nothing any more when that goes.
class HomeCalls {
 public:
  static constexpr std::size_t answer_bytes_max = 1u << 20;

  HomeCalls(ClusterNode& node, HomeNetwork& network, HomeCallsOptions options);
  ~HomeCalls();  ///< stop()

  using Handler = std::function<Result<std::string>(const HomeCall&)>;
  /// Shape: before the node joins.
  void serve(std::string method, Handler handler);
  /// The same for what another node waits for and no thread here should: `done` is called once, from any thread, before
  /// the call's deadline. For ask_once() alone: call() from the home itself does not know it.
  using LateHandler = std::function<void(const HomeCall&, std::function<void(Result<std::string>)> done)>;
  void serve_later(std::string method, LateHandler handler);

  enum class Again : std::uint8_t {
    read,      ///< it changes nothing, and somebody waits: not for long
    always,    ///< it may be carried out twice
    not_done,  ///< only where nothing was done
  };
  /// Waits for the answer, at most the time asked with and a moment.
  ///
  /// Errors: the handler's; unavailable: no home could be asked in time, and nothing was done; overloaded, too_large;
  /// timeout: the outcome is unknown
  [[nodiscard]] Result<std::string> call(HomeAsked asked, Again again);

  /// One try, at another node, without waiting. `done`: from any thread, perhaps before it returns; `not_here` also
  /// where nobody is the home, or this node is. Errors: as HomeNetwork::ask
  void ask_once(HomeAsked asked, HomeDone done);

  /// Answers a call of another node to a home here. Does not block. `read`: the read of the asker, if the asker may
  /// give it up before the answer is there.
  void answer(HomeAsked asked, HomeDone done, std::shared_ptr<storage::ReadWork> read = nullptr);

  [[nodiscard]] std::uint32_t node() const;
  /// Of the aggregate's shard as this node knows it; 0: nobody.
  [[nodiscard]] std::uint32_t owner(const AggregateId& aggregate) const;
  /// The shard is open here.
  [[nodiscard]] bool is_home(const AggregateId& aggregate) const;
  /// All shards that are.
  [[nodiscard]] std::vector<ShardId> open_here() const;
  /// Under which epoch. Absent: it is not open here.
  [[nodiscard]] std::optional<Epoch> epoch(const AggregateId& aggregate) const;
  /// Called now, and whenever shards were opened or closed here, in the node's thread, until stop(): must be quick, and
  /// must not wait. is_home() says the same already. One a `who`; an empty one ends it: behind that it is not called
  /// any more, so it must not end itself.
  void watch(const void* who, std::function<void(const NodeCommitter::OpenShards&)> changed);

  /// Refuses what comes, waits for handlers under way, gives up what others were asked. Idempotent.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace evershard::cluster
