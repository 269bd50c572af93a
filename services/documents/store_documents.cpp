#include "evershard/services/documents/store_documents.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "evershard/api/passing_feed.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/engine/any_removed.hpp"
#include "evershard/services/engine/event_ids.hpp"
#include "evershard/services/rows/memory_projection_store.hpp"
#include "evershard/services/rows/rocks_projection_store.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::cluster {

using actors::Definition;
using actors::DocumentFold;
using actors::FoldedDocument;

namespace {

using namespace std::chrono_literals;

constexpr const char* category = "document";
constexpr const char* document_kind = "document";
constexpr std::size_t listed_max = 10'000;
constexpr std::size_t rows_looked_at_max = 100'000;            // of one page
constexpr std::uint64_t row_units = 200, units_of_a_byte = 8;  // of storage::spend: JSON is parsed
constexpr std::size_t page_bytes_max = 8u << 20;

std::string stored_as_json(const RecordedEvent& event) { return event.payload; }

actors::RemovedBetween removed_between(EventStore& events) {
  return [&events, any = std::make_shared<AnyRemoved>(events)](const AggregateId& aggregate, SeqNr from,
                                                               SeqNr to) -> Result<actors::RemovedEvents> {
    actors::RemovedEvents gone;
    const auto something = (*any)();
    if (!something) return refuse(something.error());
    if (!*something) return gone;
    auto between = events.read(aggregate, StreamOptions{.from = from, .limit = to.value - from.value + 1});
    for (const auto& event : between) {
      if (event.state != EventState::removed) continue;
      ++gone.events;
      gone.last = event.seq_nr;
    }
    if (between.error()) return refuse(*between.error());
    return gone;
  };
}

Refused none_defined(const std::string& type) {
  return refuse(ErrorCode::not_found, "there are no documents of type " + in_quotes(type) + ": none are defined");
}
Refused no_such_document(const AggregateId& aggregate) {
  return refuse(ErrorCode::not_found, "there is no document " + in_quotes(aggregate.text()));
}

DocumentDefinition told(const Definition& definition) {
  return {definition.name, definition.newest().spec, definition.last, definition.newest().since};
}

Document told(AggregateId aggregate, const FoldedDocument& document, SeqNr definition) {
  return {std::move(aggregate), document.json(),       document.version, document.position,
          document.problems,    document.last_problem, definition};
}

}  // namespace

Result<std::unique_ptr<StoreDocuments>> StoreDocuments::open(EventStore& events, StoreDocumentsOptions options) {
  const auto head = events.head();
  if (!head) return refuse(head.error());
  std::shared_ptr<storage::ProjectionStore> rows;
  if (options.folder.empty()) {
    rows = storage::memory_projection_store();
  } else {
    if (!options.engine.event_id_at) options.engine.event_id_at = event_ids_of(events);
    auto opened = storage::open_projection_store({.folder = options.folder,
                                                  .of = {options.owner, *head, options.engine.event_id_at},
                                                  .warn = options.engine.warn});
    if (!opened) return refuse(std::move(opened).error());
    rows = *std::move(opened);
  }
  if (!options.as_json) options.as_json = stored_as_json;
  options.engine.reads_whole_only = true;
  std::unique_ptr<StoreDocuments> documents(new StoreDocuments(events, std::move(rows), std::move(options)));
  std::set<std::string, std::less<>> damaged;
  auto defined = documents->catalogue_.list(true, [&](const std::string& type, const Error& why) {
    damaged.insert(type);
    documents->warn(
        Error(why.code, "the definition of documents of type " + in_quotes(type) + " cannot be read: " + why.what));
  });
  if (!defined) return refuse(std::move(defined).error());
  for (const auto& definition : *defined) documents->engine_->apply(definition);
  documents->engine_->drop_others([&](const std::string& type) { return damaged.contains(type); });
  documents->follower_ = std::thread([self = documents.get(), after = *head] { self->follow_definitions(after); });
  return documents;
}

StoreDocuments::StoreDocuments(EventStore& events, std::shared_ptr<storage::ProjectionStore> rows,
                               StoreDocumentsOptions options)
    : events_(events),
      options_(std::move(options)),
      rows_(std::move(rows)),
      catalogue_(events, category),
      kind_(std::make_shared<actors::DocumentProcessorKind>(
          options_.as_json, options_.removals ? removed_between(events) : actors::RemovedBetween())) {
  engine_ = std::make_unique<ProjectionEngine>(events_, rows_, ProcessorKinds{{document_kind, kind_}}, options_.engine);
}

