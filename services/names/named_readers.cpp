#include "evershard/services/names/named_readers.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "evershard/actors/model/old_names.hpp"
#include "evershard/api/no_projections.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/indexes/document_fold.hpp"
#include "evershard/services/indexes/index_projection.hpp"
#include "evershard/services/indexes/value_index.hpp"
#include "evershard/services/names/typed_table_handler.hpp"
#include "evershard/services/tables/host/table_definition_json.hpp"
#include "evershard/services/tables/host/table_kind.hpp"

namespace evershard::cluster {
namespace {

using Reader = KindTypes::Reader;

/// Without an event where one item is of no types: it reads them all.
Reader reader_of(std::string what, const Query& query) {
  Reader reader{std::move(what), {}};
  if (query.is_all()) return reader;
  for (const auto& item : query.items()) {
    if (item.types.empty()) return {std::move(reader.what), {}};
    reader.events.insert(reader.events.end(), item.types.begin(), item.types.end());
  }
  return reader;
}

/// A spec that cannot be read is refused by who reads it.
Reader reader_of_projection(const std::string& name, const std::string& kind, const std::string& spec) {
  const std::string what = (kind == table_kind ? "table " : "index ") + in_quotes(name);
  if (kind == actors::IndexKind::name) {
    const auto query = actors::IndexKind::query_of(spec);
    return query ? reader_of(what, *query) : Reader{what, {}};
  }
  if (kind == actors::ValueIndexKind::name) {
    auto index = actors::read_value_index_spec(spec);
    return {what, index ? std::move(index->types) : std::vector<std::string>()};
  }
  if (kind != table_kind) return {what, {}};
  const auto table = read_table_definition(spec, name);
  return table ? reader_of(what, table->query()) : Reader{what, {}};
}

Reader reader_of_documents(const std::string& type, const std::string& spec) {
  const auto fold = actors::DocumentFold::of(spec);
  return {"the documents of type " + in_quotes(type), fold ? fold->event_types() : std::vector<std::string>()};
}

Reader reader_of_group(const GroupDefinition& definition) {
  return reader_of("group " + in_quotes(definition.name), definition.query);
}

template <class Things, class ReaderOf>
Result<void> check_all(const OldNames& names, Result<Things> things, const ReaderOf& of) {
  if (!things) return refuse(std::move(things).error());
  for (const auto& one : *things) EVERSHARD_TRY(names.check(of(one)));
  return {};
}

constexpr std::chrono::milliseconds compared_again_first{1'000};
constexpr std::chrono::milliseconds compared_again_most{30'000};

/// A node that is away is asked again, and its error is not reported.
bool may_answer_later(const Error& why) { return why.code == ErrorCode::unavailable || why.code == ErrorCode::timeout; }

Projections& no_projections() {
  static NoProjections none;
  return none;
}

}  // namespace

struct NamedReaders::Impl {
  Result<void> check(const Reader& reader) {
    const std::lock_guard lock(mutex);
    return names.check(reader);
  }
  [[nodiscard]] Result<void> compare(const OldNames& with) {
    if (has_projections)
      EVERSHARD_TRY(check_all(with, projections.list(), [](const ProjectionInfo& one) {
        return reader_of_projection(one.name, one.kind, one.spec);
      }));
    EVERSHARD_TRY(check_all(with, documents.definitions(),
                            [](const DocumentDefinition& one) { return reader_of_documents(one.type, one.spec); }));
    return check_all(with, groups.list_groups(), [](const GroupInfo& one) { return reader_of_group(one.definition); });
  }
  void compare_later() {
    const std::lock_guard lock(mutex);
    if (stopping) return;
    wanted = true;
    if (!comparing.joinable()) comparing = std::thread([this] { compare_until_right(); });
    changed.notify_all();
  }
  void compare_until_right() {
    std::string said;
    auto pause = compared_again_first;
    for (std::unique_lock lock(mutex);;) {
      changed.wait(lock, [this] { return stopping || wanted; });
      if (stopping) return;
      wanted = false;
      const auto with = names;
      lock.unlock();
      const auto compared = compare(with);
      if (!compared && warn && !may_answer_later(compared.error()) &&
          std::exchange(said, compared.error().what) != compared.error().what)
        warn(compared.error());
      lock.lock();
      if (compared) {
        pause = compared_again_first;
        continue;
      }
      changed.wait_for(lock, pause, [this] { return stopping || wanted; });
      pause = std::min(2 * pause, compared_again_most);
      wanted = true;
    }
  }
  void stop() {
    std::thread ending;
    {
      const std::lock_guard lock(mutex);
      stopping = true;
      ending.swap(comparing);
    }
    changed.notify_all();
    if (ending.joinable()) ending.join();
  }

  Projections& projections;
  Documents& documents;
  Groups& groups;
  const bool has_projections;
  const std::function<void(const Error&)> warn;
  std::unique_ptr<Projected> seen_projections{};
  std::unique_ptr<Documented> seen_documents{};
  std::unique_ptr<Grouped> seen_groups{};
  std::mutex mutex{};
  OldNames names{};  ///< under it, as what follows
  std::condition_variable changed{};
  bool wanted = false;  ///< to compare
  bool stopping = false;
  std::thread comparing{};
};

class NamedReaders::Projected final : public Projections {
 public:
  explicit Projected(Impl& of) : of_(of) {}

  Result<ProjectionInfo> create_index(const Query& query) override {
    EVERSHARD_TRY(of_.check(reader_of("the index", query)));
    return of_.projections.create_index(query);
  }
  Result<ProjectionInfo> create_value_index(const std::string& name, const ValueIndex& index, IfThere there) override {
    EVERSHARD_TRY(of_.check({"index " + in_quotes(name), index.types}));
    return of_.projections.create_value_index(name, index, there);
  }
  Result<ProjectionInfo> create(const std::string& name, const std::string& kind, const std::string& spec,
                                IfThere there) override {
    EVERSHARD_TRY(of_.check(reader_of_projection(name, kind, spec)));
    return of_.projections.create(name, kind, spec, there);
  }
  Result<ProjectionInfo> change(const std::string& name, const std::string& spec,
                                std::optional<SeqNr> expected) override {
    const auto known = of_.projections.describe(name);
    if (!known) return refuse(known.error());
    EVERSHARD_TRY(of_.check(reader_of_projection(name, known->kind, spec)));
    return of_.projections.change(name, spec, expected);
  }
  Result<void> ask(const std::string& name, Ask what) override { return of_.projections.ask(name, what); }
  Result<std::vector<ProjectionInfo>> list() override { return of_.projections.list(); }
  Result<ProjectionInfo> describe(const std::string& name) override { return of_.projections.describe(name); }
  Result<IndexPage> read_index(const std::string& name, const IndexRead& read) override {
    return of_.projections.read_index(name, read);
  }
  Result<ValuePage> read_values(const std::string& name, const ValueRead& read) override {
    return of_.projections.read_values(name, read);
  }
  Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position,
                                    std::chrono::milliseconds timeout) override {
    return of_.projections.wait_until(name, position, timeout);
  }
  Result<void> vacuum_projections() override { return of_.projections.vacuum_projections(); }

 private:
  Impl& of_;
};

class NamedReaders::Documented final : public Documents {
 public:
  explicit Documented(Impl& of) : of_(of) {}

