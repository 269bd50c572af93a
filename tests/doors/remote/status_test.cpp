#include "evershard/doors/wire/status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/protocol/messages.hpp"

namespace evershard::wire {
namespace {

constexpr auto first_code = ErrorCode::version_conflict;
constexpr auto last_code = ErrorCode::permission_denied;

TEST(Status, BringsBackEveryError) {
  for (auto code = first_code; code <= last_code; code = static_cast<ErrorCode>(static_cast<int>(code) + 1)) {
    SCOPED_TRACE(std::string(name_of(code)));
    ErrorDetails details;
    details.aggregate = AggregateId{"order", "küche"};
    details.expected = Version::exactly(7);
    details.actual = SeqNr(9);
    details.condition = 3;
    details.position = GlobalPosition(~std::uint64_t{0});
    details.shard = ShardId(65'534);
    details.offset = ShardOffset(12);
    for (const auto& error :
         {Error(code, "what: \"it\" was\nü 100%"), Error(code, "with details", details), Error(code, "")}) {
      const auto status = status_of(error);
      EXPECT_FALSE(status.ok());
      EXPECT_EQ(status.error_code(), code_of(code));
      EXPECT_EQ(status.error_message(), std::string(name_of(code)) + ": " + error.what);
      EXPECT_TRUE(error_of(status) == error) << error_of(status).what;
    }
  }
}

// As the table in service.proto has it: other clients divide by these.
TEST(Status, HasTheCodesOfTheDocument) {
  using enum ErrorCode;
  for (const auto& [code, status] :
       std::initializer_list<std::pair<ErrorCode, grpc::StatusCode>>{{version_conflict, grpc::ABORTED},
                                                                     {condition_failed, grpc::ABORTED},
                                                                     {duplicate_event, grpc::ALREADY_EXISTS},
                                                                     {not_found, grpc::NOT_FOUND},
                                                                     {invalid_argument, grpc::INVALID_ARGUMENT},
                                                                     {invalid_query, grpc::INVALID_ARGUMENT},
                                                                     {too_large, grpc::RESOURCE_EXHAUSTED},
                                                                     {overloaded, grpc::RESOURCE_EXHAUSTED},
                                                                     {wrong_shard, grpc::UNAVAILABLE},
                                                                     {fenced, grpc::UNAVAILABLE},
                                                                     {unavailable, grpc::UNAVAILABLE},
                                                                     {timeout, grpc::DEADLINE_EXCEEDED},
                                                                     {corruption, grpc::DATA_LOSS},
                                                                     {io, grpc::DATA_LOSS},
                                                                     {cancelled, grpc::CANCELLED},
                                                                     {unauthenticated, grpc::UNAUTHENTICATED},
                                                                     {permission_denied, grpc::PERMISSION_DENIED}}) {
    EXPECT_EQ(code_of(code), status) << name_of(code);
  }
}

// What comes from a proxy, or from gRPC itself.
TEST(Status, WithoutDetailsItIsTheNetworksOwn) {
  for (const auto& [status, code] : std::initializer_list<std::pair<grpc::StatusCode, ErrorCode>>{
           {grpc::CANCELLED, ErrorCode::unavailable},
           {grpc::DEADLINE_EXCEEDED, ErrorCode::timeout},
           {grpc::UNAUTHENTICATED, ErrorCode::unauthenticated},
           {grpc::PERMISSION_DENIED, ErrorCode::permission_denied},
           {grpc::RESOURCE_EXHAUSTED, ErrorCode::too_large},
           {grpc::INVALID_ARGUMENT, ErrorCode::invalid_argument},
           {grpc::UNIMPLEMENTED, ErrorCode::invalid_argument},
           {grpc::UNAVAILABLE, ErrorCode::unavailable},
           {grpc::INTERNAL, ErrorCode::unavailable},
           {grpc::UNKNOWN, ErrorCode::unavailable}}) {
    EXPECT_EQ(error_of(grpc::Status(status, "so it is")).code, code) << status;
  }
  EXPECT_EQ(error_of(grpc::Status(grpc::UNAVAILABLE, "connection refused")).what, "connection refused");
  EXPECT_FALSE(error_of(grpc::Status(grpc::UNAVAILABLE, "")).what.empty());
}

TEST(Status, DetailsThatAreDamagedAreAsGoodAsNone) {
  const auto whole = status_of(Error(ErrorCode::not_found, "there is none")).error_details();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto error = error_of(grpc::Status(grpc::NOT_FOUND, "there is none", whole.substr(0, size)));
    EXPECT_EQ(error.what, "there is none") << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    (void)error_of(grpc::Status(grpc::NOT_FOUND, "there is none", damaged));  // any answer, but an answer
  }
}

TEST(Status, TakesAsManyConflictsAsHaveRoom) {
  std::vector<RecordedEvent> conflicts(500);
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    conflicts[i].position = GlobalPosition(i + 1);
    conflicts[i].type = "T";
    conflicts[i].payload = std::string(100, 'p');
  }
  ErrorDetails details;
  details.condition = 0;
  details.position = GlobalPosition(1);
  const Error error(ErrorCode::condition_failed, "condition 0 failed", details);
  const auto status = status_of(error, conflicts);
  EXPECT_LT(status.error_details().size(), 8u << 10) << "gRPC's clients take no more than that";
  EXPECT_GT(status.error_details().size(), 4u << 10) << "there was room";
  EXPECT_TRUE(error_of(status) == error);
  conflicts.resize(1);
  conflicts[0].payload.resize(100'000);
  EXPECT_TRUE(error_of(status_of(error, conflicts)) == error) << "one that is too large alone is left out";
}

TEST(Status, ALongTextStaysBelowWhatClientsTake) {
  const Error error(ErrorCode::invalid_argument, std::string(50'000, 'x'));
  const auto status = status_of(error);
  EXPECT_LT(status.error_details().size() + status.error_message().size(), 8u << 10);
  EXPECT_EQ(error_of(status).code, ErrorCode::invalid_argument);
  EXPECT_FALSE(error_of(status).what.empty());
}

}  // namespace
}  // namespace evershard::wire
