#include "evershard/actors/process/effects.hpp"

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {

std::map<std::string, EffectOptions> Effects::options() const {
  std::map<std::string, EffectOptions> options;
  for (const auto& [type, handler] : handlers_) options.emplace(type, handler.options);
  return options;
}

void Effects::perform(const std::string& type, const std::string& payload, const EffectAttempt& attempt,
                      const EffectDone& done) const {
  try {
    handlers_.at(type).perform(payload, attempt, done);
  } catch (...) {
    done(refuse(thrown(ErrorCode::invalid_argument, "the handler of effect " + in_quotes(type))));
  }
}

}  // namespace evershard
