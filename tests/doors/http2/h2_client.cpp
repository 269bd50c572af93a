#include "tests/doors/http2/h2_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace evershard::http2 {
namespace {

std::vector<nghttp2_nv> client_fields(const Headers& headers) {
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : headers)
    fields.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
  return fields;
}

}  // namespace

H2Client::H2Client(std::uint32_t window) {
  nghttp2_session_callbacks* callbacks = nullptr;
  EXPECT_EQ(nghttp2_session_callbacks_new(&callbacks), 0);
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks, [](auto*, const auto* frame, const auto* name, std::size_t name_bytes, const auto* value,
                    std::size_t value_bytes, std::uint8_t, void* of) {
        auto& answer = static_cast<H2Client*>(of)->answers[frame->hd.stream_id];
        auto& to = frame->headers.cat == NGHTTP2_HCAT_RESPONSE ? answer.headers : answer.trailers;
        to.push_back({std::string(reinterpret_cast<const char*>(name), name_bytes),
                      std::string(reinterpret_cast<const char*>(value), value_bytes)});
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](auto* session, std::uint8_t, std::int32_t id, const auto* data, std::size_t bytes, void* of) {
        static_cast<H2Client*>(of)->answers[id].body.append(reinterpret_cast<const char*>(data), bytes);
        return nghttp2_session_consume_connection(session, bytes);
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                         [](auto*, std::int32_t id, std::uint32_t code, void* of) {
                                                           auto& answer = static_cast<H2Client*>(of)->answers[id];
                                                           answer.over = true;
                                                           answer.code = code;
                                                           return 0;
                                                         });
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, [](auto*, const auto* frame, void* of) {
    if (frame->hd.type == NGHTTP2_GOAWAY) static_cast<H2Client*>(of)->gone_away = frame->goaway.error_code;
    return 0;
  });
  nghttp2_option* option = nullptr;
  EXPECT_EQ(nghttp2_option_new(&option), 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session* made = nullptr;
  EXPECT_EQ(nghttp2_session_client_new2(&made, callbacks, this, option), 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  at_.reset(made);
  const nghttp2_settings_entry setting{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
  EXPECT_EQ(nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, &setting, 1), 0);
  EXPECT_EQ(nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, 1 << 30), 0);
}

std::int32_t H2Client::ask(const Headers& headers, std::string_view body, bool ends) {
  Headers all{{":method", "POST"}, {":scheme", "http"}, {":authority", "here"}};
  all.insert(all.end(), headers.begin(), headers.end());
  const auto fields = client_fields(all);
  nghttp2_data_provider from{};
  from.read_callback = [](auto*, std::int32_t id, std::uint8_t* into, std::size_t most, std::uint32_t* flags, auto*,
                          void* of) -> ssize_t {
    auto& waiting = static_cast<H2Client*>(of)->bodies_[id];
    const auto bytes = std::min(most, waiting.bytes.size());
    std::memcpy(into, waiting.bytes.data(), bytes);
    waiting.bytes.erase(0, bytes);
    if (waiting.bytes.empty() && waiting.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    waiting.deferred = bytes == 0 && !waiting.ends;
    return waiting.deferred ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED) : static_cast<ssize_t>(bytes);
  };
  const bool none = body.empty() && ends;
  const auto id =
      nghttp2_submit_request(at_.get(), nullptr, fields.data(), fields.size(), none ? nullptr : &from, nullptr);
  EXPECT_GT(id, 0);
  if (!none) bodies_[id] = {std::string(body), ends};
  return id;
}

void H2Client::say(std::int32_t stream, std::string_view body, bool ends) {
  auto& waiting = bodies_.at(stream);
  waiting.bytes += body;
  waiting.ends = ends;
  if (std::exchange(waiting.deferred, false)) {
    EXPECT_EQ(nghttp2_session_resume_data(at_.get(), stream), 0);
  }
}

void H2Client::give_up(std::int32_t stream) {
  EXPECT_EQ(nghttp2_submit_rst_stream(at_.get(), NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL), 0);
}

void H2Client::ping() { EXPECT_EQ(nghttp2_submit_ping(at_.get(), NGHTTP2_FLAG_NONE, nullptr), 0); }

void H2Client::read(std::int32_t stream, std::size_t bytes) {
  EXPECT_EQ(nghttp2_session_consume_stream(at_.get(), stream, bytes), 0);
}

void H2Client::feed(std::string_view bytes) {
  EXPECT_EQ(nghttp2_session_mem_recv(at_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
}

std::string H2Client::pull() {
  std::string out;
  const std::uint8_t* bytes = nullptr;
  for (ssize_t given = 0; (given = nghttp2_session_mem_send(at_.get(), &bytes)) > 0;)
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(given));
  return out;
}

}  // namespace evershard::http2
