#include "evershard/cluster/peers/key_messages.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "evershard/protocol/messages.hpp"
#include "evershard/v1/keys.pb.h"

namespace evershard::cluster {
namespace {

using What = KeysAsked::What;

Refused no_keys_message(const char* what) {
  return refuse(ErrorCode::corruption, std::string("a peer's message of keys is malformed: ") + what);
}

template <class Message>
bool parse_keys(std::string_view bytes, Message& message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string key_id_bytes(const KeyId& id) { return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}; }

std::optional<KeyId> key_id_of(const std::string& bytes) {
  KeyId id;
  if (bytes.size() != id.bytes.size()) return std::nullopt;
  std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

template <class Ids>
bool get_ids(const Ids& from, std::vector<KeyId>& to) {
  if (static_cast<std::size_t>(from.size()) > KeysAsked::ids_max) return false;
  for (const auto& bytes : from) {
    const auto id = key_id_of(bytes);
    if (!id) return false;
    to.push_back(*id);
  }
  return true;
}

void put_destroyed(const KeysDestroyed& from, v1::KeysDestroyed& to) {
  to.set_keeper(from.keeper);
  to.set_count(from.count);
}

KeysDestroyed destroyed_of(const v1::KeysDestroyed& from) { return {from.keeper(), from.count()}; }

}  // namespace

std::string encode(const KeysAsked& asked) {
  v1::KeysAsked message;
  switch (asked.what) {
    case What::key_for:
      message.set_what(v1::KeysAsked::WHAT_KEY_FOR);
      break;
    case What::find:
      message.set_what(v1::KeysAsked::WHAT_FIND);
      break;
    case What::current:
      message.set_what(v1::KeysAsked::WHAT_CURRENT);
      break;
    case What::destroy:
      message.set_what(v1::KeysAsked::WHAT_DESTROY);
      break;
    case What::erasures:
      message.set_what(v1::KeysAsked::WHAT_ERASURES);
      break;
  }
  message.set_holder(asked.holder);
  for (std::size_t i = 0; i < asked.subjects.size(); ++i) {
    if (i == 0)
      message.set_subject(asked.subjects[i]);
    else
      message.add_further(asked.subjects[i]);
  }
  for (const auto& id : asked.ids) message.add_ids(key_id_bytes(id));
  return message.SerializeAsString();
}

Result<KeysAsked> decode_keys_asked(std::string_view bytes) {
  v1::KeysAsked message;
  KeysAsked asked;
  if (!parse_keys(bytes, message)) return no_keys_message("what is asked");
  switch (message.what()) {
    case v1::KeysAsked::WHAT_KEY_FOR:
      asked.what = What::key_for;
      break;
    case v1::KeysAsked::WHAT_FIND:
      asked.what = What::find;
      break;
    case v1::KeysAsked::WHAT_CURRENT:
      asked.what = What::current;
      break;
    case v1::KeysAsked::WHAT_DESTROY:
      asked.what = What::destroy;
      break;
    case v1::KeysAsked::WHAT_ERASURES:
      asked.what = What::erasures;
      break;
    default:
      return no_keys_message("it asks for what is not known");
  }
  asked.holder = message.holder();
  if (static_cast<std::size_t>(message.further_size()) >= KeysAsked::subjects_max)
    return no_keys_message("too many subjects");
  if (!message.subject().empty()) asked.subjects.push_back(std::move(*message.mutable_subject()));
  if (asked.subjects.empty() && message.further_size() != 0) return no_keys_message("subjects behind none");
  for (auto& subject : *message.mutable_further()) asked.subjects.push_back(std::move(subject));
  if (!get_ids(message.ids(), asked.ids)) return no_keys_message("the name of a key");
  return asked;
}

std::string encode(const KeysAnswered& answered) {
  v1::KeysAnswered message;
  message.set_no_keys(answered.no_keys);
  for (const auto& key : answered.keys) {
    auto& told = *message.add_keys();
    told.set_id(key_id_bytes(key.id));
    if (key.secret) told.set_secret(std::string(reinterpret_cast<const char*>(key.secret->data()), key.secret->size()));
    told.set_destroyed(key.destroyed);
    if (key.error) messages::put(*key.error, *told.mutable_error());
  }
  put_destroyed(answered.destroyed, *message.mutable_destroyed());
  message.set_lease_ms(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(answered.lease.count(), 0, std::numeric_limits<std::uint32_t>::max())));
  return message.SerializeAsString();
}

Result<KeysAnswered> decode_keys_answered(std::string_view bytes) {
  v1::KeysAnswered message;
  KeysAnswered answered;
  if (!parse_keys(bytes, message) || static_cast<std::size_t>(message.keys_size()) > KeysAsked::ids_max)
    return no_keys_message("the answer");
  answered.no_keys = message.no_keys();
  for (auto& told : *message.mutable_keys()) {
    KeyTold key;
    const auto id = key_id_of(told.id());
    if (!id) return no_keys_message("the name of a key");
    key.id = *id;
    if (!told.secret().empty()) {
      if (told.secret().size() != PayloadKey::secret_bytes) return no_keys_message("a key");
      key.secret.emplace();
      std::memcpy(key.secret->data(), told.secret().data(), PayloadKey::secret_bytes);
    }
    key.destroyed = told.destroyed();
    if (told.has_error()) {
      Error error(ErrorCode::unavailable, {});
      if (!messages::get(*told.mutable_error(), error)) return no_keys_message("an error");
      key.error = std::move(error);
    }
    answered.keys.push_back(std::move(key));
  }
  answered.destroyed = destroyed_of(message.destroyed());
  answered.lease = std::chrono::milliseconds(message.lease_ms());
  return answered;
}

std::string encode(const KeysForget& forget) {
  v1::KeysForget message;
  for (const auto& id : forget.ids) message.add_ids(key_id_bytes(id));
  put_destroyed(forget.destroyed, *message.mutable_destroyed());
  return message.SerializeAsString();
}

Result<KeysForget> decode_keys_forget(std::string_view bytes) {
  v1::KeysForget message;
  KeysForget forget;
  if (!parse_keys(bytes, message) || !get_ids(message.ids(), forget.ids))
    return no_keys_message("what is to be forgotten");
  forget.destroyed = destroyed_of(message.destroyed());
  return forget;
}

std::string encode(const KeysForgotten& forgotten) {
  v1::KeysForgotten message;
  message.set_holder(forgotten.holder);
  return message.SerializeAsString();
}

Result<KeysForgotten> decode_keys_forgotten(std::string_view bytes) {
  v1::KeysForgotten message;
  if (!parse_keys(bytes, message)) return no_keys_message("who has forgotten");
  return KeysForgotten{message.holder()};
}

}  // namespace evershard::cluster
