// TLS and mutual TLS, with certificates that openssl makes here.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// A folder of keys and certificates.
class Papers {
 public:
  Papers() {
    auto name = (fs::temp_directory_path() / "evershard-tls-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    ca("ca");
    ca("other-ca");
    sign("server", "ca", "127.0.0.1");
    sign("client", "ca", "127.0.0.1");
    sign("stranger", "other-ca", "127.0.0.1");
  }
  ~Papers() { fs::remove_all(folder_); }
  Papers(const Papers&) = delete;

  [[nodiscard]] std::string certificate(const std::string& name) const { return (folder_ / (name + ".pem")).string(); }
  [[nodiscard]] std::string key(const std::string& name) const { return (folder_ / (name + ".key")).string(); }
  [[nodiscard]] serving::TlsFiles files(const std::string& name, const std::string& client_ca = {}) const {
    return {certificate(name), key(name), client_ca.empty() ? std::string() : certificate(client_ca)};
  }

  void ca(const std::string& name) {
    run("req -x509 " + new_key + " -keyout " + key(name) + " -out " + certificate(name) +
        " -days 30 -subj /CN=" + name + " -addext basicConstraints=critical,CA:TRUE");
  }
  /// `ip`: whose certificate it is; `expired`: it was good until yesterday.
  void sign(const std::string& name, const std::string& ca, const std::string& ip, bool expired = false) {
    const auto request = (folder_ / (name + ".csr")).string();
    const auto extension = (folder_ / (name + ".ext")).string();
    std::ofstream(extension) << "subjectAltName=IP:" << ip << "\n";
    run("req " + new_key + " -keyout " + key(name) + " -out " + request + " -subj /CN=" + name);
    if (!expired) {
      run("x509 -req -in " + request + " -CA " + certificate(ca) + " -CAkey " + key(ca) + " -set_serial " +
          std::to_string(++serial_) + " -days 10 -extfile " + extension + " -out " + certificate(name));
      return;
    }
    // `x509` knows no end in the past; `ca` does.
    std::ofstream(folder_ / "index.txt") << "";
    std::ofstream(folder_ / "ca.cnf")
        << "[ca]\ndefault_ca=d\n[d]\ndatabase=" << (folder_ / "index.txt").string()
        << "\nnew_certs_dir=" << folder_.string()
        << "\nrand_serial=yes\ndefault_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n";
    run("ca -batch -config " + (folder_ / "ca.cnf").string() + " -cert " + certificate(ca) + " -keyfile " + key(ca) +
        " -in " + request + " -out " + certificate(name) +
        " -startdate 20200101000000Z -enddate 20200201000000Z -notext -extfile " + extension);
  }

 private:
  static void run(const std::string& words) {
    const auto command = "openssl " + words + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  const std::string new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  fs::path folder_;
  int serial_ = 100;
};

class DoorTls : public ::testing::Test {
 protected:
  static std::string outcome(ServedStore& served, RemoteOptions options, std::chrono::milliseconds timeout = 700ms) {
    options.timeout = timeout;
    const auto head = served.connect(options).head();
    // A machine that is busy does not get as far as a handshake in so short a time.
    if (!head && head.error().code == ErrorCode::timeout && timeout < 20s)
      return outcome(served, std::move(options), 4 * timeout);
    return head ? "ok" : std::string(name_of(head.error().code));
  }
  Papers papers;
};

TEST_F(DoorTls, ServesThoseWhoTrustIts) {
  ServedStore served({.tls = papers.files("server")});
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("ca")}, 20s), "ok");
  auto remote = served.connect({.tls_ca = papers.certificate("ca")});
  EXPECT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  EXPECT_EQ(positions_of(remote.read(Query::all())).size(), 1u);
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("other-ca")}), "unavailable") << "wrong CA";
  EXPECT_EQ(outcome(served, {.tls = true}), "unavailable") << "a CA this machine does not know";
  EXPECT_EQ(outcome(served, {}), "unavailable") << "no TLS";
}

TEST_F(DoorTls, MutualAsksForAClientsCertificateOfItsCa) {
  ServedStore served({.tls = papers.files("server", "ca")});
  EXPECT_EQ(outcome(served,
                    {.tls_ca = papers.certificate("ca"),
                     .tls_certificate = papers.certificate("client"),
                     .tls_key = papers.key("client")},
                    20s),
            "ok");
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("ca")}), "unavailable") << "none";
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("ca"),
                             .tls_certificate = papers.certificate("stranger"),
                             .tls_key = papers.key("stranger")}),
            "unavailable")
      << "of another CA";
  papers.sign("late", "ca", "127.0.0.1", true);
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("ca"),
                             .tls_certificate = papers.certificate("late"),
                             .tls_key = papers.key("late")}),
            "unavailable")
      << "expired";
}