  Result<DocumentDefinition> define(const std::string& type, const std::string& spec, std::optional<SeqNr> expected,
                                    bool rebuild) override {
    EVERSHARD_TRY(of_.check(reader_of_documents(type, spec)));
    return of_.documents.define(type, spec, expected, rebuild);
  }
  Result<void> drop(const std::string& type) override { return of_.documents.drop(type); }
  Result<std::vector<DocumentDefinition>> definitions() override { return of_.documents.definitions(); }
  Result<ProjectionInfo> describe(const std::string& type) override { return of_.documents.describe(type); }
  Result<Document> get(const AggregateId& aggregate, DocumentRead how, std::optional<GlobalPosition> at_least,
                       std::chrono::milliseconds timeout) override {
    return of_.documents.get(aggregate, how, at_least, timeout);
  }
  Result<DocumentPage> list(const DocumentListing& listing) override { return of_.documents.list(listing); }
  Result<void> remove(const AggregateId& aggregate) override { return of_.documents.remove(aggregate); }

 private:
  Impl& of_;
};

class NamedReaders::Grouped final : public Groups {
 public:
  explicit Grouped(Impl& of) : of_(of) {}

  Result<GroupInfo> create_group(GroupDefinition definition, IfThere there) override {
    EVERSHARD_TRY(of_.check(reader_of_group(definition)));
    return of_.groups.create_group(std::move(definition), there);
  }
  Result<GroupInfo> change_group(const std::string& name, const GroupSettingsChange& change) override {
    return of_.groups.change_group(name, change);
  }
  Result<GroupInfo> reset_group(const std::string& name, std::optional<GlobalPosition> after) override {
    return of_.groups.reset_group(name, after);
  }
  Result<void> drop_group(const std::string& name) override { return of_.groups.drop_group(name); }
  Result<std::vector<GroupInfo>> list_groups() override { return of_.groups.list_groups(); }
  Result<GroupInfo> group(const std::string& name) override { return of_.groups.group(name); }
  Result<std::vector<ParkedEvent>> parked_events(const std::string& name, GlobalPosition after,
                                                 std::size_t limit) override {
    return of_.groups.parked_events(name, after, limit);
  }
  Result<std::uint64_t> replay_parked(const std::string& name, std::optional<GlobalPosition> position) override {
    return of_.groups.replay_parked(name, position);
  }
  Result<std::uint64_t> discard_parked(const std::string& name, std::optional<GlobalPosition> position) override {
    return of_.groups.discard_parked(name, position);
  }
  Result<std::shared_ptr<GroupSession>> open_session(const std::string& name, const GroupJoin& join,
                                                     std::function<void()> wake) override {
    return of_.groups.open_session(name, join, std::move(wake));
  }
  [[nodiscard]] bool comes_back() const override { return of_.groups.comes_back(); }

