# Generated code of .proto files, as a target of its own: for tests and examples, and for those who use the library.
#
#   evershard_protos(bank_proto PREFIX examples/bank_account NAMES bank)
#
# With DESCRIPTORS also the set of their descriptors, as a person makes it for `evershard types add`, with everything they
# import; its file is the target's property EVERSHARD_DESCRIPTORS.
#
# Files are bank.proto in the current folder, included as "examples/bank_account/bank.pb.h": Protobuf keeps one registry of file
# names a process, so names without a prefix collide with those of whoever embeds us.

function(evershard_protos target)
  cmake_parse_arguments(arg "DESCRIPTORS" "PREFIX" "NAMES" ${ARGN})
  if(NOT TARGET protobuf::protoc)
    find_package(Protobuf REQUIRED)
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${out})
  set(sources "")
  foreach(name IN LISTS arg_NAMES)
    set(generated ${out}/${arg_PREFIX}/${name}.pb)
    add_custom_command(
      OUTPUT ${generated}.cc ${generated}.h
      COMMAND protobuf::protoc -I${arg_PREFIX}=${CMAKE_CURRENT_SOURCE_DIR} --cpp_out=${out} ${arg_PREFIX}/${name}.proto
      DEPENDS ${name}.proto
      VERBATIM)
    list(APPEND sources ${generated}.cc ${generated}.h)
  endforeach()
  add_library(${target} STATIC ${sources})
  if(PROJECT_NAME STREQUAL "evershard")
    evershard_generated(${target})
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # generated files have names in common
  endif()
  target_include_directories(${target} SYSTEM PUBLIC ${out} ${Protobuf_INCLUDE_DIRS})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  if(arg_DESCRIPTORS)
    set(set ${out}/${target}.pb)
    set(protos ${arg_NAMES})
    list(TRANSFORM protos APPEND .proto)
    set(files ${protos})
    list(TRANSFORM files PREPEND ${arg_PREFIX}/)
    add_custom_command(
      OUTPUT ${set}
      COMMAND protobuf::protoc -I${arg_PREFIX}=${CMAKE_CURRENT_SOURCE_DIR} --include_imports --descriptor_set_out=${set} ${files}
      DEPENDS ${protos}
      VERBATIM)
    add_custom_target(${target}_descriptors DEPENDS ${set})
    add_dependencies(${target} ${target}_descriptors)
    set_target_properties(${target} PROPERTIES EVERSHARD_DESCRIPTORS ${set})
  endif()
endfunction()
