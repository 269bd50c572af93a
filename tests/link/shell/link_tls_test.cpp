// Mutual TLS, with certificates that openssl makes here.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/link/shell/raw_peer.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder of keys and certificates.
class LinkPapers {
 public:
  LinkPapers() {
    auto name = (fs::temp_directory_path() / "evershard-link-tls-XXXXXX").string();
    folder = mkdtemp(name.data());
    authority("ca");
    authority("other-ca");
    certify("node", "ca", "IP:127.0.0.1,DNS:node.cluster");
  }
  ~LinkPapers() { fs::remove_all(folder); }
  LinkPapers(const LinkPapers&) = delete;

  LinkTls files(const std::string& name, const std::string& ca = "ca") const {
    return {folder / (name + ".pem"), folder / (name + ".key"), folder / (ca + ".pem"), {}};
  }
  void authority(const std::string& name) {
    openssl("req -x509 " + new_key(name) + " -out " + path(name, ".pem") + " -days 30 -subj /CN=" + name +
            " -addext basicConstraints=critical,CA:TRUE");
  }
  void certify(const std::string& name, const std::string& ca, const std::string& names, bool expired = false) {
    std::ofstream(path(name, ".ext")) << "subjectAltName=" << names << "\n";
    openssl("req " + new_key(name) + " -out " + path(name, ".csr") + " -subj /CN=" + name);
    if (expired) return certify_expired(name, ca);
    openssl("x509 -req -in " + path(name, ".csr") + " -CA " + path(ca, ".pem") + " -CAkey " + path(ca, ".key") +
            " -set_serial " + std::to_string(++serial_) + " -days 10 -extfile " + path(name, ".ext") + " -out " +
            path(name, ".pem"));
  }
  fs::path folder;

