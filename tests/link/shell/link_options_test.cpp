#include "evershard/cluster/link/link_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/link/shell/test_node.hpp"

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(void (*spoil)(LinkOptions&)) {
  auto options = test_options(1);
  spoil(options);
  const auto checked = check(options);
  EXPECT_TRUE(checked || checked.error().code == ErrorCode::invalid_argument);
  const auto opened = Links::open(options, {});
  EXPECT_EQ(opened.has_value(), checked.has_value());
  return checked ? "fine" : checked.error().what;
}

TEST(LinkOptions, AreRefusedWhenUnsafeOrImpossible) {
  EXPECT_EQ(refusal_of([](LinkOptions&) {}), "fine");
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.secret.clear(); }), HasSubstr("needs a shared secret or TLS"));
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.secret.clear(), o.insecure = true; }),
              HasSubstr("needs a shared secret or TLS"));
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.secret = "fifteen bytes !"; }), HasSubstr("15 bytes"));
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.who.cluster.clear(); }), HasSubstr("cluster id"));
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.who.shards = 0, o.who.role = NodeRole::coordinator; }),
              HasSubstr("shard count"));
  EXPECT_EQ(refusal_of([](LinkOptions& o) { o.who.shards = 0, o.who.role = NodeRole::node; }), "fine")
      << "it asks its coordinator";
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.limits.requests_max = 0; }), HasSubstr("requests_max"));
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.greetings_max = 0; }), HasSubstr("greetings_max"));
  EXPECT_THAT(refusal_of([](LinkOptions& o) { o.tls = LinkTls{}; }), HasSubstr("needs a certificate"));
}

TEST(LinkOptions, WithoutTlsAreForThisMachineAlone) {
  const auto secret = test_options(1);
  for (const auto* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost"}) EXPECT_TRUE(check_host(secret, host)) << host;
  for (const auto* host : {"0.0.0.0", "", "::", "10.0.0.1", "node-1.example", "128.0.0.1", "localhost.example"}) {
    const auto checked = check_host(secret, host);
    ASSERT_FALSE(checked) << host;
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(checked.error().what, HasSubstr("the link has no TLS"));
  }
  auto insecure = secret;
  insecure.insecure = true;
  EXPECT_TRUE(check_host(insecure, "0.0.0.0"));
  auto tls = secret;
  tls.tls = LinkTls{"a", "b", "c"};
  EXPECT_TRUE(check_host(tls, "0.0.0.0"));

  TestNode two(test_options(2));
  EXPECT_EQ(two.links->listen("0.0.0.0", 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(two.links->dial({NodeNumber(1), "10.0.0.1", 7'000}).error().code, ErrorCode::invalid_argument);
}

TEST(LinkOptions, ReadASecretThatOnlyItsOwnerCanRead) {
  const auto path = std::filesystem::temp_directory_path() / ("evershard-secret-" + std::to_string(::getpid()));
  std::ofstream(path) << "  a secret of some length\n";
  ::chmod(path.c_str(), 0600);
  EXPECT_EQ(secret_of_file(path).value(), "a secret of some length");
  ::chmod(path.c_str(), 0644);
  const auto open = secret_of_file(path);
  EXPECT_EQ(open.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(open.error().what, HasSubstr("chmod 600"));
  ::chmod(path.c_str(), 0600);
  std::ofstream(path) << "short\n";
  EXPECT_THAT(secret_of_file(path).error().what,
              ::testing::AllOf(HasSubstr("5 bytes"), ::testing::Not(HasSubstr("short"))));
  std::filesystem::remove(path);
  EXPECT_EQ(secret_of_file(path).error().code, ErrorCode::io);
}

}  // namespace
}  // namespace evershard::cluster
