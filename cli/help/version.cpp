// `evershard version`, also `evershard --version`.

#include "evershard/cli/help/version.hpp"

#include "evershard/cli/commands.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/storage/rocks/rocks_version.hpp"

namespace evershard::cli {
namespace {

Options version_options() { return {}; }

/// A text, unless JSON is asked for: scripts look at its first line.
Outcome run_version(const Invocation& invocation) {
  const std::string version(version_number()), commit(build_commit()), rocksdb = storage::rocks_version();
  const auto& name = invocation.program.name();
  if (invocation.arguments.has("format") && !invocation.for_people()) {
    JsonText json;
    json.begin_object().key("program").string(name).key("version").string(version).key("commit").string(commit);
    json.key("rocksdb").string(rocksdb).key("caf").string(EVERSHARD_CAF_VERSION).end_object();
    invocation.out.write(json.text() + '\n');
    return {};
  }
  invocation.out.write(name + ' ' + version + "\ncommit   " + commit + "\nRocksDB  " + rocksdb + "\nCAF      " +
                       EVERSHARD_CAF_VERSION + '\n');
  return {};
}

}  // namespace

std::string_view version_number() { return EVERSHARD_VERSION; }

Command version_command() {
  return {"version",
          "help",
          "Shows the version, the commit, and the versions of RocksDB and CAF.",
          "evershard version --format json",
          version_options,
          run_version,
          nullptr,
          "`evershard --version` is the same."};
}

}  // namespace evershard::cli
