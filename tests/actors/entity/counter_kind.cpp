#include "tests/actors/entity/counter_kind.hpp"

namespace evershard::actors {
namespace {

struct Sum : AnyState {
  std::int64_t sum = 0;
  std::uint64_t count = 0;
};
struct Seats : AnyState {
  std::int64_t taken = 0;
};

std::int64_t amount_of(std::string_view payload) {
  const auto colon = payload.rfind(':');
  return std::stoll(std::string(colon == std::string_view::npos ? payload : payload.substr(colon + 1)));
}

std::string sum_of(const AnyState& state) { return CounterKind::text_of(state); }

Decision persisted(std::string type, std::string payload, std::vector<Tag> tags = {}) {
  Decision decision;
  decision.kind = Decision::Kind::persist;
  decision.events.push_back({std::move(type), std::move(payload), PayloadFormat::text, std::move(tags), {}});
  decision.reply = [](const AnyState& state) -> Result<std::string> { return sum_of(state); };
  return decision;
}

Decision rejected(std::string why) {
  Decision decision;
  decision.kind = Decision::Kind::reject;
  decision.rejection = std::move(why);
  return decision;
}

}  // namespace

std::string CounterKind::text_of(const AnyState& state) {
  const auto& sum = static_cast<const Sum&>(state);
  return std::to_string(sum.sum) + "/" + std::to_string(sum.count);
}

StatePtr CounterKind::initial() const { return std::make_unique<Sum>(); }

Result<StatePtr> CounterKind::copy(const AnyState& state) const { return decode(text_of(state)); }

Result<std::string> CounterKind::encode(const AnyState& state) const {
  if (!encodes) return refuse(ErrorCode::invalid_argument, "encode threw");
  return text_of(state) + std::string(padding, ' ');
}

Result<StatePtr> CounterKind::decode(std::string_view bytes) const {
  const auto slash = bytes.find('/');
  if (slash == std::string_view::npos) return refuse(ErrorCode::corruption, "not a sum");
  auto state = std::make_unique<Sum>();
  state->sum = std::stoll(std::string(bytes.substr(0, slash)));
  state->count = std::stoull(std::string(bytes.substr(slash + 1)));
  return state;
}

Result<void> CounterKind::apply(AnyState& state, std::string_view event_type, std::string_view payload) const {
  auto& sum = static_cast<Sum&>(state);
  if (event_type == "poison") {
    sum.sum = -1'000'000;  // half done
    return refuse(ErrorCode::invalid_argument, "apply threw");
  }
  if (event_type == "added") {
    sum.sum += amount_of(payload);
  } else if (event_type == "taken") {
    sum.sum -= amount_of(payload);
  } else if (event_type != "booked") {
    return refuse(ErrorCode::corruption, "unknown event type");
  }
  ++sum.count;
  return {};
}

Result<std::optional<DecisionModel>> CounterKind::decision_model(const CommandBytes& command) const {
  if (command.type != "book") return std::nullopt;
  return DecisionModel{Query{}.tags({"seat"}), std::make_unique<Seats>()};
}

Result<void> CounterKind::fold(const CommandBytes&, AnyState& model, const RecordedEvent&) const {
  ++static_cast<Seats&>(model).taken;
  return {};
}

Result<Decision> CounterKind::decide(const AnyState& state, const CommandBytes& command, const AnyState* model,
                                     const PreparedAnswer*) const {
  const auto& sum = static_cast<const Sum&>(state);
  const std::string& bytes = command.bytes;
  if (command.type == "add") return persisted("added", bytes);
  if (command.type == "throw") return refuse(ErrorCode::invalid_argument, "the handler threw");
  if (command.type == "poison") return persisted("poison", "");
  if (command.type == "take") {
    if (sum.sum < amount_of(bytes)) return rejected("only " + text_of(state));
    return persisted("taken", bytes);
  }
  if (command.type == "book") {
    const auto taken = static_cast<const Seats*>(model)->taken;
    if (taken >= amount_of(bytes)) return rejected("full: " + std::to_string(taken));
    return persisted("booked", bytes, {"seat"});
  }
  if (command.type == "twice") {
    auto decision = persisted("added", bytes);
    decision.events.push_back(decision.events.front());
    return decision;
  }
  if (command.type == "snap") {
    auto decision = persisted("added", bytes);
    decision.snapshot = true;
    return decision;
  }
  if (command.type == "big") {
    auto decision = persisted("added", "1");
    decision.reply = [n = std::stoul(bytes)](const AnyState&) -> Result<std::string> { return std::string(n, 'x'); };
    return decision;
  }
  if (command.type == "unique") {
    auto decision = persisted("added", "1", {bytes});
    decision.conditions.push_back({Query{}.tags({bytes}), GlobalPosition{0}});
    return decision;
  }
  Decision decision;  // get, noop
  decision.reply = [](const AnyState& seen) -> Result<std::string> { return sum_of(seen); };
  return decision;
}

CommandBytes command(std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

}  // namespace evershard::actors
