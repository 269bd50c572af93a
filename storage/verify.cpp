#include "evershard/storage/verify.hpp"

#include "evershard/storage/findings.hpp"
#include "evershard/storage/store_maintenance.hpp"
#include "evershard/storage/verification.hpp"

namespace evershard::storage {

Result<VerifyReport> verify(const Store& store, const Progress& progress) {
  Findings findings(findings_max);
  auto view = store.view();
  Verification verification({store.rows(), store.hasher(), store.identity().shards, view, view.watermark}, findings);

  // Of a hundred parts: files 20, the truth 50, indexes 25, the state 5.
  auto part = [&](std::uint64_t begin, std::uint64_t share) -> Progress {
    if (!progress) return {};
    return [&progress, begin, share](std::uint64_t done, std::uint64_t total) { return progress(begin + (total == 0 ? share : share * done / total), 100); };
  };
  if (auto maintenance = store.maintenance())
    EVERSHARD_TRY(maintenance->check_files([&](const DamagedFile& file) { findings.add(file.sentence()); }, part(0, 20)));
  EVERSHARD_TRY(verification.truth(part(20, 50)));
  EVERSHARD_TRY(verification.indexes(part(70, 25)));
  EVERSHARD_TRY(verification.state(part(95, 5)));
  EVERSHARD_TRY(report(progress, 100, 100));

  VerifyReport made;
  made.events = verification.events();
  made.records = verification.records();
  made.index_rows = verification.index_rows();
  made.snapshots = verification.snapshots();
  made.errors = findings.errors();
  made.findings = findings.take();
  return made;
}

}  // namespace evershard::storage
