#include "evershard/cluster/link/session/greeting.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/link/session/bytes.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/codec.hpp"

namespace evershard::cluster {
namespace {

// Both sides begin with it, so that other protocols are told apart at once. Its last byte is the greeting's own
// version.
constexpr std::string_view greeting_magic("EVSLINK\x01", 8);
constexpr std::size_t text_bytes_max = 4'096;  // of a hello, of a refusal
constexpr char welcome = 0;
constexpr char refused = 1;

bool begins_right(std::string_view bytes) { return bytes.starts_with(greeting_magic); }

Error not_evershard() { return {ErrorCode::invalid_argument, "what answers there does not speak this protocol"}; }

std::string_view of_nonce(const LinkNonce& nonce) { return {nonce.data(), nonce.size()}; }

}  // namespace

Greeting::Greeting(GreetingSetup setup) : setup_(std::move(setup)) {
  const bool dialler = setup_.side == LinkSide::dialler;
  if (!setup_.secret) {
    dialler ? start_hello() : expect(Step::hello_size, greeting_magic.size() + 2);
  } else if (dialler) {
    expect(Step::nonce, greeting_magic.size() + sizeof(LinkNonce));
  } else {
    ByteWriter(out_).raw(greeting_magic).raw(of_nonce(setup_.nonce));
    expect(Step::proof, sizeof(LinkNonce) + proof_bytes);
  }
}

void Greeting::expect(Step step, std::size_t bytes) {
  step_ = step;
  wants_ = bytes;
}

std::string Greeting::take_output() { return std::exchange(out_, {}); }

void Greeting::received(std::string_view bytes) {
  EVERSHARD_CHECK(bytes.size() == wants_, "a greeting is given the bytes it asked for");
  wants_ = 0;
  switch (step_) {
    case Step::nonce:
      return received_nonce(bytes);
    case Step::proof:
      return received_proof(bytes);
    case Step::verdict:
      return received_verdict(bytes);
    case Step::hello_size: {
      if (!begins_right(bytes)) return fail({ErrorCode::invalid_argument, "what dialled does not speak this protocol"});
      const auto size = ByteReader(bytes.substr(greeting_magic.size())).number<std::uint16_t>();
      if (size == 0 || size > text_bytes_max) return fail(not_evershard());
      return expect(Step::hello, size);
    }
    case Step::hello:
      return received_hello(bytes);
    case Step::answer_size: {
      ByteReader in(bytes);
      const auto verdict = static_cast<char>(in.number<std::uint8_t>());
      const auto size = in.number<std::uint16_t>();
      if ((verdict != welcome && verdict != refused) || size == 0 || size > 2 * text_bytes_max)
        return fail(not_evershard());
      return expect(verdict == welcome ? Step::answer : Step::refusal, size);
    }
    case Step::answer:
      return received_answer(bytes);
    case Step::refusal: {
      auto why = codec::decode<Error>(bytes);
      if (!why) return fail(not_evershard());
      return fail({why->code, "the peer refused: " + why->what});
    }
  }
}

// The dialler: the acceptor's nonce came.
void Greeting::received_nonce(std::string_view bytes) {
  if (!begins_right(bytes)) return fail(not_evershard());
  std::copy(bytes.begin() + greeting_magic.size(), bytes.end(), theirs_.begin());
  ByteWriter(out_)
      .raw(of_nonce(setup_.nonce))
      .raw(secret_proof(*setup_.secret, LinkSide::dialler, theirs_, setup_.nonce));
  expect(Step::verdict, 1 + proof_bytes);
}

// The acceptor: the dialler's nonce and proof came. The answer has one length, whatever it says.
void Greeting::received_proof(std::string_view bytes) {
  std::copy(bytes.begin(), bytes.begin() + sizeof(LinkNonce), theirs_.begin());
  const auto expected = secret_proof(*setup_.secret, LinkSide::dialler, setup_.nonce, theirs_);
  if (!is_same_proof(bytes.substr(sizeof(LinkNonce)), expected)) {
    out_.push_back(refused);
    out_.append(proof_bytes, '\0');
    return fail({ErrorCode::unauthenticated, "the dialler does not know the secret"});
  }
  out_.push_back(welcome);
  out_.append(secret_proof(*setup_.secret, LinkSide::acceptor, setup_.nonce, theirs_));
  expect(Step::hello_size, greeting_magic.size() + 2);
}

void Greeting::received_verdict(std::string_view bytes) {
  if (bytes[0] != welcome) return fail({ErrorCode::unauthenticated, "the peer refused: it does not know this secret"});
  if (!is_same_proof(bytes.substr(1), secret_proof(*setup_.secret, LinkSide::acceptor, theirs_, setup_.nonce))) {
    return fail({ErrorCode::unauthenticated, "the peer does not know the secret"});
  }
  start_hello();
}

void Greeting::start_hello() {
  ByteWriter(out_).raw(greeting_magic).text(encode(setup_.own));
  expect(Step::answer_size, 3);
}

void Greeting::received_hello(std::string_view bytes) {
  const auto theirs = decode_hello(bytes);
  if (!theirs) return refuse_peer(theirs.error());
  auto own = setup_.own;
  own.session = theirs->session;
  own.to = theirs->who.node;
  auto agreement = agree(own, *theirs, LinkSide::acceptor, setup_.heartbeat);
  if (!agreement) return refuse_peer(std::move(agreement).error());
  if (setup_.admit) {
    if (auto admitted = setup_.admit(*agreement); !admitted) return refuse_peer(std::move(admitted).error());
  }
  out_.push_back(welcome);
  ByteWriter(out_).text(encode(own));
  outcome_ = std::move(agreement);
}

void Greeting::received_answer(std::string_view bytes) {
  const auto theirs = decode_hello(bytes);
  if (!theirs) return fail(theirs.error());
  outcome_ = agree(setup_.own, *theirs, LinkSide::dialler, setup_.heartbeat);
}

void Greeting::refuse_peer(Error why) {
  why.what.resize(std::min(why.what.size(), text_bytes_max));
  out_.push_back(refused);
  ByteWriter(out_).text(codec::encode(why));
  fail(std::move(why));
}

void Greeting::fail(Error why) {
  wants_ = 0;
  outcome_ = refuse(std::move(why));
}

}  // namespace evershard::cluster
