# Compiles a snippet that must not compile, and compares what the compiler says first with what the snippet expects.
#
#   // expects: <regex>   of the first line that says error:; without it the snippet must compile
#   // names:   <regex>   somewhere in what is printed: the types it speaks of
#
# cmake -D COMPILER=... -D INCLUDES=a;b -D SNIPPET=... -P expect_error.cmake

file(STRINGS ${SNIPPET} expects REGEX "^// expects: ")
file(STRINGS ${SNIPPET} names REGEX "^// names: ")
string(REPLACE "// expects: " "" expects "${expects}")
string(REGEX REPLACE "// names: +" "" names "${names}")
list(TRANSFORM INCLUDES PREPEND -I)
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -std=c++20 -fsyntax-only ${INCLUDES} ${SNIPPET}
                RESULT_VARIABLE failed ERROR_VARIABLE printed OUTPUT_QUIET)

if(NOT expects)
  if(failed)
    message(FATAL_ERROR "must compile, but:\n${printed}")
  endif()
  return()
endif()
if(NOT failed)
  message(FATAL_ERROR "compiles, but must not: ${expects}")
endif()
string(REGEX MATCH "[^\n]*error: [^\n]*" first "${printed}")
if(NOT first MATCHES "error: static assertion failed: ${expects}")
  message(FATAL_ERROR "the first error is\n  ${first}\nbut must be\n  ${expects}\nof\n${printed}")
endif()
if(names AND NOT printed MATCHES "${names}")
  message(FATAL_ERROR "the types are not named: ${names}\n${printed}")
endif()