 private:
  // `x509` knows no end in the past; `ca` does.
  void certify_expired(const std::string& name, const std::string& ca) {
    std::ofstream(folder / "index.txt") << "";
    std::ofstream(folder / "ca.cnf")
        << "[ca]\ndefault_ca=d\n[d]\ndatabase=" << (folder / "index.txt").string()
        << "\nnew_certs_dir=" << folder.string()
        << "\nrand_serial=yes\ndefault_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n";
    openssl("ca -batch -config " + (folder / "ca.cnf").string() + " -cert " + path(ca, ".pem") + " -keyfile " +
            path(ca, ".key") + " -in " + path(name, ".csr") + " -out " + path(name, ".pem") +
            " -startdate 20200101000000Z -enddate 20200201000000Z -notext -extfile " + path(name, ".ext"));
  }
  std::string path(const std::string& name, const char* end) const { return (folder / (name + end)).string(); }
  std::string new_key(const std::string& name) const {
    return "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + path(name, ".key");
  }
  static void openssl(const std::string& words) {
    const auto command = "openssl " + words + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  int serial_ = 100;
};

class LinkOverTls : public ::testing::Test {
 protected:
  static LinkOptions options(std::uint32_t node, LinkTls tls) {
    auto made = test_options(node);
    made.secret.clear();
    made.tls = std::move(tls);
    made.tls->unbound = true;
    return made;
  }
  /// Of a cluster whose certificates name its nodes.
  static LinkOptions bound(std::uint32_t node, LinkTls tls) {
    auto made = options(node, std::move(tls));
    made.tls->unbound = false;
    return made;
  }
  static std::string named(const std::string& member) { return "IP:127.0.0.1,URI:evershard://cluster-1/" + member; }
  LinkPapers papers;
};

TEST_F(LinkOverTls, CarriesEverything) {
  TestNode one(options(1, papers.files("node"))), two(options(2, papers.files("node")));
  one.listen();
  two.dial(one);
  EXPECT_EQ(two.ask(1, "hello").value(), "1: hello");
  EXPECT_EQ(one.ask(2, "hello").value(), "2: hello");
  const std::string large(20u << 20, 'x');
  const auto answer = two.ask(1, large, 30s);
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_TRUE(*answer == "1: " + large);
}

TEST_F(LinkOverTls, WithASecretAskedForToo) {
  auto with_secret = options(1, papers.files("node"));
  with_secret.secret = test_secret;
  TestNode one(with_secret);
  one.listen();
  with_secret.who.node = NodeNumber(2);
  TestNode two(with_secret);
  two.dial(one);
  EXPECT_TRUE(two.ask(1, "x"));
  with_secret.who.node = NodeNumber(3);
  with_secret.secret = "another secret, long enough";
  TestNode wrong(with_secret);
  wrong.dial(one);
  EXPECT_TRUE(wait_for([&] { return wrong.was_refused("it does not know this secret"); }));
}

TEST_F(LinkOverTls, RefusesAForeignCertificateOnEitherSide) {
  papers.certify("stranger", "other-ca", "IP:127.0.0.1");
  TestNode one(options(1, papers.files("node"))), good(options(9, papers.files("node")));
  one.listen();
  good.dial(one);
  ASSERT_TRUE(good.ask(1, "x"));

  TestNode stranger(options(2, papers.files("stranger")));  // it trusts the cluster, which does not trust it
  stranger.dial(one);
  EXPECT_TRUE(
      wait_for([&] { return one.was_refused("its certificate is refused: unable to get local issuer certificate"); }));
  EXPECT_TRUE(wait_for([&] { return stranger.was_refused("unknown ca"); }));

  TestNode wary(options(3, papers.files("node", "other-ca")));  // the cluster would trust it
  wary.dial(one);
  EXPECT_TRUE(wait_for([&] { return wary.was_refused("its certificate is refused"); }));

  EXPECT_EQ(one.count(one.ups, 2) + one.count(one.ups, 3), 0);
  EXPECT_TRUE(good.ask(1, "x"));
  EXPECT_EQ(good.count(good.downs, 1), 0);
}

TEST_F(LinkOverTls, ChecksThatTheCertificateIsForTheHost) {
  papers.certify("elsewhere", "ca", "IP:10.0.0.1,DNS:other.cluster");
  TestNode one(options(1, papers.files("elsewhere"))), two(options(2, papers.files("node")));
  one.listen();
  two.dial(one);
  EXPECT_TRUE(wait_for([&] { return two.was_refused("IP address mismatch"); }));
  two.dial(NodeNumber(1), one.port, "wrong.cluster");
  EXPECT_TRUE(wait_for([&] { return two.was_refused("hostname mismatch"); }));
  EXPECT_EQ(two.count(two.ups, 1), 0);
  two.dial(NodeNumber(1), one.port, "other.cluster");
  EXPECT_TRUE(two.ask(1, "x")) << "the name that was asked for";
}

TEST_F(LinkOverTls, RefusesThoseWithoutTls) {
  TestNode one(options(1, papers.files("node"))), plain(test_options(2)), good(options(9, papers.files("node")));
  one.listen();
  good.dial(one);
  plain.dial(one);
  ASSERT_TRUE(good.ask(1, "x"));
  for (const auto& words : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(500, 'x'), std::string("EVSLINK\x01")}) {
    RawPeer raw(one.port);
    raw.say(words);
    EXPECT_TRUE(raw.is_over());
  }
  {
    RawPeer silent(one.port);
    EXPECT_TRUE(silent.is_over());
  }
  EXPECT_TRUE(wait_for([&] { return !plain.look([&] { return plain.refusals.empty(); }); }));
  EXPECT_EQ(one.count(one.ups, 2), 0);
  EXPECT_EQ(good.count(good.downs, 1), 0);
  EXPECT_TRUE(good.ask(1, "x"));
}

