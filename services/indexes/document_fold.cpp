#include "evershard/services/indexes/document_fold.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/indexes/json_depth.hpp"
#include "evershard/services/indexes/json_path.hpp"

namespace evershard::actors {
namespace {

using nlohmann::json;
using DocumentPath = std::vector<std::string>;

constexpr std::size_t path_parts_max = 32;
constexpr std::size_t steps_max = 64;
constexpr std::size_t document_bytes_max = 8u << 20;

Refused wrong_in(const std::string& where, const std::string& what) {
  return refuse(ErrorCode::invalid_argument, where + ": " + what);
}

/// Refuses members that come twice, which a parser would silently drop.
std::optional<json> parsed(std::string_view text, bool& twice) {
  std::vector<std::vector<std::string>> open;
  const auto see = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key) {
      auto& keys = open.back();
      const auto name = value.get<std::string>();
      if (std::ranges::find(keys, name) != keys.end()) twice = true;
      keys.push_back(name);
    }
    return true;
  };
  auto value = json::parse(text, see, false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

Result<DocumentPath> path_of(const json& from, const std::string& where) {
  DocumentPath path;
  if (from.is_array()) {
    for (const auto& part : from) {
      if (!part.is_string()) return wrong_in(where, "a path is a text such as customer.name, or an array of texts");
      path.push_back(part.get<std::string>());
    }
  } else if (from.is_string()) {
    const auto& text = from.get_ref<const std::string&>();
    for (std::size_t at = 0; at <= text.size();) {
      const auto dot = std::min(text.find('.', at), text.size());
      path.push_back(text.substr(at, dot - at));
      at = dot + 1;
    }
  } else {
    return wrong_in(where, "a path is a text such as customer.name, or an array of texts");
  }
  if (path.empty() || std::ranges::any_of(path, &std::string::empty))
    return wrong_in(where, "a part of the path is empty");
  if (path.size() > path_parts_max)
    return wrong_in(
        where, "a path of " + std::to_string(path.size()) + " parts; the most is " + std::to_string(path_parts_max));
  return path;
}

std::string text_of(const DocumentPath& path) {
  std::string text;
  for (const auto& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

template <class Json>
Json* found_at(Json& root, const DocumentPath& path) {
  Json* at = &root;
  for (const auto& part : path) {
    if (!at->is_object()) return nullptr;
    const auto next = at->find(part);
    if (next == at->end()) return nullptr;
    at = &*next;
  }
  return at;
}

/// Makes the objects on the way. Null: something on the way is no object.
json* made_at(json& root, const DocumentPath& path) {
  json* at = &root;
  for (const auto& part : path) {
    if (at->is_null()) *at = json::object();
    if (!at->is_object()) return nullptr;
    at = &(*at)[part];
  }
  return at;
}

std::string json_text(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// Exact: a double has no room for each whole number beyond 2^53.
std::partial_ordering order_of(__int128 whole, double number) {
  constexpr double beyond = 18446744073709551616.0;  // 2^64
  if (number >= beyond) return std::partial_ordering::less;
  if (number <= -beyond) return std::partial_ordering::greater;
  const double below = std::floor(number);
  if (const auto order = whole <=> static_cast<__int128>(below); order != 0) return order;
  return below < number ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

/// Of numbers by what they are: the library compares a negative one with an unsigned one as if it were unsigned.
std::partial_ordering order_of(const json& a, const json& b) {
  const auto whole = [](const json& n) {
    return n.is_number_unsigned() ? static_cast<__int128>(n.get<std::uint64_t>())
                                  : static_cast<__int128>(n.get<std::int64_t>());
  };
  if (a.is_number_float() && b.is_number_float()) return a.get<double>() <=> b.get<double>();
  if (b.is_number_float()) return order_of(whole(a), b.get<double>());
  if (a.is_number_float()) return 0 <=> order_of(whole(b), a.get<double>());
  return whole(a) <=> whole(b);
}

/// Whole numbers stay whole as long as they fit.
json sum(const json& a, const json& b) {
  std::int64_t whole = 0;
  const auto fits = [](const json& n) {
    return n.is_number_integer() && (!n.is_number_unsigned() || n.get<std::uint64_t>() <= INT64_MAX);
  };
  if (fits(a) && fits(b) && !__builtin_add_overflow(a.get<std::int64_t>(), b.get<std::int64_t>(), &whole)) return whole;
  return a.get<double>() + b.get<double>();
}

json product(const json& a, const json& b) {
  std::int64_t whole = 0;
  const auto fits = [](const json& n) {
    return n.is_number_integer() && (!n.is_number_unsigned() || n.get<std::uint64_t>() <= INT64_MAX);
  };
  if (fits(a) && fits(b) && !__builtin_mul_overflow(a.get<std::int64_t>(), b.get<std::int64_t>(), &whole)) return whole;
  return a.get<double>() * b.get<double>();
}

}  // namespace

struct FoldedDocument::Value {
  nlohmann::json value = nlohmann::json::object();
  std::size_t bytes_at_most = 2;  ///< written out
  bool bytes_counted = false;     ///< they are exactly so many
};

FoldedDocument::FoldedDocument() : value_(std::make_unique<Value>()) {}
FoldedDocument::FoldedDocument(const FoldedDocument& other)
    : version(other.version),
      position(other.position),
      hidden(other.hidden),
      events(other.events),
      problems(other.problems),
      last_problem(other.last_problem),
      value_(std::make_unique<Value>(*other.value_)) {}
FoldedDocument::FoldedDocument(FoldedDocument&&) noexcept = default;
FoldedDocument& FoldedDocument::operator=(FoldedDocument other) noexcept {
  version = other.version, position = other.position, hidden = other.hidden, events = other.events,
  problems = other.problems;
  last_problem = std::move(other.last_problem);
  value_ = std::move(other.value_);
  return *this;
}
FoldedDocument::~FoldedDocument() = default;

std::string FoldedDocument::json() const { return json_text(value_->value); }

void FoldedDocument::note_removed(std::uint64_t removed, SeqNr last) {
  if (removed == 0) return;
  ++problems;
  last_problem = std::to_string(removed) + (removed == 1 ? " event" : " events") + " up to number " +
                 std::to_string(last.value) + " of the aggregate: removed before they were read here";
}

std::string FoldedDocument::encode() const {
  nlohmann::json row{{"v", version.value}, {"p", position.value}, {"e", events}, {"d", value_->value}};
  if (hidden.value != 0) row["h"] = hidden.value;
  if (problems != 0) row["n"] = problems, row["l"] = last_problem;
  return json_text(row);
}

Result<FoldedDocument> FoldedDocument::decode(std::string_view bytes) {
  const auto row = nlohmann::json::parse(bytes, nullptr, false);
  const auto number = [&](const char* key) { return row.contains(key) && row[key].is_number_unsigned(); };
  if (!row.is_object() || !number("v") || !number("p") || !number("e") || !row.contains("d") || !row["d"].is_object())
    return refuse(ErrorCode::corruption, "a document's row cannot be read");
  FoldedDocument document;
  document.version = SeqNr(row["v"].get<std::uint64_t>());
  document.position = GlobalPosition(row["p"].get<std::uint64_t>());
  document.events = row["e"].get<std::uint64_t>();
  if (number("h")) document.hidden = SeqNr(row["h"].get<std::uint64_t>());
  if (number("n")) document.problems = row["n"].get<std::uint64_t>();
  if (row.contains("l") && row["l"].is_string()) document.last_problem = row["l"].get<std::string>();
  document.value_->value = row["d"];
  document.value_->bytes_at_most = bytes.size();
  return document;
}

struct DocumentFold::Step {
  enum class Kind : std::uint8_t { merge, set, increment, append, remove };
  Kind kind = Kind::merge;
  DocumentPath path{};                 ///< in the document; of merge: into
  std::optional<DocumentPath> from{};  ///< in the payload; of merge: absent is the whole payload
  std::string own{};                   ///< or the event's own, with its `$`
  std::optional<json> value{};         ///< or this; of increment: by

  [[nodiscard]] std::optional<json> source(const RecordedEvent& event, const json& payload) const;
  /// Returns: what cannot be done; nothing: done.
  [[nodiscard]] std::optional<std::string> run(FoldedDocument::Value& document, const RecordedEvent& event,
                                               const json& payload) const;

  [[nodiscard]] bool needs_payload() const { return kind == Kind::merge || from.has_value(); }

  static Result<Step> read(const json& from, const std::string& where);
};

Result<DocumentFold::Step> DocumentFold::Step::read(const json& from, const std::string& where) {
  if (!from.is_object()) return wrong_in(where, "a step is an object, such as {\"set\":\"status\",\"value\":\"open\"}");
  static const std::pair<const char*, Kind> kinds[] = {{"merge", Kind::merge},
                                                       {"set", Kind::set},
                                                       {"increment", Kind::increment},
                                                       {"append", Kind::append},
                                                       {"remove", Kind::remove}};
  Step step;
  const char* verb = nullptr;
  for (const auto& [name, kind] : kinds) {
    if (!from.contains(name)) continue;
    if (verb != nullptr) return wrong_in(where, std::string(verb) + " and " + name + " in one step");
    verb = name;
    step.kind = kind;
  }
  if (verb == nullptr) return wrong_in(where, "a step has one of merge, set, increment, append, remove");
  const char* constant = step.kind == Kind::increment ? "by" : "value";
  for (const auto& [key, value] : from.items()) {
    const bool is_merge = step.kind == Kind::merge, takes_source = !is_merge && step.kind != Kind::remove;
    if (key == verb) {
      if (is_merge && value == json(true)) continue;
      auto path = path_of(value, where + "." + key);
      if (!path) return refuse(std::move(path).error());
      (is_merge ? step.from.emplace() : step.path) = *std::move(path);
    } else if (is_merge && key == "into") {
      auto path = path_of(value, where + ".into");
      if (!path) return refuse(std::move(path).error());
      step.path = *std::move(path);
    } else if (takes_source && key == "from") {
      if (value.is_string() && value.get_ref<const std::string&>().starts_with('$')) {
        step.own = value.get<std::string>();
        if (step.own != "$type" && step.own != "$id" && step.own != "$position" && step.own != "$seq_nr" &&
            step.own != "$occurred_at") {
          return wrong_in(
              where + ".from",
              in_quotes(step.own) +
                  " is none of $type, $id, $position, $seq_nr, $occurred_at; a payload's member of that name is [" +
                  in_quotes(step.own) + "]");
        }
        continue;
      }
      auto path = path_of(value, where + ".from");
      if (!path) return refuse(std::move(path).error());
      step.from = *std::move(path);
    } else if (takes_source && key == constant) {
      if (step.kind == Kind::increment && !value.is_number()) return wrong_in(where + ".by", "must be a number");
      step.value = value;
    } else {
      return wrong_in(where, "unknown key " + in_quotes(key) + " beside " + verb);
    }
  }
  const bool sourced = step.from.has_value() || !step.own.empty();
  if (step.kind == Kind::set || step.kind == Kind::append) {
    if (sourced == step.value.has_value()) return wrong_in(where, std::string(verb) + " needs either from or value");
  }
  if (step.kind == Kind::increment && !sourced && !step.value)
    return wrong_in(where, "increment needs from, or by, or both");
  return step;
}

std::optional<json> DocumentFold::Step::source(const RecordedEvent& event, const json& payload) const {
  if (own == "$type") return event.type;
  if (own == "$id") return event.id.text();
  if (own == "$position") return event.position.value;
  if (own == "$seq_nr") return event.seq_nr.value;
  if (own == "$occurred_at") return event.occurred_at.text();
  if (!from) return kind == Kind::merge ? std::optional<json>(payload) : value;
  const json* found = found_at(payload, *from);
  if (found == nullptr) return std::nullopt;
  return *found;
}

std::optional<std::string> DocumentFold::Step::run(FoldedDocument::Value& whole, const RecordedEvent& event,
                                                   const json& payload) const {
  json& document = whole.value;
  if (kind == Kind::remove) {
    whole.bytes_counted = false;
    json* parent = found_at(document, DocumentPath(path.begin(), path.end() - 1));
    if (parent != nullptr && parent->is_object()) parent->erase(path.back());
    return std::nullopt;
  }
  auto given = source(event, payload);
  if (!given) return std::nullopt;
  if (kind == Kind::increment && !given->is_number())
    return "increment of " + in_quotes(text_of(path)) + " by what is no number";
  if (kind == Kind::merge && !given->is_object()) return "merge of what is no object";
  // Everything is checked before a value is made: a step is done whole, or not at all.
  const json* there = found_at(std::as_const(document), path);
  if (there == nullptr) {
    DocumentPath way;
    for (const auto& part : path) {
      const json* on_the_way = found_at(std::as_const(document), way);
      if (on_the_way != nullptr && !on_the_way->is_object() && !on_the_way->is_null())
        return in_quotes(text_of(way)) + " of " + in_quotes(text_of(path)) + " is no object";
      way.push_back(part);
    }
  } else {
    const bool empty = there->is_null();
    if (kind == Kind::increment && !there->is_number() && !empty)
      return "increment of " + in_quotes(text_of(path)) + ", which is no number";
    if (kind == Kind::append && !there->is_array() && !empty)
      return "append to " + in_quotes(text_of(path)) + ", which is no list";
    if (kind == Kind::merge && !there->is_object() && !empty)
      return "merge into " + in_quotes(text_of(path)) + ", which is no object";
  }
  if (kind == Kind::increment) {
    if ((from || !own.empty()) && value) given = product(*given, *value);
    given = sum(there == nullptr || there->is_null() ? json(0) : *there, *given);
    if (given->is_number_float() && !std::isfinite(given->get<double>()))
      return "increment of " + in_quotes(text_of(path)) + " beyond what a number holds";
  }
  // An upper bound: the bytes of the value as JSON, of the path to it, and of the punctuation between.
  std::size_t more = json_text(*given).size() + 8 * (path.size() + 1);
  for (const auto& part : path) more += json_text(part).size();
  if (whole.bytes_at_most + more > document_bytes_max && !std::exchange(whole.bytes_counted, true))
    whole.bytes_at_most = json_text(document).size();
  if (whole.bytes_at_most + more > document_bytes_max)
    return "the document would have more than " + std::to_string(document_bytes_max) + " bytes";
  whole.bytes_at_most += more;
  whole.bytes_counted = false;
  json* target = made_at(document, path);
  if (target == nullptr) return in_quotes(text_of(path)) + " cannot be reached";
  switch (kind) {
    case Kind::merge:
      if (target->is_null()) *target = json::object();
      for (auto& [key, member] : given->items()) (*target)[key] = std::move(member);
      break;
    case Kind::set:
    case Kind::increment:
      *target = *std::move(given);
      break;
    case Kind::append:
      if (target->is_null()) *target = json::array();
      target->push_back(*std::move(given));
      break;
    case Kind::remove:
      break;
  }
  return std::nullopt;
}

Result<DocumentFold> DocumentFold::of(std::string_view spec) {
  if (is_nested_too_deeply(spec)) return refuse(ErrorCode::invalid_argument, "the definition is nested too deeply");
  bool twice = false;
  const auto root = parsed(spec, twice);
  if (!root) return refuse(ErrorCode::invalid_argument, "the definition is not JSON");
  if (twice) return refuse(ErrorCode::invalid_argument, "a key of the definition comes twice");
  if (!root->is_object() || root->size() != 1 || !root->contains("events") || !(*root)["events"].is_object()) {
    return refuse(ErrorCode::invalid_argument,
                  "the definition is an object with one member, events: an object with a member an event type");
  }
  DocumentFold fold;
  for (const auto& [type, rule] : (*root)["events"].items()) {
    const std::string where = "events." + type;
    if (type.empty() || is_reserved(type)) return wrong_in(where, "is no event type of users");
    std::vector<Step> steps;
    if (rule.is_array()) {
      if (rule.size() > steps_max)
        return wrong_in(where, std::to_string(rule.size()) + " steps; the most is " + std::to_string(steps_max));
      for (std::size_t i = 0; i < rule.size(); ++i) {
        auto step = Step::read(rule[i], where + "[" + std::to_string(i) + "]");
        if (!step) return refuse(std::move(step).error());
        steps.push_back(*std::move(step));
      }
    } else if (rule != json("ignore")) {
      auto step = Step::read(rule, where);
      if (!step) return refuse(std::move(step).error());
      steps.push_back(*std::move(step));
    }
    fold.rules_.emplace(type, std::make_shared<const std::vector<Step>>(std::move(steps)));
  }
  if (fold.rules_.empty()) return refuse(ErrorCode::invalid_argument, "events: names no event type");
  return fold;
}

std::vector<std::string> DocumentFold::event_types() const {
  std::vector<std::string> types;
  for (const auto& [type, steps] : rules_) types.push_back(type);
  return types;
}

bool DocumentFold::knows(std::string_view event_type) const {
  return rules_.contains(event_type) || event_type == retention::aggregate_removed;
}

void DocumentFold::apply(FoldedDocument& document, const RecordedEvent& event, std::string_view payload) const {
  if (event.type == retention::aggregate_removed) {
    document = FoldedDocument();
    document.version = document.hidden = event.seq_nr;
    document.position = event.position;
    return;
  }
  const auto rule = rules_.find(event.type);
  if (rule == rules_.end()) return;
  document.version = event.seq_nr;
  document.position = event.position;
  const auto note = [&](const std::string& problem) {
    ++document.problems;
    document.last_problem = "position " + std::to_string(event.position.value) + ", " + event.type + ": " + problem;
  };
  if (event.state == EventState::removed) return;
  if (event.state == EventState::erased) {
    if (!rule->second->empty()) note("the payload was erased before it was read here");
    return;
  }
  ++document.events;
  if (rule->second->empty()) return;
  json given = json::object();
  const char* unreadable = is_nested_too_deeply(payload) ? "the payload is nested too deeply" : nullptr;
  if (unreadable == nullptr && !payload.empty()) given = json::parse(payload, nullptr, false);
  if (given.is_discarded()) {
    if (const auto mended = without_half_surrogates(payload)) given = json::parse(*mended, nullptr, false);
    if (!given.is_discarded()) note("the payload has half of a surrogate pair, which is read as U+FFFD");
  }
  if (given.is_discarded()) unreadable = "the payload is not JSON, or has a number that no double can hold";
  for (const auto& step : *rule->second) {
    if (unreadable != nullptr && step.needs_payload())
      note(unreadable);
    else if (const auto problem = step.run(*document.value_, event, given))
      note(*problem);
  }
}

Result<DocumentFilter> DocumentFilter::parse(std::string_view text) {
  const auto at = text.find_first_of("=!<>");
  const auto refused = [&] {
    return refuse(
        ErrorCode::invalid_argument,
        "the filter " + in_quotes(text, 200) + " is not PATH OPERATOR JSON, such as status = \"open\" or total >= 10");
  };
  if (at == std::string_view::npos || at == 0) return refused();
  static const std::pair<std::string_view, Operator> operators[] = {
      {"!=", Operator::not_equal}, {"<=", Operator::less_or_equal}, {">=", Operator::greater_or_equal},
      {"=", Operator::equal},      {"<", Operator::less},           {">", Operator::greater}};
  DocumentFilter filter;
  std::string_view rest;
  for (const auto& [word, op] : operators) {
    if (!text.substr(at).starts_with(word)) continue;
    filter.operator_ = op;
    rest = text.substr(at + word.size());
    break;
  }
  std::string_view name = text.substr(0, at);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  auto path = path_of(json(std::string(name)), "the filter");
  if (!path) return refuse(std::move(path).error());
  filter.path_ = *std::move(path);
  auto value = json::parse(rest, nullptr, false);
  if (rest.empty() || value.is_discarded() || value.is_structured()) return refused();
  const bool ordered = filter.operator_ != Operator::equal && filter.operator_ != Operator::not_equal;
  if (ordered && !value.is_number() && !value.is_string()) {
    return refuse(ErrorCode::invalid_argument, "the filter " + in_quotes(text, 200) +
                                                   ": numbers and texts have an order, and " + value.dump() +
                                                   " is compared by = and != only");
  }
  filter.with_ = std::make_shared<const FoldedDocument::Value>(FoldedDocument::Value{.value = std::move(value)});
  return filter;
}

bool DocumentFilter::holds(const FoldedDocument& document) const {
  const json* found = found_at(document.value_->value, path_);
  const json& with = with_->value;
  const bool one_kind = found != nullptr && ((found->is_number() && with.is_number()) || found->type() == with.type());
  if (!one_kind) return operator_ == Operator::not_equal;
  if (operator_ == Operator::equal || operator_ == Operator::not_equal) {
    const bool same = found->is_number() ? order_of(*found, with) == std::partial_ordering::equivalent : *found == with;
    return same == (operator_ == Operator::equal);
  }
  if (!found->is_number() && !found->is_string()) return false;
  const auto order = found->is_number() ? order_of(*found, with)
                                        : found->get_ref<const std::string&>() <=> with.get_ref<const std::string&>();
  switch (operator_) {
    case Operator::less:
      return order < 0;
    case Operator::less_or_equal:
      return order <= 0;
    case Operator::greater:
      return order > 0;
    case Operator::greater_or_equal:
      return order >= 0;
    default:
      return false;
  }
}

}  // namespace evershard::actors
