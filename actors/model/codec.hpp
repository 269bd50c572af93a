// Codec: how a user's type becomes bytes, and what it is called there. Protobuf messages need nothing.

#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/actors/model/protobuf.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Specialise it for a type of your own, or for a family of them:
///
///     template <> struct evershard::Codec<Placed> {
///       static constexpr std::string_view name = "placed";  // of commands and events: stable, never renamed
///       static constexpr auto format = evershard::PayloadFormat::json;
///       static std::string encode(const Placed& placed);    // or Result<std::string>; may throw
///       static Placed decode(std::string_view bytes);       // or Result<Placed>; may throw
///     };
///
/// Shape: T is default-constructible; equal values are equal bytes, whichever process encodes them.
template <class T>
struct Codec;

template <ProtobufMessage T>
struct Codec<T> {
  static constexpr PayloadFormat format = PayloadFormat::protobuf;
  static Result<std::string> encode(const T& message) { return protobuf_bytes(message); }
  static Result<T> decode(std::string_view bytes) {
    T message;
    EVERSHARD_TRY(parse(bytes, message));
    return message;
  }
  static Result<void> parse(std::string_view bytes, T& message) { return parse_protobuf(bytes, message); }
};

/// The logical name of a command's or event's type on disk and wire. By default a Protobuf message's full name, for
/// others `Codec<T>::name`. Another one, for example to rename a message and still read what is stored, beside the
/// type's own header, so that every source that knows the type knows the name:
///
///     template <> inline constexpr std::string_view evershard::logical_name<bank::Deposited> = "bank.MoneyDeposited";
template <class T>
inline constexpr std::string_view logical_name{};

template <class T>
concept Encodable = std::default_initializable<T> && requires(const T& value, std::string_view bytes) {
  { Codec<T>::encode(value) } -> std::convertible_to<Result<std::string>>;
  { Codec<T>::decode(bytes) } -> std::convertible_to<Result<T>>;
  { Codec<T>::format } -> std::convertible_to<PayloadFormat>;
};

template <class T>
concept Named = logical_name<T>
.data() != nullptr || ProtobufMessage<T> || requires {
  { Codec<T>::name } -> std::convertible_to<std::string_view>;
};

template <Named T>
[[nodiscard]] std::string name_of_type() {
  // An empty name that somebody gave is not "none given": it is refused at start.
  if constexpr (logical_name<T>.data() != nullptr) {
    return std::string(logical_name<T>);
  } else if constexpr (ProtobufMessage<T>) {
    return protobuf_name(T::default_instance());
  } else {
    return std::string(std::string_view(Codec<T>::name));
  }
}

/// `Query{}.types(names_of<Enrolled, Left>())`. With those of before: names_read_by
template <Named... Ts>
[[nodiscard]] std::vector<std::string> names_of() {
  return {name_of_type<Ts>()...};
}

/// Errors: what the codec says; invalid_argument  it threw
template <Encodable T>
[[nodiscard]] Result<std::string> to_bytes(const T& value) try {
  return Codec<T>::encode(value);
} catch (...) {
  return refuse(thrown(ErrorCode::invalid_argument, "encoding a " + cpp_name(typeid(T))));
}

/// Decodes in place. Errors: corruption, whatever the codec says and also where it threw
template <Encodable T>
[[nodiscard]] Result<void> parse_bytes(std::string_view bytes, T& value) {
  if constexpr (requires { Codec<T>::parse(bytes, value); }) {
    return Codec<T>::parse(bytes, value);
  } else {
    try {
      if constexpr (std::convertible_to<decltype(Codec<T>::decode(bytes)), T>) {
        value = Codec<T>::decode(bytes);
      } else {
        auto read = Codec<T>::decode(bytes);
        if (!read) return refuse(ErrorCode::corruption, std::move(read.error().what));
        value = std::move(*read);
      }
    } catch (...) {
      return refuse(thrown(ErrorCode::corruption, "decoding a " + cpp_name(typeid(T))));
    }
    return {};
  }
}

/// Errors: as parse_bytes
template <Encodable T>
[[nodiscard]] Result<T> from_bytes(std::string_view bytes) {
  T value{};
  EVERSHARD_TRY(parse_bytes(bytes, value));
  return value;
}

}  // namespace evershard
