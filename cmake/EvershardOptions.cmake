# What every target of ours is compiled with. Foreign headers are SYSTEM and stay out of it.

option(EVERSHARD_WERROR "Warnings are errors (CI)" OFF)
set(EVERSHARD_SANITIZE "" CACHE STRING "address (with undefined) or thread")

add_library(evershard_warnings INTERFACE)
target_compile_options(evershard_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_UNITY_BUILD)
  # By names of another file, and by unnamed namespaces of what is taken for a header: the preset dev looks at each alone.
  target_compile_options(evershard_warnings INTERFACE -Wno-shadow -Wno-subobject-linkage)
endif()
if(EVERSHARD_WERROR)
  target_compile_options(evershard_warnings INTERFACE -Werror)
endif()

if(EVERSHARD_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(EVERSHARD_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(EVERSHARD_SANITIZE)
  message(FATAL_ERROR "EVERSHARD_SANITIZE is '${EVERSHARD_SANITIZE}': address or thread")
endif()

find_program(EVERSHARD_CCACHE ccache)
if(EVERSHARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${EVERSHARD_CCACHE})
  add_compile_options(-fpch-preprocess)
endif()
find_program(EVERSHARD_LLD ld.lld)
if(EVERSHARD_LLD AND NOT EVERSHARD_SANITIZE)
  add_link_options(-fuse-ld=lld)
endif()
