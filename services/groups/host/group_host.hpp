// GroupHost: all groups of a store, hosted by this process.

#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/groups.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/groups/host/group_host_options.hpp"

namespace evershard::cluster {

struct GroupBell;
class HostedGroup;
class HostedSession;
struct GroupSpec;

/// Three threads, started with the first worker: one reads and gives out, one writes what was settled, one waits for
/// the watermark.
class GroupHost final : public Groups {
 public:
  /// `store` takes reserved names. Owner: it outlives the host, and is closed after it.
  explicit GroupHost(EventStore& store, GroupHostOptions options = {});
  /// stop()
  ~GroupHost() override;

  Result<GroupInfo> create_group(GroupDefinition definition, IfThere there = IfThere::refuse) override;
  Result<GroupInfo> change_group(const std::string& name, const GroupSettingsChange& change) override;
  Result<GroupInfo> reset_group(const std::string& name, std::optional<GlobalPosition> after) override;
  Result<void> drop_group(const std::string& name) override;
  Result<std::vector<GroupInfo>> list_groups() override;
  Result<GroupInfo> group(const std::string& name) override;
  Result<std::vector<ParkedEvent>> parked_events(const std::string& name, GlobalPosition after,
                                                 std::size_t limit) override;
  Result<std::uint64_t> replay_parked(const std::string& name, std::optional<GlobalPosition> position) override;
  Result<std::uint64_t> discard_parked(const std::string& name, std::optional<GlobalPosition> position) override;
  Result<std::shared_ptr<GroupSession>> open_session(const std::string& name, const GroupJoin& join,
                                                     std::function<void()> wake) override;
  /// The same, for who asks on a worker's behalf.
  [[nodiscard]] Result<std::shared_ptr<HostedSession>> open_hosted(const std::string& name, const GroupJoin& join,
                                                                   std::function<void()> wake);

  /// Of all groups; from memory, but for the first time.
  [[nodiscard]] std::vector<GroupInfo> figures();
  /// Keeps what is to be kept, ends every session (`unavailable`), refuses what comes. Any number of times.
  void stop();
  /// Lets go of what is not at home here any more: its workers are told, and join where it is now.
  void look_at_home();
  /// The same soon, in a thread of its own. Quick, from any thread; may be called when the host is gone.
  [[nodiscard]] std::function<void()> home_changed() const;

 private:
  using Group = std::shared_ptr<HostedGroup>;

  /// Returns: the term.
  [[nodiscard]] Result<std::uint64_t> at_home(const std::string& name) const;
  /// Loads it, where it is not. Errors: not_found, unavailable, corruption, io
  [[nodiscard]] Result<Group> find(const std::string& name);
  [[nodiscard]] Result<Group> look_up(const std::string& name, std::uint64_t term);
  [[nodiscard]] Result<Group> load(const actors::Definition& definition, std::uint64_t term);
  /// Behind which position a group begins. Errors: invalid_argument: it is not there yet
  [[nodiscard]] Result<GlobalPosition> start_of(std::optional<GlobalPosition> after);
  [[nodiscard]] Result<GroupInfo> info_of(const HostedGroup& group);
  /// `term`: only what was loaded in it, and not what is being loaded: all other groups' work would wait for that.
  void let_go(const std::string& name, const Error& why, std::optional<std::uint64_t> term = {});
  /// What became of a change of its definition is unknown: it is let go, and looked up anew when somebody asks for it.
  /// Returns: `why`
  [[nodiscard]] Error changed_or_not(const std::string& name, Error why);
  /// What is answered when its definition was changed: no error says that it was not. Errors: not_found (and dropped
  /// since), timeout
  [[nodiscard]] Result<GroupInfo> now_it_is(const std::string& name);
  /// To its workers: as one that was reset.
  [[nodiscard]] static Error moved(const std::string& name);
  void start();
  void work();
  void keep();
  void watch();
  [[nodiscard]] std::vector<Group> hosted() const;

  EventStore& store_;
  const GroupHostOptions options_;
  Catalogue catalogue_;
  const std::shared_ptr<GroupBell> bell_;
  mutable std::mutex mutex_;
  std::map<std::string, Group> groups_;
  std::set<std::string> loading_;
  std::condition_variable loaded_;
  bool stopped_ = false;
  bool all_loaded_ = false;
  std::thread worker_, keeper_, watcher_;
};

}  // namespace evershard::cluster
