# What every target of ours is compiled with. Foreign headers are SYSTEM and stay out of it.

option(EVERSHARD_WERROR "Warnings are errors (CI)" OFF)
set(EVERSHARD_SANITIZE "" CACHE STRING "address (with undefined) or thread")
option(EVERSHARD_SANITIZE_ACCESSES "With address: undefined looks at every single access, too (scripts/soak accesses)" OFF)

add_library(evershard_warnings INTERFACE)
target_compile_options(evershard_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_UNITY_BUILD)
  # By names of another file, and by unnamed namespaces of what is taken for a header: a build in single pieces looks at each alone.
  target_compile_options(evershard_warnings INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What GCC 12 guesses from inlining at -O3, in the standard library's own headers mostly. Every other build has them on.
  target_compile_options(evershard_warnings INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(EVERSHARD_WERROR)
  target_compile_options(evershard_warnings INTERFACE -Werror)
endif()

if(EVERSHARD_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  if(NOT EVERSHARD_SANITIZE_ACCESSES)
    # They cost a third of the compile time, and address finds most of what they would.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  add_link_options(-fsanitize=address,undefined)
elseif(EVERSHARD_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(EVERSHARD_SANITIZE)
  message(FATAL_ERROR "EVERSHARD_SANITIZE is '${EVERSHARD_SANITIZE}': address or thread")
endif()

option(EVERSHARD_FUZZ "Build for libFuzzer, with clang: the target fuzz and what it links, nothing else" OFF)
if(EVERSHARD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "EVERSHARD_FUZZ needs clang, not ${CMAKE_CXX_COMPILER_ID}: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
  # Pieces that are this large need a gigabyte anyway: before, GCC looks for garbage for a twelfth of its time.
  add_compile_options(--param=ggc-min-heapsize=1048576)
endif()

find_program(EVERSHARD_CCACHE ccache)
if(EVERSHARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths count from the source tree, so that another clone on the same machine finds what this one has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${EVERSHARD_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()
find_program(EVERSHARD_LLD ld.lld)
if(EVERSHARD_LLD)
  add_link_options(-fuse-ld=lld)
endif()