StoreDocuments::~StoreDocuments() {
  close();
  engine_.reset();
  rows_->close();
}

void StoreDocuments::close() {
  {
    const std::lock_guard lock(feeding_);
    closed_ = true;
    if (feed_) feed_->cancel();
  }
  if (follower_.joinable()) follower_.join();
  engine_->stop();
}

/// What others define: through another door, on another node.
void StoreDocuments::follow_definitions(GlobalPosition after) {
  const auto& names = catalogue_.names();
  std::vector<std::string> types;
  for (const auto verb : {actors::verbs::created, actors::verbs::changed, actors::verbs::dropped})
    types.push_back(names.event_type(verb));
  const auto follow_behind = [&](bool anew) {
    const std::lock_guard lock(feeding_);
    if (anew || !feed_)
      feed_ = follow_past_damage(events_, Query{}.types(types), FollowOptions{.after = after},
                                 [this](GlobalPosition position, const Error& why) {
                                   warn(Error(why.code, "definitions of documents pass over event " +
                                                            std::to_string(position.value) + ": " + why.what));
                                 });
    return !closed_;
  };
  std::string trouble;
  const auto say = [&](const Error& error) {  // once of the same
    if (!closed_ && std::exchange(trouble, error.what) != error.what)
      warn(Error(error.code,
                 "what is defined of documents elsewhere cannot be followed, and is tried again: " + error.what));
  };
  for (bool anew = true; follow_behind(anew);) {
    auto item = feed_->next(1s);
    anew = !item;
    if (!item) {
      say(item.error());
      if (!closed_) std::this_thread::sleep_for(50ms);
      continue;
    }
    const bool defined = std::ranges::any_of(item->events, [&](const auto& event) {
      return event.aggregate && event.aggregate->type == names.aggregate_type();
    });
    if (defined) {
      const std::lock_guard lock(applying_);
      const auto all = catalogue_.list(true);
      anew = !all;
      if (!all) {
        say(all.error());
        continue;
      }
      for (const auto& definition : *all) engine_->apply(definition);
    }
    after = item->watermark;
    trouble.clear();
  }
}

Result<Definition> StoreDocuments::definition_of(const std::string& type) {
  if (closed_) return refuse(ErrorCode::unavailable, "the documents are closed");
  if (const auto hosted = engine_->describe(type);
      hosted && !hosted->definition.dropped && !hosted->definition.versions.empty())
    return hosted->definition;
  auto definition = catalogue_.get(type);
  if (definition) return definition;
  if (definition.error().code != ErrorCode::not_found && definition.error().code != ErrorCode::invalid_argument)
    return definition;
  return none_defined(type);
}

Result<Definition> StoreDocuments::newest_definition(const std::string& type) {
  if (closed_) return refuse(ErrorCode::unavailable, "the documents are closed");
  const std::lock_guard lock(applying_);
  auto definition = catalogue_.get(type);
  if (!definition &&
      (definition.error().code == ErrorCode::not_found || definition.error().code == ErrorCode::invalid_argument))
    return none_defined(type);
  if (definition) engine_->apply(*definition);
  return definition;
}

Result<ProjectionInfo> StoreDocuments::describe(const std::string& type) {
  if (const auto definition = newest_definition(type); !definition) return refuse(definition.error());
  const auto watermark = events_.head();
  if (!watermark) return refuse(watermark.error());
  auto hosted = engine_->describe(type);
  if (!hosted || hosted->definition.versions.empty()) return none_defined(type);
  return ProjectionEngine::told(*std::move(hosted), *watermark);
}

