# One target per folder, each with an include root of its own, so that an include against the layers does not compile.
#
#   evershard_module(storage
#     FOLDER storage                 # relative to the source root; default: the name
#     DEPENDS protocol sharding      # modules of ours whose headers this one may include
#     USES RocksDB::rocksdb          # foreign targets, private: they stay out of our public headers
#     USES_HEADERS nlohmann_json::nlohmann_json  # the same, headers only: who links us need not have them
#     USES_PUBLIC tl::expected       # foreign targets that public headers need
#     HEADERS store.hpp ...          # public
#     PCH <caf/all.hpp>              # precompiled headers of its own, or a target to share those of; default: the common ones
#     PACKAGE remote                 # of a module with a folder `public`: what it is installed with; default: embedding
#     SOURCES store.cpp ...)         # none: headers only
#
# The folder is linked to <build>/include/<name>/evershard/<folder>; a target sees its own root and those of its DEPENDS, nothing else.
# A folder `public` beside it holds what a user includes, as public/evershard/local.hpp; such a module, with all it DEPENDS on, is
# installed and is in evershard::evershard, or in what PACKAGE says (EvershardPackage.cmake).

# Generated messages: a build for tests compiles them in half the time, and with address they are not looked at, as the
# library below them is not. A release has less time for `calls`: stubs, and messages that are small. In large pieces, what
# every generated file names alike has a name of its own in each.
#
#   evershard_generated(evershard_proto)
#   evershard_generated(evershard_etcd_proto CALLS)
function(evershard_generated target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD_UNIQUE_ID EVERSHARD_GENERATED
    UNITY_BUILD_CODE_BEFORE_INCLUDE [[
#include <google/protobuf/generated_message_reflection.h>
#define EVERSHARD_JOINED(a, b) a##b
#define EVERSHARD_OWN(name, file) EVERSHARD_JOINED(name, file)
#define file_default_instances EVERSHARD_OWN(file_default_instances_, EVERSHARD_GENERATED)
#define schemas EVERSHARD_OWN(schemas_, EVERSHARD_GENERATED)]]
    UNITY_BUILD_CODE_AFTER_INCLUDE [[
#undef file_default_instances
#undef schemas]])
  target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O0>)
  if(EVERSHARD_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
  endif()
  if("CALLS" IN_LIST ARGN)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

function(evershard_module name)
  cmake_parse_arguments(arg "" "FOLDER;PCH;PACKAGE" "DEPENDS;USES;USES_HEADERS;USES_PUBLIC;HEADERS;SOURCES" ${ARGN})
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  string(REPLACE "/" "_" target "evershard_${name}")
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  get_filename_component(parent ${root}/evershard/${arg_FOLDER} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  if(NOT EXISTS ${root}/evershard/${arg_FOLDER})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${arg_FOLDER} ${root}/evershard/${arg_FOLDER} SYMBOLIC)
  endif()

  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES} ${arg_HEADERS})
    set(reach PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(reach INTERFACE)
  endif()
  string(REPLACE "/" "_" alias "${name}")
  add_library(evershard::${alias} ALIAS ${target})
  target_include_directories(${target} ${reach} $<BUILD_INTERFACE:${root}>)
  foreach(dependency IN LISTS arg_DEPENDS)
    string(REPLACE "/" "_" dependency "evershard_${dependency}")
    target_link_libraries(${target} ${reach} ${dependency})
  endforeach()
  target_link_libraries(${target} ${reach} ${arg_USES_PUBLIC})

  # What EvershardPackage.cmake asks.
  set(own ${arg_DEPENDS} ${arg_USES} ${arg_USES_PUBLIC})
  list(FILTER own EXCLUDE REGEX "::")
  list(TRANSFORM own REPLACE "^evershard_" "")
  list(TRANSFORM own REPLACE "/" "_")
  list(TRANSFORM own PREPEND "evershard_")
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${alias} EVERSHARD_OWN "${own}" EVERSHARD_FOLDER "${arg_FOLDER}" EVERSHARD_HEADERS "${arg_HEADERS}")
  set_property(GLOBAL APPEND PROPERTY EVERSHARD_MODULES ${target})
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${arg_FOLDER}/public)
    target_include_directories(${target} ${reach} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${arg_FOLDER}/public>)
    if(NOT arg_PACKAGE)
      set(arg_PACKAGE embedding)
    endif()
    set_target_properties(${target} PROPERTIES EVERSHARD_PUBLIC ON EVERSHARD_PACKAGE ${arg_PACKAGE})
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  target_link_libraries(${target} PRIVATE ${arg_USES} $<BUILD_INTERFACE:evershard_warnings>)
  foreach(uses IN LISTS arg_USES_HEADERS)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${uses}>)
  endforeach()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # A release is compiled in less time where nothing loops over events. With -O2 doors would gain as much again, and a
  # read of everything over the wire was a quarter slower.
  if(name MATCHES "^cli")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT arg_PCH)
    target_precompile_headers(${target} REUSE_FROM evershard_precompiled)
  elseif(TARGET ${arg_PCH})
    target_precompile_headers(${target} REUSE_FROM ${arg_PCH})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_PCH})
  endif()
endfunction()
