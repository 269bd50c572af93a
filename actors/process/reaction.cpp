#include "evershard/actors/process/reaction.hpp"

#include "evershard/actors/process/process_codecs.hpp"

namespace evershard {

void AnyReaction::add(AggregateId aggregate, std::string type, Result<std::string> command) {
  if (!command && !decided_.unusable) decided_.unusable = command.error();
  if (auto ok = AggregateId::check(aggregate); !ok && !decided_.unusable) decided_.unusable = std::move(ok).error();
  commands_.push_back({std::move(aggregate), std::move(type), command ? std::move(*command) : std::string()});
}

void AnyReaction::add(std::string type, Result<std::string> effect) {
  if (!effect && !decided_.unusable) decided_.unusable = effect.error();
  effects_.push_back({std::move(type), effect ? std::move(*effect) : std::string()});
}

void AnyReaction::set(TimerSet timer, std::string type, Result<std::string> told) {
  timer.command = std::string(process_timer_type);
  if (told)
    decided_.schedule(std::move(timer), encode(ProcessTimer{std::move(type), std::move(*told)}));
  else
    decided_.schedule(std::move(timer), std::move(told));
}

bool AnyReaction::empty() const {
  return decided_.events.empty() && decided_.timers.empty() && commands_.empty() && effects_.empty() && !ended_;
}

Decided AnyReaction::decided(ProcessReacted because) && {
  because.commands = std::move(commands_);
  because.effects = std::move(effects_);
  because.ended = ended_;
  if (!subject_.empty()) because.subject = std::move(subject_);
  decided_.add_event(std::move(because));
  decided_.answer(std::string());
  return std::move(decided_);
}

}  // namespace evershard
