// KurrentDB as a source of an import, asked as its own clients do: what `$all` has, in its order.

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "evershard/api/json/message_json.hpp"
#include "evershard/compat/import/import_source.hpp"
#include "evershard/compat/import/kurrent_events.hpp"
#include "evershard/compat/import/kurrent_url.hpp"
#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

namespace kurrent_streams = ::event_store::client::streams;

constexpr auto kurrent_answers_within = std::chrono::seconds(60);

std::string text_of(grpc::string_ref text) { return {text.data(), text.size()}; }

class KurrentSource final : public ImportSource {
 public:
  KurrentSource(KurrentUrl url, std::shared_ptr<grpc::ChannelCredentials> credentials, bool renumber)
      : url_(std::move(url)), credentials_(std::move(credentials)), events_(renumber) {
    connect();
  }

  std::string name() const override { return url_.name(); }

  /// Of several hosts, the first that answers.
  Result<SourcePlace> head() override {
    for (;;) {
      auto head = last_place();
      if (head || head.error().code != ErrorCode::unavailable || host_ + 1 == url_.hosts.size()) return head;
      ++host_;
      connect();
    }
  }

  Result<std::vector<ImportedEvent>> read_after(SourcePlace place, std::size_t events) override {
    if (place == SourcePlace{}) left_out_ = 0;
    std::vector<ImportedEvent> taken;
    while (taken.empty()) {
      auto read = read_page(place, events);
      if (!read) return refuse(std::move(read).error());
      if (read->empty()) break;
      for (auto& [at, event] : *read) {
        place = at;
        if (is_of_server(event.stream_identifier().stream_name())) {
          ++left_out_;
          continue;
        }
        auto made = events_.take(event);
        taken.push_back(made ? *std::move(made) : refused(event, at, made.error()));
        taken.back().place = at;
      }
    }
    return taken;
  }

  std::uint64_t left_out() const override { return left_out_; }
  std::string content_of(const RecordedEvent& event) const override { return events_.content_of(event); }
  void give_other_id(ImportedEvent& event) const override { kurrent::rename_id(event.event, '@' + event.place.text()); }

 private:
  struct Read {
    SourcePlace place{};
    KurrentRecorded event{};
  };

  [[nodiscard]] std::string of_host() const { return " of KurrentDB at " + url_.hosts[host_]; }

  [[nodiscard]] ImportedEvent refused(const KurrentRecorded& event, SourcePlace at, const Error& error) const {
    const auto what = std::to_string(event.stream_revision()) + '@' + event.stream_identifier().stream_name();
    auto shown = json_of_bytes(event, event.SerializeAsString());
    Error why(error.code, "event " + in_quotes(what, 600) + " at position " + at.text() + of_host() +
                              " cannot be stored here: " + error.what);
    return {.refused = RefusedEvent{std::move(why), shown ? *std::move(shown) : "null"}};
  }

  void connect() {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = kurrent_streams::Streams::NewStub(grpc::CreateCustomChannel(url_.hosts[host_], credentials_, arguments));
  }

  void prepare(grpc::ClientContext& context) const {
    context.set_deadline(std::chrono::system_clock::now() + kurrent_answers_within);
    context.AddMetadata("requires-leader", "false");
    // As clients do: a password is not sent where anyone can read it.
    if (url_.tls && !url_.user.empty())
      context.AddMetadata("authorization", "Basic " + to_base64(url_.user + ':' + url_.password));
  }

