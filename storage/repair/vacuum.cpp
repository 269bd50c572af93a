#include "evershard/storage/repair/vacuum.hpp"

#include "evershard/storage/repair/store_maintenance.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t stretch_bytes = 128u << 20;  // a second or a few

}  // namespace

Result<void> vacuum(const Store& store, const Progress& progress) {
  auto maintenance = store.maintenance();
  if (!maintenance) return report(progress, 0, 0);
  EVERSHARD_TRY(maintenance->flush_log());
  auto stretches = maintenance->stretches(stretch_bytes);
  std::uint64_t done = 0, total = 0;
  for (const auto& stretch : stretches) total += stretch.bytes;
  for (const auto& stretch : stretches) {
    EVERSHARD_TRY(report(progress, done, total));
    EVERSHARD_TRY(maintenance->rewrite(stretch));
    done += stretch.bytes;
  }
  return report(progress, done, total);
}

}  // namespace evershard::storage
