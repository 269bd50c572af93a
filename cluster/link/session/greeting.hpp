// Greeting: what is said on a new connection before the first frame: the secret's proof, if there is one, then both
// hellos.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/cluster/link/session/hello.hpp"
#include "evershard/cluster/link/session/secret_proof.hpp"

namespace evershard::cluster {

struct GreetingSetup {
  LinkSide side{};
  LinkHello own{};  ///< of an acceptor: `session` and `to` are the dialler's
  std::chrono::milliseconds heartbeat{};
  std::optional<std::string> secret{};  ///< none: somebody else has shown who they are (TLS)
  LinkNonce nonce{};
  /// Asked by the acceptor, when all else is well: whether it takes this peer now. Errors: any; the dialler is told
  std::function<Result<void>(const LinkAgreement&)> admit{};
};

/// Asks for exact numbers of bytes, so that what follows the greeting is left to who reads frames. No socket, no clock:
/// who carries the bytes ends it when it takes too long.
///
/// Whoever dials proves first: a stranger who connects is shown a nonce and nothing else.
class Greeting {
 public:
  explicit Greeting(GreetingSetup setup);

  /// How many bytes the greeting needs next; 0: the greeting is over.
  [[nodiscard]] std::size_t wants() const { return wants_; }
  /// Shape: as many as it wants
  void received(std::string_view bytes);
  /// What goes to the other side: before anything is waited for, and at the end too.
  [[nodiscard]] std::string take_output();

  /// Errors: unauthenticated: the secret; invalid_argument: agree(); those of the other side, `the peer refused: ...`
  [[nodiscard]] const std::optional<Result<LinkAgreement>>& outcome() const { return outcome_; }

 private:
  enum class Step { nonce, proof, verdict, hello_size, hello, answer_size, answer, refusal };

  void expect(Step step, std::size_t bytes);
  void received_nonce(std::string_view bytes);
  void received_proof(std::string_view bytes);
  void received_verdict(std::string_view bytes);
  void received_hello(std::string_view bytes);
  void received_answer(std::string_view bytes);
  void start_hello();
  void refuse_peer(Error why);
  void fail(Error why);

  GreetingSetup setup_;
  Step step_{};
  std::size_t wants_ = 0;
  LinkNonce theirs_{};
  std::string out_;
  std::optional<Result<LinkAgreement>> outcome_;
};

}  // namespace evershard::cluster
