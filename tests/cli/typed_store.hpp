// A store of accounts whose payloads are Protobuf.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/base64.hpp"
#include "tests/cli/bank.pb.h"
#include "tests/cli/program.hpp"

namespace evershard::testing {

class TypedStore : public Program {
 protected:
  void SetUp() override { data_ = store(); }

  [[nodiscard]] Words with_data(Words given) const {
    given.insert(given.end(), {"--data", data_});
    return given;
  }
  void register_types() const {
    const Finished done =
        evershard(with_data({"types", "add", EVERSHARD_DESCRIPTORS, "--state", "bank_account=" + account_message}));
    ASSERT_EQ(done.status, 0) << done.err;
  }
  void append_payload(const std::string& type, std::string_view payload, int format = 2) const {
    write_file("payload", payload);
    const Finished done =
        evershard(with_data({"append", "--aggregate", "bank_account-1", "--type", type, "--payload-file",
                             path("payload"), "--payload-format", std::to_string(format)}));
    ASSERT_EQ(done.status, 0) << done.err;
  }
  void deposit(std::int64_t amount) const {
    tests::bank::Deposited deposited;
    deposited.set_amount(amount);
    append_payload(deposited_message, deposited.SerializeAsString());
  }
  /// As in a line for `append --jsonl`.
  [[nodiscard]] Json deposit_as_json(std::int64_t amount) const {
    tests::bank::Deposited deposited;
    deposited.set_amount(amount);
    return {{"aggregate", "bank_account-1"},
            {"type", deposited_message},
            {"payload", to_base64(deposited.SerializeAsString())},
            {"payload_encoding", "base64"},
            {"payload_format", 2}};
  }
  void put_snapshot(std::uint64_t version, std::string_view payload, int format = 2) const {
    write_file("payload", payload);
    const Finished done = evershard(with_data(
        {"snapshot", "put", "bank_account-1", "--version", std::to_string(version), "--payload-file", path("payload"),
         "--payload-format", std::to_string(format), "--schema-revision", "3", "--keep", "10"}));
    ASSERT_EQ(done.status, 0) << done.err;
  }
  void put_snapshot_of_balance(std::uint64_t version, std::int64_t balance) const {
    tests::bank::Account account;
    account.set_owner_name("Ann");
    account.set_balance(balance);
    put_snapshot(version, account.SerializeAsString());
  }

  const std::string account_message = "evershard.tests.bank.Account";
  const std::string deposited_message = "evershard.tests.bank.Deposited";
  std::string data_;
};

}  // namespace evershard::testing