Result<DocumentDefinition> StoreDocuments::define(const std::string& type, const std::string& spec,
                                                  std::optional<SeqNr> expected, bool rebuild) {
  if (closed_) return refuse(ErrorCode::unavailable, "the documents are closed");
  const auto checked = kind_->check(type, spec);
  if (!checked) return refuse(checked.error());
  const std::lock_guard lock(applying_);
  const auto there = catalogue_.get(type);
  if (!there && there.error().code != ErrorCode::not_found) return refuse(there.error());
  const SeqNr version = there ? there->last : SeqNr{0};
  if (expected && *expected != version) {
    return refuse(ErrorCode::version_conflict, "the documents of type " + in_quotes(type) + " are defined at version " +
                                                   std::to_string(version.value) + ", expected was " +
                                                   std::to_string(expected->value));
  }
  if (there && !rebuild && actors::same_definition(*checked, there->newest().spec)) return told(*there);
  auto definition =
      there ? catalogue_.change(type, *checked, version) : catalogue_.create(type, document_kind, *checked);
  if (!definition) return refuse(std::move(definition).error());
  engine_->apply(*definition);
  return told(*definition);
}

Result<void> StoreDocuments::drop(const std::string& type) {
  if (closed_) return refuse(ErrorCode::unavailable, "the documents are closed");
  const std::lock_guard lock(applying_);
  auto dropped = catalogue_.drop(type);
  if (!dropped && dropped.error().code == ErrorCode::not_found) return none_defined(type);
  if (!dropped) return refuse(std::move(dropped).error());
  engine_->apply(*dropped);
  return {};
}

Result<std::vector<DocumentDefinition>> StoreDocuments::definitions() { return defined_in(events_); }

Result<std::vector<DocumentDefinition>> StoreDocuments::defined_in(EventStore& events) {
  auto all = Catalogue(events, category).list();
  if (!all) return refuse(std::move(all).error());
  std::vector<DocumentDefinition> shown;
  for (const auto& definition : *all) shown.push_back(told(definition));
  return shown;
}

Result<FoldedDocument> StoreDocuments::row_of(const AggregateId& aggregate, std::optional<SeqNr> version) {
  const auto opened = engine_->open(aggregate.type, {.timeout = 0ms, .version = version});
  if (!opened) return FoldedDocument{};  // its rows are not there yet: all of its events are folded instead
  auto row = opened->rows->get(aggregate.value);
  if (!row) return refuse(std::move(row).error());
  if (!*row) return FoldedDocument{};
  return FoldedDocument::decode(**row);
}

Result<void> StoreDocuments::look_up_hidden(const AggregateId& aggregate, FoldedDocument& document) {
  const AggregateId hidden{std::string(actors::hidden_document_type), aggregate.text()};
  if (!AggregateId::check(hidden)) return {};  // a name too long to have been removed
  auto last = events_.read(hidden, StreamOptions{.limit = 1, .direction = Direction::backwards});
  auto event = last.next();
  if (!event) return refuse(std::move(event).error());
  if (!*event) return {};
  const auto version = actors::read_document_hidden((*event)->payload);
  if (!version) return refuse(version.error());
  document.hidden = std::max(document.hidden, *version);
  return {};
}

/// Made by the newest definition: where its rows are not there yet, of all the aggregate's events.
Result<Document> StoreDocuments::strict(const AggregateId& aggregate) {
  const auto definition = definition_of(aggregate.type);
  if (!definition) return refuse(definition.error());
  const auto fold = DocumentFold::of(definition->newest().spec);
  if (!fold) return refuse(fold.error());
  auto newest = events_.read(aggregate, StreamOptions{.limit = 1, .direction = Direction::backwards});
  auto last = newest.next();
  if (!last) return refuse(std::move(last).error());
  if (!*last) return no_such_document(aggregate);

  auto document = row_of(aggregate, definition->newest().version);
  if (!document) return refuse(std::move(document).error());
  auto behind = events_.read(aggregate, StreamOptions{.from = SeqNr(document->version.value + 1)});
  actors::RemovedEvents gone;  // since the last event that was folded
  for (const auto& event : behind) {
    if (event.state == EventState::removed) {
      ++gone.events;
      gone.last = event.seq_nr;
      continue;
    }
    if (!fold->knows(event.type)) continue;
    document->note_removed(std::exchange(gone.events, 0), gone.last);
    fold->apply(*document, event, options_.as_json(event));
  }
  if (behind.error()) return refuse(*behind.error());
  document->note_removed(gone.events, gone.last);
  EVERSHARD_TRY(look_up_hidden(aggregate, *document));
  if (!document->is_shown()) return no_such_document(aggregate);
  return told(aggregate, *document, definition->newest().version);
}

