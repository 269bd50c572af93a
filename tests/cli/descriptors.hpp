// The descriptor set that protoc made of bank.proto and odd.proto, and changed ones.

#pragma once

#include <google/protobuf/descriptor.pb.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>

namespace evershard::testing {

inline constexpr const char* bank_file = "tests/cli/bank.proto";

inline std::string descriptor_bytes() {
  std::ifstream in(EVERSHARD_DESCRIPTORS, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The same, changed.
inline std::string descriptors_with(const std::function<void(google::protobuf::FileDescriptorSet&)>& change) {
  google::protobuf::FileDescriptorSet set;
  if (!set.ParseFromString(descriptor_bytes())) return {};
  change(set);
  return set.SerializeAsString();
}

inline google::protobuf::FileDescriptorProto& file_in(google::protobuf::FileDescriptorSet& set,
                                                      const std::string& name) {
  for (auto& file : *set.mutable_file()) {
    if (file.name() == name) return file;
  }
  return *set.add_file();
}

/// bank.proto of a later day: Deposited has a field more.
inline std::string later_descriptors() {
  return descriptors_with([](auto& set) {
    auto& field = *file_in(set, bank_file).mutable_message_type(1)->add_field();
    field.set_name("by");
    field.set_number(2);
    field.set_type(google::protobuf::FieldDescriptorProto::TYPE_STRING);
    field.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
  });
}

}  // namespace evershard::testing
