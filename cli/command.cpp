#include "evershard/cli/command.hpp"

#include <chrono>
#include <cstdlib>
#include <system_error>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {

std::filesystem::path Invocation::data_dir() const {
  if (auto given = arguments.text("data"); given && !given->empty()) return *given;
  if (const char* set = std::getenv("EVERSHARD_DATA"); set != nullptr && *set != '\0') return set;
  throw UsageError("--data DIR is missing", "or set EVERSHARD_DATA; --server HOST:PORT speaks to a running server");
}

Outcome Invocation::look_for_store() const {
  const auto directory = data_dir();
  std::error_code error;
  const bool there = std::filesystem::exists(directory, error) && !std::filesystem::is_empty(directory, error);
  if (there) return {};
  if (error)
    return Failed(Failure(ErrorCode::io, in_quotes(directory.string(), 300) + " cannot be entered: " + error.message(),
                          "run it as the user who owns the store"));
  return Failed(Failure(ErrorCode::not_found, "there is no store in " + in_quotes(directory.string(), 300),
                        "create one with `evershard init --data " + directory.string() + "`"));
}

std::optional<RemoteOptions> Invocation::server() const {
  const bool has_server = arguments.has("server");
  if (has_server) arguments.refuse_beside("--server", {"data", "keys"});
  const auto from_environment = [](const char* name) -> std::optional<std::string> {
    const char* set = std::getenv(name);
    return set != nullptr && *set != '\0' ? std::optional<std::string>(set) : std::nullopt;
  };
  const auto given = [&](const char* flag, const char* variable) {
    auto text = arguments.text(flag);
    return text && !text->empty() ? *text : from_environment(variable).value_or("");
  };
  if (!has_server && arguments.has("data")) return std::nullopt;
  const auto address = has_server ? arguments.text("server") : from_environment("EVERSHARD_SERVER");
  if (!address) return std::nullopt;
  if (!has_server && from_environment("EVERSHARD_DATA"))
    throw UsageError("EVERSHARD_DATA and EVERSHARD_SERVER are both set", "say --data DIR or --server HOST:PORT");

  RemoteOptions options;
  options.server = *address;
  options.token = given("token", "EVERSHARD_TOKEN");
  options.tls = arguments.has("tls");
  options.tls_ca = given("tls-ca", "EVERSHARD_TLS_CA");
  options.tls_certificate = given("tls-cert", "EVERSHARD_CLIENT_TLS_CERT");
  options.tls_key = given("tls-key", "EVERSHARD_CLIENT_TLS_KEY");
  options.compression = arguments.has("compression");
  options.timeout = server_timeout(arguments);
  return options;
}

tl::expected<OpenedStore, Failure> Invocation::open(Keys keys, LocalOptions options) const {
  if (auto remote = server()) {
    auto store = Remote::connect(*std::move(remote));
    if (!store) return Failed(Failure(std::move(store).error()));
    return OpenedStore(std::move(*store));
  }
  options.data_dir = data_dir();
  if (const char* set = std::getenv("EVERSHARD_KEYS"); set != nullptr) options.keys_dir = set;
  if (const auto given = arguments.text("keys")) options.keys_dir = *given;
  options.create = false;
  options.makes_scheduled = false;  // it has the store for a moment only
  options.create_keys = keys == Keys::created;
  if (auto there = look_for_store(); !there) return Failed(std::move(there).error());
  auto store = Local::open(std::move(options));
  if (!store) {
    const bool taken = store.error().code == ErrorCode::unavailable;  // by another process
    return Failed(Failure(std::move(store).error(),
                          taken ? "a running server is reached with --server, by the commands that have it" : ""));
  }
  return OpenedStore(std::move(*store));
}

tl::expected<OpenedStore, Failure> Invocation::look() const {
  auto looking = open(Keys::there, {.read_only = true});
  if (looking || server()) return looking;
  // What an opening would mend, such as indexes that were lost, it mends where it can.
  const auto code = looking.error().error.code;
  if (code == ErrorCode::not_found || code == ErrorCode::invalid_argument) return looking;
  auto mended = open();
  return mended ? std::move(mended) : std::move(looking);
}

DurationRule wait_rule() { return {BareNumber::seconds, std::chrono::milliseconds(1), std::chrono::hours(365 * 24)}; }

Options data_options() {
  Options options;
  options.value("data", "DIR", "the store's directory; else EVERSHARD_DATA");
  return options;
}

Options store_options() {
  Options options = data_options();
  options
      .value("keys", "DIR",
             "the keys of sealed payloads, outside of --data; else EVERSHARD_KEYS; without it, sealed payloads stay "
             "encrypted")
      .value("server", "HOST:PORT",
             "use a running server instead: HOST:PORT, unix:PATH, or several nodes of a cluster, separated by commas; "
             "else EVERSHARD_SERVER")
      .value("token", "TOKEN", "the server's token; else EVERSHARD_TOKEN, which other users of this machine cannot see")
      .flag("tls", "speak TLS to the server; each of the following implies it")
      .value("tls-ca", "FILE",
             "the CA that signed the server's certificate; else EVERSHARD_TLS_CA, else those that this machine trusts")
      .value("tls-cert", "FILE", "the client's certificate; else EVERSHARD_CLIENT_TLS_CERT")
      .value("tls-key", "FILE", "the key of that certificate; else EVERSHARD_CLIENT_TLS_KEY")
      .flag("compression", "compress what is sent; for slow networks")
      .duration("timeout", "how long the server may take to answer, all tries together", wait_rule(), answer_timeout);
  return options;
}

std::chrono::milliseconds server_timeout(const Arguments& arguments) {
  return arguments.duration("timeout").value_or(answer_timeout);
}

}  // namespace evershard::cli
