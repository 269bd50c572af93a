#include "evershard/services/indexes/document_processor.hpp"

#include <charconv>
#include <map>
#include <utility>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::actors {
namespace {

constexpr std::string_view hidden_before = "{\"version\":", hidden_after = "}";

Query query_of(const DocumentFold& fold) {
  auto types = fold.event_types();
  types.emplace_back(document_hidden);
  types.emplace_back(retention::aggregate_removed);
  return Query{}.types(std::move(types));
}

}  // namespace

std::string document_hidden_payload(SeqNr version) {
  return std::string(hidden_before) + std::to_string(version.value) + std::string(hidden_after);
}

Result<SeqNr> read_document_hidden(std::string_view payload) {
  SeqNr version{};
  if (payload.starts_with(hidden_before) && payload.ends_with(hidden_after)) {
    const auto digits =
        payload.substr(hidden_before.size(), payload.size() - hidden_before.size() - hidden_after.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version.value);
    if (error == std::errc{} && end == digits.data() + digits.size()) return version;
  }
  return refuse(ErrorCode::corruption, "the payload of a " + std::string(document_hidden) + " cannot be read");
}

DocumentProcessor::DocumentProcessor(std::string aggregate_type, DocumentFold fold, DocumentPayload as_json,
                                     RemovedBetween removed)
    : aggregate_type_(std::move(aggregate_type)),
      fold_(std::move(fold)),
      as_json_(std::move(as_json)),
      removed_(std::move(removed)),
      query_(query_of(fold_)) {}

Result<void> DocumentProcessor::fold(FoldedDocument& document, const RecordedEvent& event) const {
  if (removed_ && event.type != retention::aggregate_removed && event.seq_nr > document.version + 1) {
    const auto gone = removed_(*event.aggregate, document.version + 1, event.seq_nr - 1);
    if (!gone) return refuse(gone.error());
    document.note_removed(gone->events, gone->last);
  }
  fold_.apply(document, event, as_json_(event));
  return {};
}

Result<void> DocumentProcessor::handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) {
  // Which documents the page is about; each is read once and written once.
  std::vector<std::pair<const RecordedEvent*, std::string>> concerned;
  std::map<std::string, FoldedDocument> documents;
  for (const auto* event : events) {
    if (!event->aggregate) continue;
    std::string value;
    if (event->aggregate->type == aggregate_type_ && fold_.knows(event->type)) {
      value = event->aggregate->value;
    } else if (event->aggregate->type == hidden_document_type && event->type == document_hidden) {
      const auto hidden = AggregateId::parse(event->aggregate->value);
      if (!hidden || hidden->type != aggregate_type_) continue;
      value = hidden->value;
    } else {
      continue;
    }
    documents.try_emplace(value);
    concerned.emplace_back(event, std::move(value));
  }
  std::vector<std::string> keys;
  for (const auto& [value, document] : documents) keys.push_back(value);
  auto found = rows.get_many(keys);
  if (!found) return refuse(std::move(found).error());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!(*found)[i]) continue;
    auto document = FoldedDocument::decode(*(*found)[i]);
    if (!document) return refuse(std::move(document).error());
    documents[keys[i]] = *std::move(document);
  }
  for (const auto& [event, value] : concerned) {
    auto& document = documents[value];
    if (event->type != document_hidden) {
      if (event->seq_nr > document.version) EVERSHARD_TRY(fold(document, *event));
      continue;
    }
    auto version = read_document_hidden(event->payload);
    if (!version) return refuse(std::move(version).error());
    document.hidden = std::max(document.hidden, *version);
  }
  for (const auto& [value, document] : documents) rows.put(value, document.encode());
  return {};
}

Result<std::string> DocumentProcessorKind::check(const std::string& name, const std::string& spec) const {
  EVERSHARD_TRY(AggregateId::check({name, "x"}));
  auto fold = DocumentFold::of(spec);
  if (!fold) return refuse(std::move(fold).error());
  EVERSHARD_TRY(query_of(*fold).check());
  return spec;
}

Result<std::unique_ptr<Processor>> DocumentProcessorKind::make(const std::string& name, const std::string& spec) const {
  auto fold = DocumentFold::of(spec);
  if (!fold) return refuse(std::move(fold).error());
  return std::make_unique<DocumentProcessor>(name, *std::move(fold), as_json_, removed_);
}

}  // namespace evershard::actors
