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
  if (auto maintenance = store.maintenance())
    EVERSHARD_TRY(maintenance->check_files([&](const DamagedFile& file) { findings.add(file.sentence()); }, part_of(progress, 0, 20)));
  EVERSHARD_TRY(verification.truth(part_of(progress, 20, 70)));
  EVERSHARD_TRY(verification.indexes(part_of(progress, 70, 95)));
  EVERSHARD_TRY(verification.state(part_of(progress, 95, 100)));
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
