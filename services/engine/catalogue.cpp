#include "evershard/services/engine/catalogue.hpp"

#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {

using actors::Definition;

namespace {

constexpr auto shown_within = std::chrono::seconds(10);

constexpr std::size_t definitions_a_page = 256;

}  // namespace

Result<std::optional<Definition>> Catalogue::find(const std::string& name) {
  EVERSHARD_TRY(actors::check_definition_name(names_.category(), name));
  Definition found{.name = name};
  auto events = store_.read(names_.aggregate(name));
  for (const auto& event : events) EVERSHARD_TRY(actors::fold(found, names_, event));
  if (events.error()) return refuse(*events.error());
  if (found.versions.empty()) return std::nullopt;
  return found;
}

Result<Definition> Catalogue::get(const std::string& name) {
  auto found = find(name);
  if (!found) return refuse(std::move(found).error());
  if (!*found) return refuse(ErrorCode::not_found, "there is no " + names_.category() + " " + in_quotes(name));
  if ((*found)->dropped)
    return refuse(ErrorCode::not_found, "the " + names_.category() + " " + in_quotes(name) + " was dropped");
  return **std::move(found);
}

Result<std::vector<Definition>> Catalogue::list(bool dropped, const PassedOver& passed_over) {
  std::vector<Definition> all;
  std::optional<AggregateId> after;
  while (true) {
    auto page = store_.aggregates(names_.aggregate_type(), after, definitions_a_page);
    if (!page) return refuse(std::move(page).error());
    for (const auto& info : *page) {
      auto found = find(info.aggregate.value);
      if (!found && found.error().code == ErrorCode::corruption) {
        if (passed_over) passed_over(info.aggregate.value, found.error());
        continue;
      }
      if (!found) return refuse(std::move(found).error());
      if (*found && (dropped || !(*found)->dropped)) all.push_back(**std::move(found));
    }
    if (page->size() < definitions_a_page) return all;
    after = page->back().aggregate;
  }
}

Result<Definition> Catalogue::append(const std::string& name, SeqNr at, std::string_view verb, std::string payload) {
  const auto aggregate = names_.aggregate(name);
  Event event;
  event.aggregate = aggregate;
  event.type = names_.event_type(verb);
  event.payload = std::move(payload);
  event.format = PayloadFormat::json;
  Append append;
  append.event(std::move(event)).expect(aggregate, ExpectedVersion::exactly(at));
  auto done = store_.append(std::move(append));
  if (!done) return refuse(std::move(done).error());
  // From here on the definition is stored: no error may say that it was not. A node of a cluster may learn of the
  // event's position a little later than of its append.
  // Where the event does not show in time, it is stored all the same.
  static_cast<void>(store_.wait_for(done->last_position, shown_within));
  auto found = find(name);
  const auto unread = [&](const std::string& why) {
    return refuse(ErrorCode::timeout,
                  "the " + names_.category() + " " + in_quotes(name) + " was written and cannot be read yet" + why);
  };
  if (!found) return unread(": " + found.error().what);
  if (!*found) return unread({});
  return **std::move(found);
}

Result<std::optional<Definition>> Catalogue::there_already(const std::string& name, const std::string& kind,
                                                           const std::string& spec, IfThere there,
                                                           const std::function<bool(const std::string&)>& same) {
  auto found = find(name);
  if (!found) return refuse(std::move(found).error());
  if (!*found || (*found)->dropped) return std::nullopt;
  const auto said = "there is a " + names_.category() + " " + in_quotes(name) + " already";
  if (there == IfThere::refuse) return refuse(ErrorCode::already_exists, said);
  const auto& newest = (*found)->newest().spec;
  if ((*found)->kind == kind && (same ? same(newest) : actors::same_definition(newest, spec))) return *std::move(found);
  return refuse(ErrorCode::already_exists, said + ", with another definition");
}

Result<Definition> Catalogue::create(const std::string& name, const std::string& kind, const std::string& spec,
                                     IfThere there, const std::function<bool(const std::string&)>& same) {
  auto known = there_already(name, kind, spec, there, same);
  if (!known) return refuse(std::move(known).error());
  if (*known) return **std::move(known);
  const auto found = find(name);
  if (!found) return refuse(found.error());
  return append(name, *found ? (*found)->last : SeqNr{0}, actors::verbs::created,
                actors::definition_payload(kind, spec));
}

Result<Definition> Catalogue::change(const std::string& name, const std::string& spec, std::optional<SeqNr> expected) {
  const auto found = get(name);
  if (!found) return refuse(found.error());
  return append(name, expected.value_or(found->last), actors::verbs::changed,
                actors::definition_payload(found->kind, spec));
}

Result<Definition> Catalogue::drop(const std::string& name, std::optional<SeqNr> expected) {
  return note(name, actors::verbs::dropped, "{}", expected);
}

Result<Definition> Catalogue::note(const std::string& name, std::string_view verb, std::string payload,
                                   std::optional<SeqNr> expected) {
  const auto found = get(name);
  if (!found) return refuse(found.error());
  return append(name, expected.value_or(found->last), verb, std::move(payload));
}

}  // namespace evershard::cluster