TEST_F(LinkOverTls, RefusesAnOlderTlsAndAnExpiredCertificate) {
  TestNode one(options(1, papers.files("node")));
  one.listen();
  const auto handshake = [&](const std::string& words) {
    const auto command = "openssl s_client -connect 127.0.0.1:" + std::to_string(one.port) + " -CAfile " +
                         (papers.folder / "ca.pem").string() + " -cert " + (papers.folder / "node.pem").string() +
                         " -key " + (papers.folder / "node.key").string() + " " + words + " </dev/null >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  };
  EXPECT_TRUE(handshake("-tls1_3"));
  EXPECT_FALSE(handshake("-tls1_2"));

  papers.certify("old", "ca", "IP:127.0.0.1", true);
  TestNode old(options(2, papers.files("old")));
  old.dial(one);
  EXPECT_TRUE(wait_for([&] { return one.was_refused("certificate has expired"); }));
  EXPECT_EQ(one.count(one.ups, 2), 0);
}

TEST_F(LinkOverTls, AnEndOfOneConnectionIsNotAnothers) {
  TestNode one(options(1, papers.files("node")));
  one.listen();
  TestNode good(options(9, papers.files("node")));
  good.dial(one);
  for (std::uint32_t n = 2; n <= 6; ++n) {
    TestNode short_lived(options(n, papers.files("node")));
    short_lived.dial(one);
    ASSERT_TRUE(short_lived.ask(1, "x"));
    RawPeer(one.port).say("junk that TLS stumbles over");
  }
  EXPECT_TRUE(good.ask(1, "x"));
  EXPECT_EQ(good.count(good.downs, 1), 0);
}

TEST_F(LinkOverTls, ReadsItsFilesAgain) {
  TestNode one(options(1, papers.files("node")));
  one.listen();
  TestNode two(options(2, papers.files("node")));
  two.dial(one);
  ASSERT_TRUE(two.ask(1, "x"));

  const auto key = papers.folder / "node.key";
  fs::rename(key, papers.folder / "kept.key");
  std::ofstream(key) << "no key";
  const auto failed = one.links->reload_tls();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(failed.error().what, HasSubstr("node.key"));
  fs::rename(papers.folder / "kept.key", key);

  // A new authority: who still trusts the old one is refused, who trusts the new one gets in; what is connected stays.
  papers.authority("ca");
  papers.certify("node", "ca", "IP:127.0.0.1");
  TestNode newer(options(3, papers.files("node")));
  newer.dial(one);
  EXPECT_TRUE(wait_for([&] { return newer.was_refused("its certificate is refused"); }));
  ASSERT_TRUE(one.links->reload_tls());
  EXPECT_TRUE(wait_for([&] { return newer.is_connected(1); }));
  EXPECT_TRUE(newer.ask(1, "x"));
  EXPECT_TRUE(two.ask(1, "x"));
  EXPECT_EQ(two.count(two.downs, 1), 0);
}

TEST_F(LinkOverTls, KnowsNodesByTheirCertificates) {
  papers.certify("coordinator", "ca", named("coordinator"));
  papers.certify("one", "ca", named("node/1"));
  papers.certify("two", "ca", named("node/2") + ",URI:https://example.org,URI:evershard://other-cluster/node/1");
  TestNode coordinator(bound(0, papers.files("coordinator"))), one(bound(1, papers.files("one"))),
      two(bound(2, papers.files("two")));
  coordinator.listen();
  one.listen();
  one.dial(coordinator);
  two.dial(one);
  EXPECT_EQ(one.ask(0, "x").value(), "0: x");
  EXPECT_EQ(two.ask(1, "x").value(), "1: x");

  // Nodes that lie: with a certificate of another one, and with one that names nobody.
  TestNode liar(options(3, papers.files("two"))), nobody(options(4, papers.files("node")));
  papers.certify("five", "ca", named("node/5") + ",URI:evershard://other-cluster/node/6");
  auto other = options(5, papers.files("five"));
  TestNode five(other);
  for (auto* stranger : {&liar, &nobody}) stranger->dial(one);
  EXPECT_TRUE(wait_for([&] {
    return one.was_refused(
        "its certificate is for \"evershard://cluster-1/node/2\", \"evershard://other-cluster/node/1\", not for "
        "\"evershard://cluster-1/node/3\"");
  }));
  EXPECT_TRUE(wait_for(
      [&] { return liar.was_refused("the peer refused: its certificate is for \"evershard://cluster-1/node/2\""); }));
  EXPECT_TRUE(wait_for([&] {
    return one.was_refused("its certificate names no member of a cluster, not for \"evershard://cluster-1/node/4\"");
  }));
  EXPECT_TRUE(wait_for([&] { return nobody.was_refused("not for \"evershard://cluster-1/node/4\""); }));
  five.dial(one);
  EXPECT_TRUE(five.ask(1, "x")) << "lenient itself, and named";
  // Lenient is not blind: who shows another one's name is refused all the same.
  five.listen();
  TestNode seven(options(7, papers.files("two")));
  seven.dial(five);
  EXPECT_TRUE(wait_for([&] { return five.was_refused("not for \"evershard://cluster-1/node/7\""); }));
  EXPECT_EQ(one.count(one.ups, 3) + one.count(one.ups, 4), 0);
  EXPECT_EQ(two.count(two.downs, 1), 0);
}

TEST_F(LinkOverTls, RefusesACertificateOfAnotherNode) {
  papers.certify("one", "ca", named("node/1"));
  papers.certify("two", "ca", named("node/2"));
  papers.certify("six", "ca", "IP:127.0.0.1,URI:evershard://other-cluster/node/6");
  // It does not even start with one.
  const auto why = [&](std::uint32_t node, const char* files) {
    const auto opened = Links::open(bound(node, papers.files(files)), {});
    return opened ? std::string() : opened.error().what;
  };
  EXPECT_THAT(why(3, "two"),
              HasSubstr("is for \"evershard://cluster-1/node/2\", not for \"evershard://cluster-1/node/3\""));
  EXPECT_THAT(why(0, "two"), HasSubstr("not for \"evershard://cluster-1/coordinator\""));
  EXPECT_THAT(why(6, "six"), HasSubstr("is for \"evershard://other-cluster/node/6\""));
  EXPECT_THAT(why(22, "two"), HasSubstr("not for"));
  EXPECT_THAT(why(1, "node"), HasSubstr("names no member of a cluster"));
  EXPECT_EQ(why(2, "two"), "");

  // Who dials looks too: what listens there has another node's certificate.
  TestNode one(options(1, papers.files("node"))), two(bound(2, papers.files("two")));
  one.listen();
  two.dial(one);
  EXPECT_TRUE(wait_for([&] {
    return two.was_refused("its certificate names no member of a cluster, not for \"evershard://cluster-1/node/1\"");
  }));
  EXPECT_EQ(two.count(two.ups, 1), 0);
  EXPECT_EQ(one.count(one.ups, 2), 0);
}

TEST_F(LinkOverTls, NamesOfClustersAreEscapedInCertificates) {
  LinkIdentity who{"a shop/1", 16, 1, NodeNumber(12), NodeRole::node, 0};
  EXPECT_EQ(member_uri(who), "evershard://a%20shop%2F1/node/12");
  who.node = NodeNumber(0);
  who.cluster = "\xc3\xa4.b_c~d-9";
  EXPECT_EQ(member_uri(who), "evershard://%C3%A4.b_c~d-9/coordinator");
  who.node = NodeNumber(standby_numbers_from + 5);
  who.role = NodeRole::coordinator;
  EXPECT_EQ(member_uri(who), "evershard://%C3%A4.b_c~d-9/coordinator");
  who.role = NodeRole::node;
  EXPECT_EQ(member_uri(who), "evershard://%C3%A4.b_c~d-9/node/2147483653");
  who.role = NodeRole::coordinator;
  who.node = NodeNumber(5);
  EXPECT_EQ(member_uri(who), "evershard://%C3%A4.b_c~d-9/node/5");
}

TEST_F(LinkOverTls, RefusesFilesThatCannotBeUsed) {
  papers.certify("other", "ca", "IP:127.0.0.1");
  const auto outcome = [&](LinkTls files) {
    const auto opened = Links::open(options(1, std::move(files)), {});
    return opened ? "opened" : opened.error().what;
  };
  auto files = papers.files("node");
  files.certificate = papers.folder / "absent.pem";
  EXPECT_THAT(outcome(files), HasSubstr("the link's certificate"));
  files = papers.files("node");
  files.key = papers.folder / "other.key";
  EXPECT_THAT(outcome(files), HasSubstr("the link's key"));
  files = papers.files("node");
  files.ca = papers.folder / "node.key";
  EXPECT_THAT(outcome(files), HasSubstr("the link's CA"));
  files = papers.files("node");
  files.ca.clear();
  EXPECT_THAT(outcome(files), HasSubstr("needs a certificate, its key and the cluster's CA"));
}

}  // namespace
}  // namespace evershard::cluster
