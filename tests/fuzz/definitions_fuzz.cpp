// Fuzzing what definitions are read from: events of a definition's aggregate, specs of queries, value indexes, tables
// and documents, filters of documents, documents as they are kept. The first byte says which of them the rest is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/indexes/definition_fold.hpp"
#include "evershard/services/indexes/document_fold.hpp"
#include "evershard/services/indexes/json_path.hpp"
#include "evershard/services/indexes/query_spec.hpp"
#include "evershard/services/indexes/value_index.hpp"
#include "evershard/services/tables/host/table_definition_json.hpp"
#include "evershard/services/tables/table_mapping.hpp"

namespace {

using namespace evershard;
using namespace evershard::actors;

/// Not corruption, nor a failure: who sent it is told what is wrong with it.
void look_at_refusal(const Error& error) {
  const bool known = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::invalid_query ||
                     error.code == ErrorCode::too_large;
  EVERSHARD_CHECK(known && is_utf8(error.what), "a refusal is text, and of its kind");
}

/// What has one form is read as it is written.
void look_at_spec(std::string_view text, const auto& read, const auto& write) {
  const auto value = read(std::string(text));
  if (!value) return look_at_refusal(value.error());
  const std::string written = write(*value);
  EVERSHARD_CHECK(is_json_text(written), "a spec is JSON");
  const auto again = read(written);
  EVERSHARD_CHECK(again && write(*again) == written, "what was written is read again as it was");
}

/// A line an event: the first byte says what happened, the rest is its payload.
void look_at_events(std::string_view text) {
  static const DefinitionNames names("projection");
  constexpr std::array all{verbs::created, verbs::changed, verbs::dropped, verbs::paused,
                           verbs::resumed, verbs::reset,   verbs::rebuilt, verbs::served};
  for (const char* name : {"orders", "orders~1"}) {
    Definition definition;
    definition.name = name;
    RecordedEvent event;
    for (std::string_view left = text; !left.empty();) {
      const auto end = std::min(left.find('\n'), left.size());
      const auto line = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      if (line.empty()) continue;
      event.seq_nr = event.seq_nr + 1;
      event.position = event.position + 1;
      event.type = names.event_type(all[static_cast<unsigned char>(line.front()) % all.size()]);
      event.payload = line.substr(1);
      if (const auto folded = fold(definition, names, event); !folded) {
        EVERSHARD_CHECK(folded.error().code == ErrorCode::corruption && is_utf8(folded.error().what),
                        "what is no definition is damaged");
        break;
      }
      (void)waits_to_be_served(definition);
      if (definition.versions.empty()) continue;
      (void)served_version(definition);
      EVERSHARD_CHECK(is_json_text(definition.newest().spec), "a spec is JSON");
    }
  }
}

void look_at_query_spec(std::string_view text) { look_at_spec(text, read_query_spec, query_spec); }
void look_at_value_index(std::string_view text) {
  look_at_spec(text, read_value_index_spec, value_index_spec);
  static const ValueIndexKind kind([] { return PayloadAsJson(); });
  const auto checked = kind.check("by-city", std::string(text));
  EVERSHARD_CHECK(!checked || kind.make("by-city", *checked), "what was checked can be made");
}
void look_at_table(std::string_view text) {
  look_at_spec(
      text, [](const std::string& json) { return cluster::read_table_definition(json, "orders"); },
      cluster::table_definition_json);
  const auto definition = cluster::read_table_definition(text, "orders");
  if (!definition) return;
  (void)definition->query();
  EVERSHARD_CHECK(definition->check(), "what was read is checked");
  const auto* rules = std::get_if<std::vector<MappingRule>>(&definition->made_by);
  EVERSHARD_CHECK(rules == nullptr || TableMapping::make(definition->schema, *rules), "what was checked can be made");
}

RecordedEvent placed() {
  RecordedEvent event;
  event.aggregate = *AggregateId::parse("order-1");
  event.type = "Placed";
  event.seq_nr = SeqNr{1};
  event.position = GlobalPosition{7};
  return event;
}
constexpr std::string_view placed_payload = R"({"a":{"b":[1,"x",null]},"n":2.5,"t":"text","big":18446744073709551615})";

void look_at_kept(const FoldedDocument& document) {
  EVERSHARD_CHECK(is_json_text(document.json()), "a document is JSON");
  const auto again = FoldedDocument::decode(document.encode());
  EVERSHARD_CHECK(again && *again == document, "a document is read as it is kept");
}

void look_at_fold(std::string_view text) {
  const auto fold = DocumentFold::of(text);
  if (!fold) return look_at_refusal(fold.error());
  FoldedDocument document;
  auto event = placed();
  for (const auto& type : fold->event_types()) {
    event.type = type;
    EVERSHARD_CHECK(fold->knows(type), "it knows what it names");
    for (int twice = 0; twice != 2; ++twice) {
      event.seq_nr = event.seq_nr + 1;
      fold->apply(document, event, placed_payload);
    }
  }
  look_at_kept(document);
}

void look_at_document_filter(std::string_view text) {
  static const FoldedDocument document = [] {
    FoldedDocument made;
    DocumentFold::of(R"({"events":{"Placed":{"merge":true}}})")->apply(made, placed(), placed_payload);
    return made;
  }();
  const auto filter = DocumentFilter::parse(text);
  if (!filter) return look_at_refusal(filter.error());
  (void)filter->holds(document);
  (void)filter->holds(FoldedDocument());
}

void look_at_document(std::string_view bytes) {
  const auto document = FoldedDocument::decode(bytes);
  if (document) return look_at_kept(*document);
  EVERSHARD_CHECK(document.error().code == ErrorCode::corruption && is_utf8(document.error().what),
                  "what is no document is damaged");
}

using Look = void (*)(std::string_view);
constexpr std::array<Look, 7> looks{look_at_events, look_at_query_spec,      look_at_value_index, look_at_table,
                                    look_at_fold,   look_at_document_filter, look_at_document};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= looks.size())
    return 0;  // not wrapped around: what an input is does not hang on how many there are
  looks[data[0]]({reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
