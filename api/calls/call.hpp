// Call: one call of an interface, said once for all carriers: its names, who may make it, its messages, whether it may
// be made again, whose home answers it, and how it is answered.

#pragma once

#include <google/protobuf/message.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/scope.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/v1/service.pb.h"

namespace evershard::calls {

namespace pb = evershard::v1;
using google::protobuf::Message;
using std::chrono::milliseconds;

/// Whether a call is made again where nobody knows what became of it.
enum class Again : std::uint8_t {
  read,    ///< it changes nothing
  always,  ///< it may be carried out twice
  named,   ///< as that: it names itself, and is answered as the first time
  not_done,  ///< only where nothing was done. A request with `if_absent` is `always`: the second gives what the first made
};

/// Of gRPC; and as metrics count it, where that is another word than the last of the path.
struct Path {
  constexpr Path(const char* p, const char* c = nullptr) : path(p), counted(c) {}
  const char* path;
  const char* counted;
};

/// A call as its carriers see it: gRPC's service and client, a home and the node that asks it.
///
/// Shape: a message that is given to a call is one of its request() or response().
class Call {
 public:
  Path name;  ///< `/evershard.v1.Tables/Select`
  Scope scope;
  const char* at_home;  ///< its name between nodes; null: it is not asked of a home
  bool in_parts;      ///< an answer of a home may have fewer than `limit`, so that it is no longer than a home's may be
  bool shows_head;    ///< without an at_least, of when the call began
  bool has_at_least;  ///< its request may have one
  bool waits;         ///< `timeout` says that it is not there yet: it is looked for again, as long as at_least says

  [[nodiscard]] virtual std::unique_ptr<Message> request() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Message> response() const = 0;
  [[nodiscard]] virtual Again again(const Message& request) const = 0;
  /// Whose home it is asked of. Shape: at_home
  [[nodiscard]] virtual const std::string& definition(const Message& request) const = 0;
  /// Null: the request has none.
  [[nodiscard]] virtual const pb::AtLeast* at_least(const Message& request) const = 0;
  /// Shape: has_at_least
  [[nodiscard]] virtual pb::AtLeast* mutable_at_least(Message& request) const = 0;
  [[nodiscard]] virtual std::uint32_t limit(const Message& request) const = 0;
  virtual void set_limit(Message& request, std::uint32_t limit) const = 0;

 protected:
  constexpr Call(Path n, Scope s, const char* h, bool parts, bool head, bool position, bool w)
      : name(n), scope(s), at_home(h), in_parts(parts), shows_head(head), has_at_least(position), waits(w) {}
  constexpr virtual ~Call() = default;
};

/// A call of an interface.
template <class Of>
class CallOf : public Call {
 public:
  /// `wait`: how long it may wait for what the request's at_least says.
  [[nodiscard]] virtual Result<void> answer(Of& of, Message& request, Message& response, milliseconds wait) const = 0;

 protected:
  using Call::Call;
};

template <class Of>
using Calls = std::vector<const CallOf<Of>*>;

/// The row that says it.
template <class Of, class Request, class Response>
class Row final : public CallOf<Of> {
 public:
  struct Home {
    const char* name = nullptr;
    const std::string& (Request::*definition)() const = nullptr;
    bool in_parts = false;
    bool shows_head = false;
  };
  static constexpr bool may_say_at_least = requires(Request & r) { r.mutable_at_least(); };
  using Answer = Result<void> (*)(Of&, Request&, Response&);
  using Waiting = Result<void> (*)(Of&, Request&, Response&, milliseconds);

  constexpr Row(Path name, Scope scope, Again again, Home home, Answer answer)
      : CallOf<Of>(name, scope, home.name, home.in_parts, home.shows_head, may_say_at_least, false),
        again_(again),
        home_(home),
        answer_(answer) {}
  constexpr Row(Path name, Scope scope, Again again, Home home, Waiting waiting)
      : CallOf<Of>(name, scope, home.name, home.in_parts, home.shows_head, may_say_at_least, true),
        again_(again),
        home_(home),
        waiting_(waiting) {}

  std::unique_ptr<Message> request() const override { return std::make_unique<Request>(); }
  std::unique_ptr<Message> response() const override { return std::make_unique<Response>(); }
  Again again(const Message& request) const override {
    if constexpr (requires(const Request& r) { r.if_absent(); })
      if (static_cast<const Request&>(request).if_absent()) return Again::always;
    return again_;
  }
  const std::string& definition(const Message& request) const override {
    EVERSHARD_CHECK(home_.definition != nullptr, "a call that a home is asked names a definition, or its stub does");
    return (static_cast<const Request&>(request).*home_.definition)();
  }
  const pb::AtLeast* at_least(const Message& request) const override {
    if constexpr (may_say_at_least)
      if (static_cast<const Request&>(request).has_at_least()) return &static_cast<const Request&>(request).at_least();
    return nullptr;
  }
  pb::AtLeast* mutable_at_least(Message& request) const override {
    if constexpr (may_say_at_least) return static_cast<Request&>(request).mutable_at_least();
    return nullptr;
  }
  std::uint32_t limit(const Message& request) const override {
    if constexpr (requires(const Request& r) { r.limit(); }) return static_cast<const Request&>(request).limit();
    return 0;
  }
  void set_limit(Message& request, std::uint32_t limit) const override {
    if constexpr (requires(Request & r) { r.set_limit(limit); }) static_cast<Request&>(request).set_limit(limit);
  }
  Result<void> answer(Of& of, Message& request, Message& response, milliseconds wait) const override {
    auto& in = static_cast<Request&>(request);
    auto& out = static_cast<Response&>(response);
    return waiting_ != nullptr ? waiting_(of, in, out, wait) : answer_(of, in, out);
  }

 private:
  Again again_;
  Home home_;
  Answer answer_ = nullptr;
  Waiting waiting_ = nullptr;
};

/// What a row answers with: `put` fills the response.
template <class Found, class Put>
[[nodiscard]] Result<void> told(Result<Found> found, Put put) {
  if (!found) return refuse(std::move(found).error());
  put(*std::move(found));
  return {};
}

/// What a call waits for.
struct WaitsFor {
  std::optional<GlobalPosition> at_least{};
  std::optional<milliseconds> timeout{};  ///< absent: as much of the call's time as its carrier thinks
  bool shared = false;                    ///< at one door only a part of it: another may be there already
};

/// Whoever carries calls to where they are answered: a client's connection, a node that asks homes. Any thread.
class Asker {
 public:
  virtual ~Asker() = default;

  /// Errors: those of the answer, and of the way there
  template <class Of, class Request, class Response>
  [[nodiscard]] Result<void> ask(const Row<Of, Request, Response>& row, Request& request, Response& response,
                                 const WaitsFor& awaited = {}) {
    return carry(row, request, response, awaited);
  }
  /// Pages of calls that are in_parts are.
  [[nodiscard]] virtual bool gives_parts() const { return false; }
  /// Which position a read waits for: what its caller says, else what this one has seen.
  [[nodiscard]] virtual std::optional<GlobalPosition> at_least(std::optional<GlobalPosition> asked) const {
    return asked;
  }
  /// The caller was answered by what is stored up to here.
  virtual void see(GlobalPosition) {}

 private:
  [[nodiscard]] virtual Result<void> carry(const Call& call, Message& request, Message& response,
                                           const WaitsFor& awaited) = 0;
};

}  // namespace evershard::calls
