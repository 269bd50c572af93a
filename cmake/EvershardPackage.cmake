# What an application links, and how it is installed: evershard::evershard, the store and its aggregates; evershard::command_line,
# the program `evershard` as a library.
#
# Everything a module with a folder `public` depends on belongs to it, so a new module needs no word here.
#
#   include/evershard/local.hpp, ...      the public folders
#   include/evershard/<folder>/*.hpp      each module's HEADERS, read as in the tree; not of the command line
#   lib/libevershard_*.a                  a library a module
#   lib/cmake/evershard/                  find_package(evershard [COMPONENTS command_line])
#   lib/pkgconfig/evershard*.pc           pkg-config evershard, evershard-command-line

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Dependencies first, each once, and none that another package has.
function(evershard_add_part package target)
  get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS)
  if(target IN_LIST parts)
    return()
  endif()
  get_target_property(own ${target} EVERSHARD_OWN)
  if(own)
    foreach(dependency IN LISTS own)
      evershard_add_part(${package} ${dependency})
    endforeach()
  endif()
  set_property(GLOBAL APPEND PROPERTY EVERSHARD_PARTS ${target})
  set_property(GLOBAL APPEND PROPERTY EVERSHARD_PARTS_OF_${package} ${target})
endfunction()

# The target that stands for a package's parts, as evershard::NAME; `component`: of the installation.
function(evershard_package_target target name component)
  add_library(${target} INTERFACE)
  add_library(evershard::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} INTERFACE cxx_std_20)
  if(EVERSHARD_INSTALL)
    get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS_OF_${component})
    install(TARGETS ${parts} ${target} EXPORT ${component} COMPONENT ${component} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    foreach(part IN LISTS parts)
      evershard_install_public(${part} ${component})
    endforeach()
  endif()
endfunction()

function(evershard_install_public part component)
  get_target_property(public ${part} EVERSHARD_PUBLIC)
  if(public)
    get_target_property(folder ${part} EVERSHARD_FOLDER)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/public/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component})
  endif()
endfunction()

function(evershard_install_headers part component)
  get_target_property(folder ${part} EVERSHARD_FOLDER)
  get_target_property(headers ${part} EVERSHARD_HEADERS)
  if(NOT folder OR NOT headers)
    return()
  endif()
  list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH place ${PROJECT_SOURCE_DIR} ${header})
    get_filename_component(place ${place} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evershard/${place} COMPONENT ${component})
  endforeach()
endfunction()

# " -lB -lA" of a package's parts: who uses comes before what it uses.
function(evershard_archives component out)
  get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS_OF_${component})
  set(archives "")
  foreach(part IN LISTS parts)
    get_target_property(kind ${part} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      string(PREPEND archives " -l${part}")
    endif()
  endforeach()
  set(${out} "${archives}" PARENT_SCOPE)
endfunction()

# After the last module an application may want.
function(evershard_package)
  get_property(modules GLOBAL PROPERTY EVERSHARD_MODULES)
  set(roots "")
  foreach(module IN LISTS modules)
    get_target_property(public ${module} EVERSHARD_PUBLIC)
    if(public)
      list(APPEND roots ${module})
      evershard_add_part(embedding ${module})
    endif()
  endforeach()
  evershard_package_target(evershard_embedding evershard embedding)
  target_link_libraries(evershard_embedding INTERFACE ${roots})
  if(EVERSHARD_INSTALL)
    get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS_OF_embedding)
    foreach(part IN LISTS parts)
      evershard_install_headers(${part} embedding)
    endforeach()
  endif()
endfunction()

# After the module `cli`: what is public of it needs no header of its own.
function(evershard_command_line_package)
  evershard_add_part(command_line evershard_cli)
  evershard_package_target(evershard_command_line command_line command_line)
  target_link_libraries(evershard_command_line INTERFACE evershard_cli evershard_embedding)
endfunction()

# After both.
function(evershard_package_files)
  if(NOT EVERSHARD_INSTALL)
    return()
  endif()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/evershard)
  install(EXPORT embedding NAMESPACE evershard:: FILE evershard-targets.cmake DESTINATION ${package} COMPONENT embedding)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/evershard-config.cmake.in ${PROJECT_BINARY_DIR}/package/evershard-config.cmake
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/evershard-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/package/evershard-config.cmake ${PROJECT_BINARY_DIR}/package/evershard-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake ${PROJECT_SOURCE_DIR}/cmake/EvershardProtos.cmake
    DESTINATION ${package} COMPONENT embedding)

  # Relative to the .pc file itself, so that the whole can be moved.
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(prefix "\${pcfiledir}/${up}")
  endif()
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  evershard_archives(embedding archives)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/evershard.pc.in ${PROJECT_BINARY_DIR}/package/evershard.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/evershard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT embedding)

  if(EVERSHARD_COMMAND_LINE)
    install(EXPORT command_line NAMESPACE evershard:: FILE evershard-command-line-targets.cmake DESTINATION ${package} COMPONENT command_line)
    evershard_archives(command_line archives)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/evershard-command-line.pc.in ${PROJECT_BINARY_DIR}/package/evershard-command-line.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/evershard-command-line.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT command_line)
  endif()
endfunction()
