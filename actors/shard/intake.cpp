#include "intake.hpp"

namespace evershard::actors {
namespace {

using messages::AppendAnswer;
using messages::AppendAtom;
using messages::AppendMessage;
using messages::IntakeActor;

IntakeActor::behavior_type intake(IntakeActor::pointer self, Committer* committer) {
  return {
      [=](AppendAtom, AppendMessage& message) -> caf::result<AppendAnswer> {
        auto promise = self->make_response_promise<AppendAnswer>();
        // Called from the committer's thread: delivering a promise is all that may be done there.
        committer->append_async(std::move(*message.append), [promise](Result<Appended> answer) mutable {
          promise.deliver(AppendAnswer{std::make_shared<const Result<Appended>>(std::move(answer))});
        });
        return promise;
      },
  };
}

}  // namespace

messages::IntakeActor spawn_intake(caf::actor_system& system, Committer& committer) { return system.spawn(intake, &committer); }

}  // namespace evershard::actors