  [[nodiscard]] Refused failed(const grpc::Status& status, const grpc::ClientContext& context) const {
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto found = trailers.find("exception");
    const auto exception = found == trailers.end() ? std::string() : text_of(found->second);
    const auto who = "KurrentDB at " + url_.hosts[host_] + ": ";
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED)
      return refuse(ErrorCode::unauthenticated, who + "user and password are not taken");
    if (status.error_code() == grpc::StatusCode::PERMISSION_DENIED || exception == "access-denied") {
      const auto* why = url_.user.empty() ? "no user is given: kurrentdb://USER:PASSWORD@HOST:PORT"
                        : !url_.tls       ? "a password is sent only with TLS"
                                          : "the user may not read $all";
      return refuse(ErrorCode::permission_denied, who + why);
    }
    return refuse(ErrorCode::unavailable, who + in_quotes(status.error_message(), 300));
  }

  static kurrent_streams::ReadReq request_of(std::uint64_t count) {
    kurrent_streams::ReadReq request;
    auto& options = *request.mutable_options();
    options.set_count(count);
    options.mutable_no_filter();
    options.mutable_uuid_option()->mutable_string();
    options.mutable_control_option()->set_compatibility(1);
    return request;
  }

  Result<SourcePlace> last_place() {
    grpc::ClientContext context;
    prepare(context);
    auto request = request_of(1);
    request.mutable_options()->mutable_all()->mutable_end();
    request.mutable_options()->set_read_direction(kurrent_streams::ReadReq::Backwards);
    const auto reader = stub_->Read(&context, request);
    SourcePlace place;
    for (kurrent_streams::ReadResp response; reader->Read(&response);) {
      if (!response.has_event()) continue;
      const auto& event = response.event().event();
      // Others may stand at the same position.
      place = {event.commit_position(), event.prepare_position(), std::numeric_limits<std::uint64_t>::max()};
    }
    if (const auto status = reader->Finish(); !status.ok()) return failed(status, context);
    return place;
  }

  /// Reads begin with what stands at the place that they name: it is known already. Large events end a page early, so
  /// that it fits into memory, and into the time that an answer may take.
  Result<std::vector<Read>> read_page(SourcePlace after, std::size_t events) {
    grpc::ClientContext context;
    prepare(context);
    const bool first = after == SourcePlace{};
    auto request = request_of(events + (first ? 0 : after.nth + 1));
    auto& all = *request.mutable_options()->mutable_all();
    if (first) {
      all.mutable_start();
    } else {
      all.mutable_position()->set_commit_position(after.position);
      all.mutable_position()->set_prepare_position(after.part);
    }
    const auto reader = stub_->Read(&context, request);
    std::vector<Read> read;
    SourcePlace last;
    bool any = false;
    std::size_t bytes = 0;
    for (kurrent_streams::ReadResp response; reader->Read(&response);) {
      if (!response.has_event()) continue;
      auto& event = *response.mutable_event()->mutable_event();
      SourcePlace place{event.commit_position(), event.prepare_position(), 0};
      if (any && place.position == last.position && place.part == last.part) place.nth = last.nth + 1;
      any = true;
      last = place;
      if (!first && place <= after) continue;
      bytes += event.ByteSizeLong();
      read.push_back({place, std::move(event)});
      if (bytes < page_bytes_enough) continue;
      context.TryCancel();
      // What was read counts, or an error that was told: how the call ends says no more.
      (void)reader->Finish();
      return read;
    }
    if (const auto status = reader->Finish(); !status.ok()) return failed(status, context);
    return read;
  }

  const KurrentUrl url_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const KurrentEvents events_;
  std::size_t host_ = 0;
  std::unique_ptr<kurrent_streams::Streams::Stub> stub_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

Result<std::unique_ptr<ImportSource>> open_kurrent_source(const std::string& address, const SourceAccess& access) {
  auto url = KurrentUrl::parse(address);
  if (!url) return refuse(std::move(url).error());
  if (const auto colon = access.token.find(':'); colon != std::string::npos) {
    url->user = access.token.substr(0, colon);
    url->password = access.token.substr(colon + 1);
  } else if (!access.token.empty()) {
    return refuse(ErrorCode::invalid_argument, "KurrentDB's --from-token is USER:PASSWORD");
  }
  const auto& ca = access.tls_ca.empty() ? url->tls_ca : access.tls_ca;
  auto credentials = grpc::InsecureChannelCredentials();
  if (url->tls) {
    grpc::SslCredentialsOptions options;
    if (!ca.empty()) {
      std::ifstream file(ca, std::ios::binary);
      options.pem_root_certs.assign(std::istreambuf_iterator<char>(file), {});
      if (!file || options.pem_root_certs.empty())
        return refuse(ErrorCode::io, "the CA " + in_quotes(ca, 300) + " cannot be read, or is empty");
    }
    credentials = grpc::SslCredentials(options);
  } else if (!ca.empty()) {
    return refuse(ErrorCode::invalid_argument, "a CA is given, and tls=false");
  }
  return std::make_unique<KurrentSource>(*std::move(url), std::move(credentials), access.renumber);
}

}  // namespace evershard::cli