Result<Document> StoreDocuments::eventual(const AggregateId& aggregate, std::optional<GlobalPosition> at_least,
                                          std::chrono::milliseconds timeout) {
  if (const auto definition = definition_of(aggregate.type); !definition) return refuse(definition.error());
  const auto opened = engine_->open(aggregate.type, {.at_least = at_least, .timeout = timeout});
  if (!opened) return refuse(opened.error());
  const auto row = opened->rows->get(aggregate.value);
  if (!row) return refuse(row.error());
  if (!*row) return no_such_document(aggregate);
  const auto document = FoldedDocument::decode(**row);
  if (!document) return refuse(document.error());
  if (!document->is_shown()) return no_such_document(aggregate);
  return told(aggregate, *document, opened->of.version);
}

Result<Document> StoreDocuments::get(const AggregateId& aggregate, DocumentRead how,
                                     std::optional<GlobalPosition> at_least, std::chrono::milliseconds timeout) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  if (how == DocumentRead::eventual) return eventual(aggregate, at_least, timeout);
  if (at_least) {
    if (auto there = events_.wait_for(*at_least, timeout); !there) return refuse(std::move(there).error());
  }
  return strict(aggregate);
}

/// Rows of one definition, whole: those of the newest one that has caught up, or those that are asked for.
Result<ProjectionEngine::Opened> StoreDocuments::rows_listed(const DocumentListing& listing) {
  auto version = listing.definition;
  if (version) {
    const auto newest = newest_definition(listing.type);
    if (!newest) return refuse(newest.error());
    if (version->value == 0) version = newest->newest().version;
  } else if (const auto definition = definition_of(listing.type); !definition) {
    return refuse(definition.error());
  }
  auto opened = engine_->open(
      listing.type,
      {.at_least = listing.at_least, .timeout = listing.timeout, .version = version, .caught_up = version.has_value()});
  if (!opened && opened.error().code == ErrorCode::not_found && version) {
    return refuse(ErrorCode::not_found, "there are no documents of type " + in_quotes(listing.type) + " by version " +
                                            std::to_string(version->value) +
                                            " of their definition, or none any more: list them from the beginning");
  }
  return opened;
}

Result<DocumentPage> StoreDocuments::list(const DocumentListing& listing) {
  if (listing.limit == 0 || listing.limit > listed_max)
    return refuse(ErrorCode::invalid_argument,
                  "limit is " + std::to_string(listing.limit) + ", it is from 1 to " + std::to_string(listed_max));
  std::optional<actors::DocumentFilter> filter;
  if (listing.filter) {
    auto parsed = actors::DocumentFilter::parse(*listing.filter);
    if (!parsed) return refuse(std::move(parsed).error());
    filter = *std::move(parsed);
  }
  const auto opened = rows_listed(listing);
  if (!opened) return refuse(opened.error());
  DocumentPage page;
  page.position = opened->position;
  page.definition = opened->of.version;
  auto cursor = opened->rows->cursor(storage::RowRange{.from = listing.after ? *listing.after + '\0' : std::string()});
  std::size_t bytes = 0;
  for (std::size_t looked_at = 0; cursor->next(); ++looked_at) {
    if (page.documents.size() == listing.limit || looked_at == rows_looked_at_max || bytes > page_bytes_max)
      return page;
    EVERSHARD_TRY(storage::spend(row_units + units_of_a_byte * cursor->value().size()));
    auto document = FoldedDocument::decode(cursor->value());
    if (!document) return refuse(std::move(document).error());
    page.next = std::string(cursor->key());
    if (!document->is_shown() || (filter && !filter->holds(*document))) continue;
    page.documents.push_back(told({listing.type, *page.next}, *document, page.definition));
    bytes += page.documents.back().json.size();
  }
  if (cursor->error()) return refuse(*cursor->error());
  page.next.reset();
  return page;
}

Result<void> StoreDocuments::remove(const AggregateId& aggregate) {
  const auto document = get(aggregate);
  if (!document) return refuse(document.error());
  Event event;
  event.id = EventId::random();
  event.aggregate = AggregateId{std::string(actors::hidden_document_type), aggregate.text()};
  event.type = actors::document_hidden;
  event.payload = actors::document_hidden_payload(document->version);
  event.format = PayloadFormat::json;
  if (auto done = events_.append(Append{}.event(std::move(event))); !done) return refuse(std::move(done).error());
  return {};
}

}  // namespace evershard::cluster