TEST_F(DoorTls, AnExpiredCertificateAndAWrongNameAreNotTrusted) {
  papers.sign("late", "ca", "127.0.0.1", true);
  ServedStore expired({.tls = papers.files("late")});
  EXPECT_EQ(outcome(expired, {.tls_ca = papers.certificate("ca")}), "unavailable");
  papers.sign("elsewhere", "ca", "192.0.2.7");
  ServedStore elsewhere({.tls = papers.files("elsewhere")});
  EXPECT_EQ(outcome(elsewhere, {.tls_ca = papers.certificate("ca")}), "unavailable");
}

TEST_F(DoorTls, ANewCertificateIsUsedWithoutARestart) {
  papers.sign("renewed", "ca", "192.0.2.7");  // of another host, so that nobody trusts it yet
  ServedStore served({.tls = papers.files("renewed")});
  ASSERT_EQ(outcome(served, {.tls_ca = papers.certificate("ca")}), "unavailable");
  auto connected = served.connect({.tls_ca = papers.certificate("ca")});
  papers.sign("renewed", "ca", "127.0.0.1");
  ASSERT_TRUE(served.door->reload_tls());
  std::string now;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       now != "ok" && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(300ms)) {
    now = outcome(served, {.tls_ca = papers.certificate("ca")});
  }
  EXPECT_EQ(now, "ok");
}

TEST_F(DoorTls, HalfOfANewPairLeavesTheOldOne) {
  papers.sign("whole", "ca", "127.0.0.1");
  papers.sign("next", "ca", "127.0.0.1");
  ServedStore served({.tls = papers.files("whole")});
  ASSERT_EQ(outcome(served, {.tls_ca = papers.certificate("ca")}, 20s), "ok");
  const auto put = [&](const std::string& from, const std::string& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  };

  put(papers.key("next"), papers.key("whole"));
  const auto half = served.door->reload_tls();
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, ErrorCode::invalid_argument);
  std::this_thread::sleep_for(1'500ms);  // gRPC looks every second
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("ca")}), "ok") << "handshakes go on";

  put(papers.certificate("next"), papers.certificate("whole"));
  ASSERT_TRUE(served.door->reload_tls());
  std::this_thread::sleep_for(1'500ms);
  EXPECT_EQ(outcome(served, {.tls_ca = papers.certificate("ca")}), "ok");
}

TEST_F(DoorTls, FilesThatAreNoneAreRefusedAtTheStart) {
  ServedStore served;
  const auto empty = papers.certificate("empty");
  std::ofstream(empty) << "";
  const auto garbage = papers.certificate("garbage");
  std::ofstream(garbage) << "-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n";
  for (const auto& files :
       {serving::TlsFiles{papers.certificate("none"), papers.key("server"), {}},
        serving::TlsFiles{papers.certificate("server"), papers.key("none"), {}},
        serving::TlsFiles{empty, papers.key("server"), {}}, serving::TlsFiles{garbage, papers.key("server"), {}},
        serving::TlsFiles{papers.certificate("server"), papers.certificate("server"), {}},
        serving::TlsFiles{papers.certificate("server"), papers.key("client"), {}},
        serving::TlsFiles{papers.certificate("server"), papers.key("server"), papers.certificate("none")},
        serving::TlsFiles{papers.certificate("server"), papers.key("server"), garbage}}) {
    SCOPED_TRACE(files.certificate + " " + files.key + " " + files.client_ca);
    const auto door = door::Door::start(*served.served, {.listen = {"127.0.0.1:0"}, .tls = files});
    ASSERT_FALSE(door);
    EXPECT_EQ(door.error().code, ErrorCode::invalid_argument);
  }
}

TEST_F(DoorTls, AClientsFilesThatCannotBeReadAreRefused) {
  for (const auto& options : {RemoteOptions{.tls_ca = "/no/such/file"},
                              RemoteOptions{.tls_ca = papers.certificate("ca"), .tls_certificate = "/no/such/file"},
                              RemoteOptions{.tls_key = "/no/such/file"}}) {
    const auto remote = Remote::connect(options);
    ASSERT_FALSE(remote);
    EXPECT_EQ(remote.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace evershard
