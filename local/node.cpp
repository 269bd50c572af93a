#include "evershard/local/node.hpp"

#include <string>
#include <utility>

#include "evershard/protocol/validate.hpp"
#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::cluster {

Result<std::shared_ptr<Node>> Node::open(NodeOptions options) {
  EVERSHARD_TRY(check(options.limits));
  if (!options.store.data_dir.empty()) EVERSHARD_TRY(storage::refuse_unfinished(options.store.data_dir));
  std::shared_ptr<const void> others_out;
  if (options.store.read_only && !options.store.data_dir.empty()) {
    EVERSHARD_TRY(storage::may_be_opened(options.store.data_dir, storage::DirectoryKind::store, false));
    auto kept = storage::keep_others_out(options.store.data_dir);
    if (!kept) return refuse(std::move(kept).error());
    others_out = *std::move(kept);
  }
  auto store = storage::open_store(options.store);
  if (!store) return refuse(std::move(store).error());
  if (const auto& identity = (*store)->identity(); identity.node != 0)
    return refuse(ErrorCode::invalid_argument, "the store in " + options.store.data_dir.string() + " is node " +
                                                   std::to_string(identity.node) +
                                                   "'s part of a cluster's store: only that node opens it");
  auto node = std::make_shared<Node>(*std::move(store), options);
  node->others_out_ = std::move(others_out);
  return node;
}

Node::Node(std::unique_ptr<storage::Store> store, const NodeOptions& options)
    : data_dir_(options.store.data_dir),
      limits_(options.limits),
      at_least_timeout_(options.at_least_timeout),
      store_(std::move(store)),
      reader_(*store_),
      committer_(*store_, {.limits = limits_, .takes_sealed = options.keys != nullptr}),
      keys_(options.keys),
      sealing_(keys_ ? std::make_shared<const Sealing>(keys_) : nullptr),
      retention_writer_(committer_, limits_),
      retention_(
          *store_, reader_, retention_writer_, keys_.get(), [this](const AggregateId& aggregate) { forget(aggregate); },
          options.store.at_step),
      journal_({*store_, reader_, committer_, gate_, limits_, at_least_timeout_}),
      sealed_journal_(sealing_ ? std::make_unique<SealedJournal>(journal_, sealing_) : nullptr),
      aggregate_options_([&] {
        auto aggregates = options.aggregates;
        aggregates.limits = options.limits;
        return aggregates;
      }()) {
  if (sealing_)
    sealing_->watch_erasures([this] {
      const std::lock_guard lock(aggregates_mutex_);
      if (aggregates_) aggregates_->passivate_of_subjects();
    });
}

actors::AggregateHost& Node::aggregates() {
  const std::lock_guard lock(aggregates_mutex_);
  if (!aggregates_) {
    actors::AggregateJournal& journal =
        sealed_journal_ ? static_cast<actors::AggregateJournal&>(*sealed_journal_) : journal_;
    auto options = aggregate_options_;
    options.fork = store_->identity().fork.text();
    aggregates_ = std::make_unique<actors::AggregateHost>(journal, store_->identity().shards, std::move(options));
    if (aggregates_closed_) aggregates_->stop();
  }
  return *aggregates_;
}

void Node::forget(const AggregateId& aggregate) {
  const std::lock_guard lock(aggregates_mutex_);
  if (aggregates_) aggregates_->passivate(aggregate);
}

std::uint64_t Node::rewritten() const { return store_->removals().changes() + (keys_ ? keys_->erasures() : 0); }

std::optional<actors::AggregateFigures> Node::aggregate_figures() const {
  const std::lock_guard lock(aggregates_mutex_);
  if (!aggregates_) return std::nullopt;
  return aggregates_->figures();
}

Result<Gate::Pass> Node::enter() {
  auto pass = gate_.enter();
  if (!pass) return refuse(ErrorCode::unavailable, "the store is closed");
  return pass;
}

storage::Progress Node::until_closed(storage::Progress progress) {
  return [this, progress = std::move(progress)](std::uint64_t done, std::uint64_t total) {
    return !gate_.closing() && (!progress || progress(done, total));
  };
}

void Node::close() {
  std::call_once(closed_, [this] {
    if (sealing_) sealing_->watch_erasures({});  // before the lock: a thread that tells of an erasure may want it
    {
      const std::lock_guard lock(aggregates_mutex_);
      aggregates_closed_ = true;
      if (aggregates_) aggregates_->stop();  // first: what it sent is still written and answered
    }
    gate_.close();      // whoever is inside is answered: the committer still runs
    committer_.stop();  // and so is whatever was sent without waiting; who waits for the watermark is told
    held_.close();      // before the store: what they hold is the store's
    store_->close();
    others_out_.reset();
  });
}

}  // namespace evershard::cluster
