#include "evershard/services/documents/lazy_documents.hpp"

namespace evershard::cluster {

void LazyDocuments::begin() {
  begins_.begin([this]() -> Result<void> {
    const auto defined = events_.aggregates("$document", {}, 1);
    if (!defined) return refuse(defined.error());
    if (defined->empty()) return {};
    if (const auto documents = opened(); !documents) return refuse(documents.error());
    return {};
  });
}

void LazyDocuments::close() {
  begins_.stop();
  std::shared_ptr<StoreDocuments> documents;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    documents = std::move(documents_);
  }
  if (documents) documents->close();
}

Result<std::shared_ptr<StoreDocuments>> LazyDocuments::opened() {
  const std::lock_guard lock(mutex_);
  if (closed_) return refuse(ErrorCode::unavailable, "the store is closed");
  if (documents_) return documents_;
  auto documents = StoreDocuments::open(events_, options_);
  if (!documents) return refuse(std::move(documents).error());
  documents_ = *std::move(documents);
  return documents_;
}

Result<DocumentDefinition> LazyDocuments::define(const std::string& type, const std::string& spec,
                                                 std::optional<SeqNr> expected, bool rebuild) {
  auto documents = opened();
  if (!documents) return refuse(std::move(documents).error());
  return (*documents)->define(type, spec, expected, rebuild);
}

Result<void> LazyDocuments::drop(const std::string& type) {
  auto documents = opened();
  if (!documents) return refuse(std::move(documents).error());
  return (*documents)->drop(type);
}

Result<std::vector<DocumentDefinition>> LazyDocuments::definitions() {
  // Who only looks makes no rows, and needs none: also where there is no room for them.
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return refuse(ErrorCode::unavailable, "the store is closed");
  }
  return StoreDocuments::defined_in(events_);
}

Result<ProjectionInfo> LazyDocuments::describe(const std::string& type) {
  auto documents = opened();
  if (!documents) return refuse(std::move(documents).error());
  return (*documents)->describe(type);
}

Result<Document> LazyDocuments::get(const AggregateId& aggregate, DocumentRead how,
                                    std::optional<GlobalPosition> at_least, std::chrono::milliseconds timeout) {
  auto documents = opened();
  if (!documents) return refuse(std::move(documents).error());
  return (*documents)->get(aggregate, how, at_least, timeout);
}

Result<DocumentPage> LazyDocuments::list(const DocumentListing& listing) {
  auto documents = opened();
  if (!documents) return refuse(std::move(documents).error());
  return (*documents)->list(listing);
}

Result<void> LazyDocuments::remove(const AggregateId& aggregate) {
  auto documents = opened();
  if (!documents) return refuse(std::move(documents).error());
  return (*documents)->remove(aggregate);
}

Result<void> LazyDocuments::vacuum(const storage::Progress& progress, unsigned removed_percent) {
  std::shared_ptr<StoreDocuments> documents;
  {
    const std::lock_guard lock(mutex_);
    documents = documents_;
  }
  return documents ? documents->vacuum(progress, removed_percent) : Result<void>{};
}

}  // namespace evershard::cluster
