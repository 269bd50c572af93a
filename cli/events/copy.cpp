// `evershard copy`: events of one store into another one; run again, it goes on where it stopped.

#include <cstdlib>
#include <filesystem>

#include "evershard/cli/away_notice.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/progress.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/copy/store_copy.hpp"

namespace evershard::cli {
namespace {

Options copy_options() {
  const cluster::StoreCopyOptions defaults;
  Options options;
  options
      .value("from", "STORE",
             "the source: a store's directory, or a server: HOST:PORT, unix:PATH, or several nodes of a cluster, "
             "separated by commas")
      .value("to", "STORE", "the target, written in the same way; it must exist, as `evershard init` creates it");
  add_query_flags(options);
  options.values("aggregate", "AGGREGATE", "only events of this aggregate; given several times: of any of them")
      .value("name", "NAME",
             "the name of the copy's checkpoint in the target; without it, one made from the source and the filter")
      .flag("follow", "follow live until Ctrl-C; wait for a side that is away")
      .flag("restart",
            "start at the first event, whatever the checkpoint says; events that are already there are recognised by "
            "their id")
      .number("in-flight", "N",
              "appends in flight at once; 1 keeps the order of all events, not only that of each aggregate",
              defaults.in_flight)
      .value("from-keys", "DIR",
             "the keys of a source that is a directory; without it, sealed payloads are copied encrypted, which only a "
             "target with the same keys takes")
      .value("to-keys", "DIR", "the keys of a target that is a directory; payloads are sealed with them")
      .value("from-token", "TOKEN", "the source's token, with the scope read; else EVERSHARD_TOKEN")
      .value("to-token", "TOKEN", "the target's token, with the scopes read, append and admin; else EVERSHARD_TOKEN")
      .flag("tls", "speak TLS to servers; each of the following implies it")
      .value("tls-ca", "FILE",
             "the CA that signed their certificates; else EVERSHARD_TLS_CA, else those that this machine trusts")
      .value("tls-cert", "FILE", "the client's certificate; else EVERSHARD_CLIENT_TLS_CERT")
      .value("tls-key", "FILE", "the key of that certificate; else EVERSHARD_CLIENT_TLS_KEY")
      .duration("timeout", "how long a server may take to answer, all tries together", wait_rule(), answer_timeout);
  return options;
}

bool is_directory_of_store(const std::string& name) {
  if (name.starts_with("unix:")) return false;
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) return true;
  const auto colon = name.rfind(':');
  return colon == std::string::npos || !whole_number(name.substr(colon + 1));
}

std::string given_or(const Arguments& arguments, std::string_view flag, const char* variable) {
  if (auto text = arguments.text(flag); text && !text->empty()) return *std::move(text);
  const char* set = std::getenv(variable);
  return set != nullptr ? set : "";
}

/// `which`: from, to.
tl::expected<OpenedStore, Failure> opened_side(const Arguments& arguments, const std::string& which) {
  const auto name = arguments.text(which);
  if (!name || name->empty()) throw UsageError("--" + which + " STORE is missing");
  const auto keys = arguments.text(which + "-keys");
  if (!is_directory_of_store(*name)) {
    if (keys)
      throw UsageError("--" + which + "-keys is for a directory", "a server has keys of its own: its setting `keys`");
    RemoteOptions options;
    options.server = *name;
    options.token = given_or(arguments, which + "-token", "EVERSHARD_TOKEN");
    options.tls = arguments.has("tls");
    options.tls_ca = given_or(arguments, "tls-ca", "EVERSHARD_TLS_CA");
    options.tls_certificate = given_or(arguments, "tls-cert", "EVERSHARD_CLIENT_TLS_CERT");
    options.tls_key = given_or(arguments, "tls-key", "EVERSHARD_CLIENT_TLS_KEY");
    options.timeout = server_timeout(arguments);
    auto store = Remote::connect(std::move(options));
    if (!store) return Failed(Failure(store.error().code, "--" + which + ": " + store.error().what));
    return OpenedStore(std::move(*store));
  }
  std::error_code error;
  if (!std::filesystem::exists(*name, error) || std::filesystem::is_empty(*name, error)) {
    return Failed(Failure(ErrorCode::not_found, "--" + which + ": there is no store in " + in_quotes(*name, 300),
                          "create one with `evershard init --data " + *name + "`"));
  }
  LocalOptions options;
  options.data_dir = *name;
  if (keys) options.keys_dir = *keys;
  options.create = false;
  options.create_keys = which == "to";
  options.limits = Limits::most();  // what another store took, this one takes
  auto store = Local::open(std::move(options));
  if (!store) return Failed(Failure(store.error().code, "--" + which + ": " + store.error().what));
  return OpenedStore(std::move(*store));
}

tl::expected<cluster::StoreName, Failure> name_of_store(const OpenedStore& store, const char* which) {
  auto stats = store.stats();
  if (!stats) return Failed(Failure(stats.error().code, std::string("--") + which + ": " + stats.error().what));
  return cluster::StoreName{stats->info.store_id, stats->info.fork_id};
}

Result<cluster::CopyFilter> filter_of(const Arguments& arguments) {
  auto query = query_of(arguments);
  if (!query) return refuse(std::move(query).error());
  std::set<AggregateId> aggregates;
  for (const auto& text : arguments.texts("aggregate")) {
    auto aggregate = AggregateId::parse(text);
    if (!aggregate) return refuse(aggregate.error().code, "--aggregate: " + aggregate.error().what);
    aggregates.insert(std::move(*aggregate));
  }
  return cluster::CopyFilter::of(query->value_or(Query::all()), std::move(aggregates));
}

void print_copied(const Invocation& invocation, const cluster::CopyReport& report) {
  JsonText json;
  json.begin_object()
      .key("name")
      .string(report.name)
      .key("from")
      .number(report.from.value)
      .key("position")
      .number(report.position.value);
  json.key("events_stored")
      .number(report.events_new)
      .key("events_known")
      .number(report.events_known)
      .key("events_gone")
      .number(report.events_gone)
      .end_object();
  print_one(invocation, json,
            {{"copy", report.name},
             {"began after", grouped(report.from.value)},
             {"copied up to", grouped(report.position.value)},
             {"new events", grouped(report.events_new)},
             {"known already", grouped(report.events_known)},
             {"content gone in the source", grouped(report.events_gone)}});
}

Outcome run_copy(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  auto filter = filter_of(arguments);
  if (!filter) return Failed(Failure(std::move(filter).error()));
  cluster::StoreCopyOptions options;
  options.filter = std::move(*filter);
  options.name = arguments.text("name").value_or("");
  if (arguments.has("name") && options.name.empty()) throw UsageError("--name is empty");
  options.follow = arguments.has("follow");
  options.restart = arguments.has("restart");
  options.in_flight = arguments.number_at_least("in-flight", 1);

  const auto from = arguments.text("from").value_or(""), to = arguments.text("to").value_or("");
  std::error_code not_there;
  if (std::filesystem::equivalent(from, to, not_there))
    return Failed(Failure(ErrorCode::invalid_argument, "--from and --to are the same store"));
  auto source = opened_side(arguments, "from");
  if (!source) return Failed(std::move(source).error());
  auto target = opened_side(arguments, "to");
  if (!target) return Failed(std::move(target).error());
  auto source_name = name_of_store(*source, "from");
  if (!source_name) return Failed(std::move(source_name).error());
  auto target_name = name_of_store(*target, "to");
  if (!target_name) return Failed(std::move(target_name).error());

  ProgressLine progress(invocation.terminal, "copy");
  AwayNotice notice(invocation.program.name() + ": the source");
  cluster::StoreCopy copy({*source, *std::move(source_name)}, {*target, *std::move(target_name)}, std::move(options));
  const auto report = copy.run([&](const cluster::CopyReport& so_far) {
    if (so_far.away) progress.clear();
    notice.see(so_far.away);
    progress.show(so_far.position.value, so_far.head.value);
    return !interrupted();
  });
  progress.clear();
  if (!report) {
    const auto code = report.error().code;
    return Failed(Failure(report.error(), code == ErrorCode::unavailable || code == ErrorCode::timeout
                                              ? "the same command goes on behind what is copied"
                                              : ""));
  }
  print_copied(invocation, *report);
  if (!report->stopped) return {};
  Failure failure(ErrorCode::cancelled, "stopped at position " + std::to_string(report->position.value) + " of " +
                                            std::to_string(report->head.value) +
                                            "; the same command goes on from there");
  failure.figures = {{"position", report->position.value}, {"events_stored", report->events_new}};
  return Failed(std::move(failure));
}

}  // namespace

Command copy_command() {
  return {"copy",
          "data",
          "Copies events to another store. Run it again to go on where it stopped.",
          "evershard copy --from shop --to 127.0.0.1:7420 --type OrderPlaced --follow",
          copy_options,
          run_copy};
}

}  // namespace evershard::cli
