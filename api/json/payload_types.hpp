// PayloadTypes: Protobuf payloads as JSON, by reflection: the registered types, checked and ready to use.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/api/json/message_text.hpp"
#include "evershard/api/json/registered_types.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// A payload, read.
struct ShownMessage {
  std::string message;  ///< full name
  std::string json;     ///< one line of UTF-8; fields as they are named in the .proto, those of scalar types always
  bool unknown_fields = false;  ///< the payload holds more than the registered message knows of
};

/// A registered message, for lists.
struct MessageInfo {
  std::string name;
  std::string file;
  std::vector<std::pair<std::string, std::string>> fields;  ///< name, type
};

/// Owner: one thread.
class PayloadTypes {
 public:
  /// Knows nothing.
  PayloadTypes();
  PayloadTypes(PayloadTypes&&) noexcept;
  PayloadTypes& operator=(PayloadTypes&&) noexcept;
  ~PayloadTypes();

  /// Errors: invalid_argument (a missing import, types that contradict each other), not_found (a name stands for a
  ///         message that no file has)
  [[nodiscard]] static Result<PayloadTypes> of(const RegisteredTypes& types);

  /// What the payloads of one aggregate type are, by who writes them: it goes before what is registered.
  void put_own(std::string aggregate_type, PayloadTypes own);
  /// The types that say what this event, this state is: the aggregate's own where they name it, else these.
  [[nodiscard]] const PayloadTypes& of_event(std::string_view aggregate_type, std::string_view event_type) const;
  [[nodiscard]] const PayloadTypes& of_state(std::string_view aggregate_type) const;

  [[nodiscard]] bool empty() const { return impl_ == nullptr && own_.empty(); }
  /// By alias, else by its own name; whether there is such a message is another question.
  [[nodiscard]] std::string message_of_event(std::string_view event_type) const;
  [[nodiscard]] std::optional<std::string> message_of_state(std::string_view aggregate_type) const;

  /// Errors: not_found (no such message is registered), invalid_argument (the bytes are not of it)
  [[nodiscard]] Result<ShownMessage> read(const std::string& message, std::string_view payload,
                                          LongNumbers longs = LongNumbers::strings) const;

  /// In order of name, without Protobuf's own.
  [[nodiscard]] std::vector<MessageInfo> messages() const;

 private:
  struct Impl;
  explicit PayloadTypes(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::map<std::string, PayloadTypes, std::less<>> own_;  ///< of aggregate types
};

}  // namespace evershard
