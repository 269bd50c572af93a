#include "evershard/actors/model/effect.hpp"

namespace evershard {

Decided::Decided() = default;
Decided::Decided(Decided&&) noexcept = default;
Decided& Decided::operator=(Decided&&) noexcept = default;
Decided::~Decided() = default;

void Decided::add(GivenEvent event) { events.push_back(std::move(event)); }

void Decided::fail_if(Query query, GlobalPosition after) { conditions.push_back({std::move(query), after}); }

void Decided::answer(Result<std::string> bytes) {
  reply = [bytes = std::move(bytes)](const void*) { return bytes; };
}

}  // namespace evershard
