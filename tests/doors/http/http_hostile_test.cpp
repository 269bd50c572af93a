// Clients that send garbage, half of something, too much, nothing, or go away.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/resource.h>

#include <cstdio>
#include <thread>

#include "tests/doors/http/running_door.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

constexpr std::string_view health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

http::HttpOptions impatient() {
  http::HttpOptions options;
  options.limits.header_time = 200ms;
  options.limits.body_time = 200ms;
  options.limits.idle_time = 200ms;
  return options;
}

bool gone_within(const RunningDoor& door, std::chrono::milliseconds time, std::int64_t left = 0) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (door.served->metrics->figures().connections > left) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

TEST(HttpHostile, AnswersGarbageAndEnds) {
  const RunningDoor door;
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), std::string("nonsense\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nNo colon\r\n\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        std::string("POST /api/v1/query HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n")}) {
    auto client = door.client();
    client.send(garbage);
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 400);
    EXPECT_EQ(answer->code(), "invalid_argument");
    EXPECT_TRUE(client.closes_within(60s));
  }
  EXPECT_EQ(door.get("/health").status, 200);
}

TEST(HttpHostile, RefusesTooLongHeadersAndBodies) {
  http::HttpOptions options;
  options.limits.body_bytes = 1'000;
  const RunningDoor door(options);

  const auto header = door.get("/health", "X: " + std::string(17'000, 'x') + "\r\n");
  EXPECT_EQ(header.status, 431);
  EXPECT_EQ(header.code(), "too_large");
  const auto body = door.ask("POST", "/api/v1/query", std::string(1'001, ' '));
  EXPECT_EQ(body.status, 413);
  EXPECT_EQ(body.code(), "too_large");
  auto endless = door.client();
  endless.send(
      "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
      "chunked\r\n\r\n");
  for (int i = 0; i < 100 && endless.send("ff\r\n" + std::string(255, ' ') + "\r\n"); ++i) continue;
  EXPECT_EQ(endless.read_answer()->status, 413);
  for (const auto* begin : {"1;x=", "0\r\nX: "}) {  // what is no body, and would be kept until it ends
    auto between = door.client();
    between.send(
        "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
        "chunked\r\n\r\n" +
        std::string(begin));
    for (int i = 0; i < 100 && between.send(std::string(1'000, 'y')); ++i) continue;
    const auto answer = between.read_answer();
    ASSERT_TRUE(answer) << begin;
    EXPECT_EQ(answer->status, 431) << begin;
  }
}

TEST(HttpHostile, BoundsTheBodiesOfAllTogether) {
  http::HttpOptions options;
  options.limits.all_bodies_bytes = 10'000;
  const RunningDoor door(options);
  auto one = door.client(), two = door.client();
  one.send(health);
  ASSERT_EQ(one.read_answer()->status, 200) << "its connection is read by now, and the door reads it first";
  const std::string head =
      "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "8000\r\n\r\n";
  one.send(head + std::string(7'000, ' '));
  std::this_thread::sleep_for(1s);
  two.send(head + std::string(7'000, ' '));

  const auto answer = two.read_answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 429);
  one.send(std::string(1'000, ' '));
  EXPECT_EQ(one.read_answer()->status, 400);  // it was read, and is no JSON
  EXPECT_EQ(door.ask("POST", "/api/v1/query", std::string(8'000, ' ')).status, 400);
}

TEST(HttpHostile, ReadsNoBodyOfWhoMayNotAsk) {
  const RunningDoor door({}, tokens);
  auto client = door.client();
  client.send(
      "POST /api/v1/append HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "10000000\r\n\r\n");
  const auto answer = client.read_answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_TRUE(client.closes_within(60s));
}

TEST(HttpHostile, WaitsForNobodyForEver) {
  const RunningDoor door(impatient());
  auto silent = door.client(), half_header = door.client(), half_body = door.client(), idle = door.client();
  half_header.send("GET /health HTTP/1.1\r\nHo");
  half_body.send(
      "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "100\r\n\r\n{");
  idle.send(health);

  EXPECT_EQ(idle.read_answer()->status, 200);
  EXPECT_EQ(half_header.read_answer()->status, 408);
  EXPECT_EQ(half_body.read_answer()->status, 408);
  EXPECT_TRUE(silent.closes_within(60s));
  EXPECT_TRUE(idle.closes_within(60s));
  EXPECT_TRUE(gone_within(door, 60s));
}

TEST(HttpHostile, IsNotKeptByAHeaderThatDrips) {
  const RunningDoor door(impatient());
  auto client = door.client();
  client.send("GET /health HTTP/1.1\r\n");
  const auto began = std::chrono::steady_clock::now();
  while (client.send("X: y\r\n") && client.receive_some(20ms).empty() &&
         std::chrono::steady_clock::now() - began < 120s)
    continue;
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
}

TEST(HttpHostile, AnswersWhatWasSentAheadInOrder) {
  RunningDoor door;
  append_many(door.store, 1, 4);
  auto client = door.client();
  std::string ahead;
  for (int i = 0; i < 300; ++i)
    ahead += "GET /api/v1/events/" + std::to_string(i % 3 + 1) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(ahead);
  client.half_close();
  for (int i = 0; i < 300; ++i) {
    const auto answer = client.read_answer();
    ASSERT_TRUE(answer) << i;
    ASSERT_EQ(answer->json()["position"], i % 3 + 1);
  }
  EXPECT_TRUE(client.closes_within(60s));
}

TEST(HttpHostile, KeepsConnectionsAsTheClientWants) {
  const RunningDoor door;
  auto client = door.client();
  EXPECT_EQ(client.ask("GET", "/health").status, 200);
  EXPECT_EQ(client.ask("GET", "/api/v1/nothing").status, 404);
  EXPECT_EQ(client.ask("HEAD", "/health").status, 200);
  EXPECT_EQ(client.ask("OPTIONS", "/health").status, 204);
  EXPECT_EQ(client.ask("GET", "/health", {}, "Connection: close\r\n").header("connection"), "close");
  EXPECT_TRUE(client.closes_within(60s));
  auto old = door.client();
  old.send("GET /health HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.read_answer()->status, 200);
  EXPECT_TRUE(old.closes_within(60s));
}

TEST(HttpHostile, LetsABodyComeWhenItIsAskedFor) {
  const RunningDoor door;
  auto client = door.client();
  client.send(
      "POST /api/v1/append HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: "
      "100-continue\r\nContent-Length: 25\r\n\r\n");
  EXPECT_THAT(client.receive_some(), HasSubstr("100 Continue"));
  client.send(R"({"type":"A","tags":["a"]})");
  EXPECT_EQ(client.read_answer()->status, 200);
  client.send("POST /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 25\r\n\r\n");
  EXPECT_EQ(client.read_answer()->status, 404);
}

TEST(HttpHostile, LosesNothingToClientsThatVanish) {
  RunningDoor door;
  for (int i = 0; i < 100; ++i) {
    auto client = door.client();
    const std::string request =
        "POST /api/v1/append HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
        "25\r\n\r\n"
        R"({"type":"A","tags":["a"]})";
    client.send(std::string_view(request).substr(
        0, i % 4 == 0 ? request.size() : request.size() * static_cast<std::size_t>(i) / 100));
    if (i % 2 == 0) client.vanish();
  }
  EXPECT_TRUE(gone_within(door, 60s));
  EXPECT_EQ(door.get("/health").status, 200);
  EXPECT_LE(door.store.head()->value, 25u);
}

TEST(HttpHostile, TwoThousandSilentConnectionsKeepNobodyOut) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 6'000);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  {
    RunningDoor door;
    auto kept = door.client();
    std::vector<HttpClient> silent;
    for (int i = 0; i < 2'000; ++i) {
      silent.emplace_back(door.address());
      ASSERT_TRUE(silent.back().connected());
      if (i % 200 != 0) continue;
      EXPECT_EQ(door.get("/health").status, 200) << i;
    }
    EXPECT_EQ(door.get("/api/v1/head").status, 200);
    EXPECT_LE(door.served->metrics->figures().connections, 256 + 32);
    EXPECT_TRUE(silent.front().closes_within(60s));
    silent.clear();
    EXPECT_TRUE(gone_within(door, 60s, 1));
  }
  limit.rlim_cur = before;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(HttpHostile, TurnsAwayWhoeverComesWhenAllAreBusy) {
  http::HttpOptions options;
  options.limits.connections = 2;
  const RunningDoor door(options);
  auto one = door.client(), two = door.client();
  for (auto* client : {&one, &two}) {
    client->send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(client->read_event());
  }
  const auto answer = door.get("/health");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "unavailable");
  one.vanish();
  EXPECT_TRUE(gone_within(door, 60s, 1));
  EXPECT_EQ(door.get("/health").status, 200);
}

TEST(HttpHostile, RefusesForeignNamesAndPages) {
  const RunningDoor door;
  const auto with = [&](const std::string& headers) {
    auto client = door.client();
    client.send("GET /api/v1/head HTTP/1.1\r\n" + headers + "\r\n");
    return client.read_answer().value_or(HttpAnswer{}).status;
  };
  EXPECT_EQ(with("Host: evil.example\r\n"), 421);
  EXPECT_EQ(with(""), 400);
  EXPECT_EQ(with("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"), 403);
  EXPECT_EQ(with("Host: 127.0.0.1:7421\r\n"), 200);
}

// -- stopping

TEST(HttpStop, AnswersWhatIsUnderWayAndTellsOthersThatItStops) {
  RunningDoor door;
  auto waiting = door.client();
  waiting.send("GET /api/v1/events?at_least=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_EQ(door.get("/health").status, 200) << "what came before is under way";
  std::thread stopping([&] { door.door->stop(120s); });
  // A connection that has not asked yet when the door begins to stop is closed, so that nothing is told on it.
  auto told = door.get("/health");
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       told.status != 503 && std::chrono::steady_clock::now() < until; told = door.get("/health"))
    std::this_thread::sleep_for(5ms);

  EXPECT_EQ(told.status, 503);
  EXPECT_EQ(told.json()["status"], "stopping");
  EXPECT_EQ(door.get("/api/v1/head").code(), "unavailable");
  append_one(door.store, "order-1", "T");
  EXPECT_EQ(waiting.read_answer()->json()["watermark"], 1);
  stopping.join();
  EXPECT_FALSE(door.client().connected());
  door.door->stop(120s);
}

TEST(HttpStop, IsToldWhereTheStoreHasFailed) {
  RunningDoor well;
  EXPECT_EQ(well.get("/health").json()["status"], "serving");
  auto served = *well.served;
  served.cannot_write = [] { return std::optional(Error(ErrorCode::io, "cannot write a commit")); };
  http::HttpOptions options;
  options.listen = "127.0.0.1:0";
  const auto failed = http::HttpDoor::start(served, std::move(options)).value();

  const auto told = ask(failed->address(), "GET", "/health");

  EXPECT_EQ(told.status, 503);
  EXPECT_EQ(told.json()["status"], "failed");
  EXPECT_EQ(told.json()["error"], "cannot write a commit");
  EXPECT_EQ(ask(failed->address(), "GET", "/api/v1/head").status, 200) << "reads go on";
}

TEST(HttpStop, WaitsForTheSampleThatIsBeingTaken) {
  RunningDoor other;
  for (int round = 0; round != 200; ++round) {
    http::HttpOptions options;
    options.listen = "127.0.0.1:0";
    options.limits.stats_every = 1ms;
    const auto door = http::HttpDoor::start(*other.served, std::move(options)).value();
    std::this_thread::sleep_for(std::chrono::microseconds(850 + round % 31 * 10));
    // One that is begun now waits.
    for (int thread = 0; thread != 3; ++thread) other.pool.run([] { std::this_thread::sleep_for(1ms); });
  }
}

TEST(HttpStop, EndsInTimeWhateverClientsDo) {
  RunningDoor door;
  std::vector<HttpClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(door.client());
    if (i % 4 == 1) clients.back().send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    if (i % 4 == 2) clients.back().send("GET /api/v1/events?at_least=99 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    if (i % 4 == 3) clients.back().send("POST /api/v1/append HTTP/1.1\r\n");
  }
  std::this_thread::sleep_for(100ms);
  const auto began = std::chrono::steady_clock::now();
  door.door->stop(300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  for (auto& client : clients) EXPECT_TRUE(client.closes_within(60s));
}

// -- starting

TEST(HttpStart, RefusesWhatItCannotListenOn) {
  RunningDoor door;
  const auto start = [&](http::HttpOptions options) {
    const auto started = http::HttpDoor::start(*door.served, std::move(options));
    return started ? std::string("ok") : std::string(name_of(started.error().code)) + ": " + started.error().what;
  };
  EXPECT_THAT(start({.listen = door.address()}), AllOf(HasSubstr("unavailable"), HasSubstr(door.address())));
  EXPECT_THAT(start({.listen = "192.0.2.1:0"}), HasSubstr("unavailable"));
  for (const auto* bad : {"", "7421", ":1", "127.0.0.1:x", "127.0.0.1:65536", "::1:0", "no such host:1"}) {
    EXPECT_THAT(start({.listen = bad}), HasSubstr("invalid_argument")) << bad;
  }
  EXPECT_THAT(start({.listen = "127.0.0.1:0", .tls = {.certificate = "nothing.pem", .key = "nothing.pem"}}),
              HasSubstr("not_found"));
  EXPECT_THAT(start({.listen = "127.0.0.1:0", .tls = {.certificate = "nothing.pem"}}), HasSubstr("invalid_argument"));
}

// -- TLS

struct TlsIdentity {
  std::string certificate, key;
};

/// Signed by itself, good for an hour.
TlsIdentity make_identity(const std::filesystem::path& folder, const std::string& name) {
  TlsIdentity identity{folder / (name + ".pem"), folder / (name + ".key")};
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3'600);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  FILE* file = std::fopen(identity.certificate.c_str(), "w");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  file = std::fopen(identity.key.c_str(), "w");
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return identity;
}

/// What `openssl s_client` says and is told.
std::string ask_by_tls(const std::string& address, const std::string& more = {}) {
  const std::string command =
      "printf 'GET /api/v1/head HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' | timeout 20 openssl "
      "s_client -connect " +
      address + " -ign_eof " + more + " 2>&1";
  std::string said;
  FILE* pipe = ::popen(command.c_str(), "r");
  char bytes[4'096];
  while (const auto n = std::fread(bytes, 1, sizeof bytes, pipe)) said.append(bytes, n);
  ::pclose(pipe);
  return said;
}

TEST(HttpTls, ServesAndTakesANewCertificateWhileRunning) {
  const ScratchDir folder;
  const auto identity = make_identity(folder.path(), "first");
  RunningDoor door({.tls = {.certificate = identity.certificate, .key = identity.key}});

  auto said = ask_by_tls(door.address());
  EXPECT_THAT(said, AllOf(HasSubstr("CN = first"), HasSubstr("HTTP/1.1 200 OK"), HasSubstr("{\"head\":0}")));
  auto plain = door.client();
  plain.send(health);
  EXPECT_TRUE(plain.closes_within(60s));

  const auto second = make_identity(folder.path(), "second");
  std::filesystem::copy_file(second.certificate, identity.certificate,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(code_of(door.door->reload_tls()), "invalid_argument");  // the key is still the first one's
  EXPECT_THAT(ask_by_tls(door.address()), HasSubstr("CN = first"));
  std::filesystem::copy_file(second.key, identity.key, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(door.door->reload_tls());
  EXPECT_THAT(ask_by_tls(door.address()), AllOf(HasSubstr("CN = second"), HasSubstr("{\"head\":0}")));
}

TEST(HttpTls, AsksForAClientsCertificate) {
  const ScratchDir folder;
  const auto server = make_identity(folder.path(), "server"), client = make_identity(folder.path(), "client"),
             stranger = make_identity(folder.path(), "stranger");
  const RunningDoor door(
      {.tls = {.certificate = server.certificate, .key = server.key, .client_ca = client.certificate}});

  EXPECT_THAT(ask_by_tls(door.address()), testing::Not(HasSubstr("200 OK")));
  EXPECT_THAT(ask_by_tls(door.address(), "-cert " + stranger.certificate + " -key " + stranger.key),
              testing::Not(HasSubstr("200 OK")));
  EXPECT_THAT(ask_by_tls(door.address(), "-cert " + client.certificate + " -key " + client.key), HasSubstr("200 OK"));
}

}  // namespace
}  // namespace evershard
