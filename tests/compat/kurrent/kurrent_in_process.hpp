// KurrentInProcess: a store in memory, and KurrentDB's door to it.

#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "evershard/compat/kurrent/kurrent_door.hpp"
#include "evershard/local/local.hpp"

namespace evershard::kurrent {

/// Who is through with it calls stop().
struct KurrentInProcess {
  /// `in_between`: what the door is given, made of the store that it would have.
  explicit KurrentInProcess(const KurrentOptions& of_door = {},
                            const std::function<EventStore&(EventStore&)>& in_between = {})
      : local(Local::open({}).value()), watch(local) {
    served.all_names = in_between ? &in_between(local.all_names()) : &local.all_names();
    served.rewritten = [this] { return local.rewritten(); };
    door::DoorOptions options;
    options.listen = {"127.0.0.1:0"};
    door = start_door(served, options, of_door).value();
  }
  void stop() { door->stop(std::chrono::milliseconds(0)); }

  Local local;
  cluster::WorkPool pool{2};
  serving::HeadWatch watch;
  std::shared_ptr<const serving::Access> access = std::make_shared<const serving::Access>(serving::Access::open());
  serving::Served served{
      local, local, pool, watch, [this] { return access; }, [] { return Result<RegisteredTypes>(RegisteredTypes{}); }};
  std::unique_ptr<door::Door> door;
};

}  // namespace evershard::kurrent
