#include "evershard/doors/server/store_in_service.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/doors/server/lent_local.hpp"

namespace evershard::server {
namespace {

struct OwnedLocal {
  Local store;
};

class WholeStore final : private OwnedLocal, public LentLocal {
 public:
  WholeStore(Local opened, bool hosts) : OwnedLocal{std::move(opened)}, LentLocal(OwnedLocal::store, hosts) {}
  void close() override { OwnedLocal::store.close(); }
};

}  // namespace

Result<Effects> effects_of(const ServedProcess& process) {
  if (!process.effects) return Effects{};
  try {
    return process.effects();
  } catch (...) {
    return refuse(thrown(ErrorCode::unavailable, "what makes the effects of process " + process.definition->type));
  }
}

Result<std::unique_ptr<StoreInService>> open_whole_store(const ServerOptions& options, serving::Log& log) {
  // Beside a new store keys may begin. A store that is there has its keys too: a directory that is missing is a wrong
  // name.
  auto open = options.store;
  open.warn = [&log](const Error& error) {
    log.warning("store", {{"code", name_of(error.code)}, {"error", error.what}});
  };
  std::error_code looked;
  open.create_keys = !std::filesystem::exists(open.data_dir / "db" / "CURRENT", looked);
  auto store = Local::open(std::move(open));
  if (!store) return refuse(std::move(store).error());
  for (const auto& kind : options.kinds) EVERSHARD_TRY(store->host_kind(kind.kind, kind.host_options()));
  for (const auto& process : options.processes) {
    auto effects = effects_of(process);
    if (!effects) return refuse(std::move(effects).error());
    EVERSHARD_TRY(store->run_process(process.definition, process.options, *std::move(effects)));
  }
  return std::make_unique<WholeStore>(*std::move(store), !options.kinds.empty());
}

}  // namespace evershard::server
