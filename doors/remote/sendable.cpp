#include "evershard/doors/remote/sendable.hpp"

#include <string>
#include <vector>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::remote {
namespace {

constexpr std::size_t shown_bytes_max = 100;

using Field = google::protobuf::FieldDescriptor;

}  // namespace

Result<void> sendable(const google::protobuf::Message& request) {
  const auto& reflection = *request.GetReflection();
  std::vector<const Field*> fields;  // those that are there
  reflection.ListFields(request, &fields);
  for (const auto* field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(request, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
        EVERSHARD_TRY(sendable(field->is_repeated() ? reflection.GetRepeatedMessage(request, field, i)
                                                    : reflection.GetMessage(request, field)));
      } else if (field->type() == Field::TYPE_STRING) {
        std::string kept;
        const auto& text = field->is_repeated() ? reflection.GetRepeatedStringReference(request, field, i, &kept)
                                                : reflection.GetStringReference(request, field, &kept);
        if (!is_utf8(text))
          return refuse(ErrorCode::invalid_argument, std::string(field->name()) + " " +
                                                         in_quotes(text.substr(0, shown_bytes_max)) + " is not UTF-8");
      }
    }
  }
  return {};
}

}  // namespace evershard::remote
