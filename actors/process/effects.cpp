#include "evershard/actors/process/effects.hpp"

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {

std::map<std::string, EffectBounds> Effects::bounds() const {
  std::map<std::string, EffectBounds> bounds;
  for (const auto& [type, handler] : handlers_) bounds.emplace(type, handler.bounds);
  return bounds;
}

void Effects::perform(const std::string& type, const std::string& payload, const EffectAttempt& attempt,
                      const EffectDone& done) const {
  try {
    handlers_.at(type).perform(payload, attempt, done);
  } catch (...) {
    done(refuse(thrown(ErrorCode::unavailable, "the handler of effect " + in_quotes(type))));
  }
}

}  // namespace evershard