 private:
  Impl& of_;
};

NamedReaders::NamedReaders(Projections* projections, Documents& documents, Groups& groups,
                           std::function<void(const Error&)> warn)
    : impl_(new Impl{projections != nullptr ? *projections : no_projections(), documents, groups,
                     projections != nullptr, std::move(warn)}) {
  impl_->seen_projections = std::make_unique<Projected>(*impl_);
  impl_->seen_documents = std::make_unique<Documented>(*impl_);
  impl_->seen_groups = std::make_unique<Grouped>(*impl_);
}
NamedReaders::~NamedReaders() { impl_->stop(); }

void NamedReaders::stop() { impl_->stop(); }

Projections& NamedReaders::projections() { return *impl_->seen_projections; }
Documents& NamedReaders::documents() { return *impl_->seen_documents; }
Groups& NamedReaders::groups() { return *impl_->seen_groups; }

Result<void> NamedReaders::add_handler(const std::string& name, std::vector<std::string> types) {
  KindTypes handler;
  handler.readers.push_back({"the table handler " + in_quotes(name), std::move(types)});
  const std::lock_guard lock(impl_->mutex);
  return impl_->names.add(handler);
}

Result<void> NamedReaders::add_handler(const std::string& name, const actors::TableHandler& handler) {
  const auto* typed = handler.target<TypedTableHandler>();
  return typed != nullptr ? add_handler(name, typed->types()) : Result<void>();
}

Result<void> NamedReaders::take(const KindTypes& types, Defined defined) {
  KindTypes old;  // its own readers are the aggregates' host's
  old.old_names = types.old_names;
  if (old.old_names.empty()) return {};
  OldNames with;
  {
    const std::lock_guard lock(impl_->mutex);
    with = impl_->names;
  }
  EVERSHARD_TRY(with.add(old));
  if (defined == Defined::compared) EVERSHARD_TRY(impl_->compare(with));
  {
    const std::lock_guard lock(impl_->mutex);
    EVERSHARD_TRY(impl_->names.add(old));
  }
  if (defined == Defined::later) impl_->compare_later();
  return {};
}

Result<void> NamedReaders::check_follower(const Query& query) const {
  return impl_->check(reader_of("a follower", query));
}

}  // namespace evershard::cluster
