#include "evershard/doors/http/request_reader.hpp"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <cctype>

namespace evershard::http {
namespace {

namespace beast = boost::beast;
using BeastError = beast::http::error;

std::string lower_name(beast::string_view name) {
  std::string lower(name.data(), name.size());
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// What a chunked body has at least in front of it until its end: 0, two ends of lines. Beast asserts it instead of
/// asking for more.
constexpr std::size_t chunked_rest_bytes_min = 5;

Refusal malformed(const std::string& what) {
  return {400, {ErrorCode::invalid_argument, "not a request: " + what}, {}};
}

}  // namespace

struct RequestReader::Impl {
  beast::http::request_parser<beast::http::string_body> parser;
  std::size_t header_bytes_max, body_bytes_max;
  bool begun = false;
  bool told = false;
  Request request;

  [[nodiscard]] Refusal too_much(const std::string& part, const std::string& more = {}) const {
    const auto most = std::to_string(header_bytes_max);
    return {431, {ErrorCode::too_large, "the request's " + part + " has more than " + most + " bytes" + more}, {}};
  }

  [[nodiscard]] Refusal refusal_of(const boost::system::error_code& error) const {
    if (error == BeastError::header_limit) {
      return too_much("header",
                      "; events, tables and value indexes can be asked by POST, with the parameters in the body");
    }
    if (error == BeastError::body_limit || error == BeastError::buffer_overflow) {
      return {413,
              {ErrorCode::too_large, "the request's body has more than " + std::to_string(body_bytes_max) + " bytes"},
              {}};
    }
    return malformed(error.message());
  }

  /// Trailers of a chunked body come later and are not among them.
  [[nodiscard]] tl::expected<void, Refusal> keep_head() {
    const auto& message = parser.get();
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    request.http_1_0 = message.version() == 10;
    request.keep_alive = parser.keep_alive();
    for (const auto& field : message) {
      const auto name = lower_name(field.name_string());
      // Beast keeps both of two contradicting lengths.
      if (name == "content-length" && request.count(name) > 0) return tl::unexpected(malformed("two lengths"));
      request.fields.emplace_back(name, std::string(field.value()));
    }
    if (message.version() != 10 && message.version() != 11)
      return tl::unexpected(malformed("neither HTTP/1.1 nor HTTP/1.0"));
    if (request.count("content-length") > 0 && request.count("transfer-encoding") > 0)
      return tl::unexpected(malformed("a length, and a transfer coding"));
    if (request.count("transfer-encoding") > 0 && !parser.chunked())
      return tl::unexpected(malformed("a transfer coding that is not chunked"));
    std::string expect(request.field("expect"));
    std::transform(expect.begin(), expect.end(), expect.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.expects_continue = expect == "100-continue";
    return {};
  }
};

RequestReader::RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max)
    : impl_(std::make_unique<Impl>()) {
  impl_->header_bytes_max = header_bytes_max;
  impl_->body_bytes_max = body_bytes_max;
  impl_->parser.header_limit(static_cast<std::uint32_t>(header_bytes_max));
  impl_->parser.body_limit(body_bytes_max);
}
RequestReader::~RequestReader() = default;

tl::expected<RequestReader::Step, Refusal> RequestReader::feed(std::string& bytes) {
  auto& parser = impl_->parser;
  if (!impl_->begun) {
    // RFC 9112, 2.2: empty lines in front of a request are skipped.
    const auto begin = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
    bytes.erase(0, begin);
    if (bytes.empty()) return Step::more;
    impl_->begun = true;
  }
  std::size_t used = 0;
  const auto take_used = [&] { bytes.erase(0, used); };
  while (!parser.is_done()) {
    if (parser.is_header_done() && !impl_->told) {
      take_used();
      impl_->told = true;
      if (auto kept = impl_->keep_head(); !kept) return tl::unexpected(std::move(kept).error());
      return Step::head;
    }
    if (used == bytes.size()) break;
    if (parser.is_header_done() && parser.chunked() && bytes.size() - used < chunked_rest_bytes_min) break;
    parser.eager(parser.is_header_done());
    boost::system::error_code error;
    const auto more = parser.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), error);
    used += more;
    if (error == BeastError::need_more) {
      if (more == 0) break;
      continue;
    }
    if (error) return tl::unexpected(impl_->refusal_of(error));
    if (more == 0 && !parser.is_header_done()) break;
  }
  take_used();
  if (!parser.is_done()) {
    // Content is taken as it comes. What waits for its end is the line of a chunk, or trailers, which Beast does not
    // bound.
    if (parser.is_header_done() && bytes.size() > impl_->header_bytes_max)
      return tl::unexpected(impl_->too_much("line of a chunk, or what follows the last one,"));
    return Step::more;
  }
  if (!impl_->told) {
    impl_->told = true;
    if (auto kept = impl_->keep_head(); !kept) return tl::unexpected(std::move(kept).error());
    return Step::head;
  }
  return Step::whole;
}

const Request& RequestReader::head() const { return impl_->request; }
std::size_t RequestReader::body_bytes() const {
  return impl_->parser.is_header_done() ? impl_->parser.get().body().size() : 0;
}

Request RequestReader::take() {
  auto request = std::move(impl_->request);
  request.body = std::move(impl_->parser.get().body());
  return request;
}

}  // namespace evershard::http
