#include "evershard/doors/server/coordinator_settings.hpp"
#include "evershard/doors/server/member_settings.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/settings/settings_text.hpp"

namespace evershard::server {
namespace {

constexpr const char* document_begin = R"(# Configuration of the server

This page is written by `evershard serve --help-markdown` from the tables of settings in the program; a test compares them. `evershard node` has the settings of `evershard serve` and those of its cluster;
`evershard coordinator` has its own: both stand at the end.

Each setting below is a flag (`--block-cache 256MiB`), a variable of the environment (`EVERSHARD_BLOCK_CACHE=256MiB`) and a key of the configuration file
(`block-cache = 256MiB`). **A flag goes before the environment, the environment before the file, the file before the default.** The file is the one that
`--config FILE` or `EVERSHARD_CONFIG` names; without either there is none.

`evershard serve --check` (`node --check`, `coordinator --check`) with the same flags and environment prints what would be in force and where each value comes from, says what is wrong, and ends. With
`--format json` it is one object: `{"settings":[{"name","value","default","source","group","sentence","reloadable"}]}`.

- A flag or a key that is not known is refused, with the file's line and the name that was probably meant. So is a value that does not fit, also one that a flag
  goes before.
- Of the environment, a variable that is almost a setting's is refused; one that begins with `EVERSHARD_` and is like none is named in the log. Empty ones count as not set. What clients read (`EVERSHARD_SERVER`, `EVERSHARD_TOKEN`, ...) and what Kubernetes sets for a service of this
  name (`EVERSHARD_SERVICE_...`, `EVERSHARD_PORT...`) is passed over.
- SIZE is a number of bytes, or has a unit: `B`, `KiB`, `MiB`, `GiB`, `TiB` (1024 each) or `KB`, `MB`,
  `GB`, `TB` (1000 each). `16MiB` and `1GB` are sizes.
- DURATION has a unit: `ms`, `s`, `min`, `h` or `d`. `500ms`, `12s`, `5min`, `2h` and `90d` are durations;
  `0` needs no unit. Flags of the command line are written in the same way.
- LIST is `a, b`; `none` is the empty list. As a flag it may also be given several times.
- *Reloadable* settings take a new value from the file at SIGHUP; the others need a restart, and the log says so.

## The file

    # comments stand behind a #
    [network]
    listen = 0.0.0.0:7420, [::1]:7420

    [store]
    data = "/var/lib/evershard"        # quotes where a value begins or ends with blanks, or holds " #"

Groups are optional; a key below a `[group]` must be one of that group. In quotes, `\"` and `\\` are a quote and a backslash. No key comes twice.
`evershard serve --sample-config` (`node`, `coordinator`) prints a file with every setting, its sentence and its default, commented out.

The file of `tokens` holds one token a line, `NAME SCOPE[,SCOPE...] TOKEN`; scopes are `read`, `append` and `admin`, a token has at least 16 bytes, comments begin with `#`.
)";

constexpr const char* members_begin = R"(
# A node of a cluster

`evershard node` takes all of the above, and these; see [cluster.md](cluster.md). It has no default for `node` and `coordinator`: 0 and nothing are refused.
)";

constexpr const char* coordinator_begin = R"(
# The coordinator

`evershard coordinator` takes these, and no others. A file is read by one kind of process: what the other one has is refused as unknown. Of the log's settings, SIGHUP opens the file anew and takes `log-level` from the file.
)";

constexpr const char* sample_begin =
    R"(# Settings of the Evershard server. Each is shown with its default; docs/configuration.md has the rest.
# `evershard serve --config THIS_FILE --check` says what is in force, from where, and what is wrong.

)";

}  // namespace

std::string configuration_document() {
  return document_begin + settings::markdown_of(server_settings()) + members_begin +
         settings::markdown_of(membership_settings()) + coordinator_begin +
         settings::markdown_of(coordinator_settings());
}
std::string configuration_sample() { return sample_begin + settings::sample_file_of(server_settings()); }

}  // namespace evershard::server
