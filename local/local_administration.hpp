// LocalAdministration: what an operator asks of the store in one process.

#pragma once

#include <memory>

#include "evershard/api/administration.hpp"

namespace evershard::cluster {

class GroupHost;
class LazyDocuments;
class Node;
class ProjectionHost;
class ScheduledHost;
class TimerHost;

class LocalAdministration : public Administration {
 public:
  // As Local has them.
  [[nodiscard]] virtual Result<void> vacuum_events(Progress progress) = 0;
  [[nodiscard]] virtual Result<void> vacuum_documents(unsigned removed_percent, Progress progress) = 0;
  [[nodiscard]] virtual Result<void> vacuum_projections(unsigned removed_percent, Progress progress) = 0;
};

/// They outlive who administrates them.
struct AdministratedParts {
  std::shared_ptr<Node> node;
  LazyDocuments& documents;
  GroupHost& groups;
  ProjectionHost* projections;  ///< null: there are none
  const TimerHost& timers;
  const ScheduledHost& scheduled;
};
[[nodiscard]] std::unique_ptr<LocalAdministration> local_administration(AdministratedParts parts);

}  // namespace evershard::cluster
