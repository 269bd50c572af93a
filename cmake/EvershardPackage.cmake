# What an application links, and how it is installed:
#
#   evershard::evershard      the store in one process, and its aggregates      component embedding
#   evershard::remote         the client of a server                            component remote
#   evershard::cluster        a node of a cluster, and its aggregates           component cluster, on embedding
#   evershard::doors          the doors of either: gRPC, HTTP, the page         component doors, on all of these
#   evershard::command_line   the program `evershard` as a library              component command_line, on all of them
#
# What the first two have in common is the component base: a client alone needs neither RocksDB nor CAF.
# Everything a module with a folder `public` depends on belongs to it, so a new module needs no word here.
#
#   include/evershard/local.hpp, ...      the public folders
#   include/evershard/<folder>/*.hpp      each module's HEADERS, read as in the tree; of remote and cluster what is public, of the command line none
#   lib/libevershard_*.a                  a library a module
#   lib/cmake/evershard/                  find_package(evershard [COMPONENTS ...]): evershard-config.cmake.in says what they give
#   lib/pkgconfig/evershard*.pc           pkg-config evershard, evershard-remote, evershard-cluster, evershard-doors, evershard-command-line

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

# The target that stands for a package's parts, as evershard::NAME, of its component.
function(evershard_package_target target name component)
  add_library(${target} INTERFACE)
  add_library(evershard::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} INTERFACE cxx_std_20)
  evershard_install_parts(${component} ${target})
endfunction()

# The libraries of a package, what is public of them, and further targets.
function(evershard_install_parts component)
  if(EVERSHARD_INSTALL)
    get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS_OF_${component})
    install(TARGETS ${parts} ${ARGN} EXPORT ${component} COMPONENT ${component} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
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

# The modules whose folder `public` is of this package.
function(evershard_roots package out)
  get_property(modules GLOBAL PROPERTY EVERSHARD_MODULES)
  set(roots "")
  foreach(module IN LISTS modules)
    get_target_property(of ${module} EVERSHARD_PACKAGE)
    if(of STREQUAL package)
      list(APPEND roots ${module})
    endif()
  endforeach()
  set(${out} "${roots}" PARENT_SCOPE)
endfunction()

# After the last module an application may want.
function(evershard_package)
  evershard_add_part(base evershard_api)
  evershard_add_part(base evershard_sharding)
  evershard_add_part(base evershard_actors_model)  # what a command and its answer are
  foreach(messages evershard_api_calls evershard_api_cluster_messages evershard_api_messages)  # of remote and of cluster
    if(TARGET ${messages})
      evershard_add_part(base ${messages})
    endif()
  endforeach()
  evershard_install_parts(base)
  evershard_roots(embedding roots)
  foreach(root IN LISTS roots)
    evershard_add_part(embedding ${root})
  endforeach()
  evershard_package_target(evershard_embedding evershard embedding)
  target_link_libraries(evershard_embedding INTERFACE ${roots})
  if(EVERSHARD_REMOTE)
    evershard_add_part(remote evershard_doors_remote)
    evershard_package_target(evershard_remote remote remote)
    target_link_libraries(evershard_remote INTERFACE evershard_doors_remote)
  endif()
  if(EVERSHARD_COMMAND_LINE)
    evershard_add_part(cluster evershard_cluster_embedded)
    evershard_package_target(evershard_cluster cluster cluster)
    target_link_libraries(evershard_cluster INTERFACE evershard_cluster_embedded evershard_embedding)
    evershard_add_part(doors evershard_doors_embedded)
    evershard_package_target(evershard_doors doors doors)
    target_link_libraries(evershard_doors INTERFACE evershard_doors_embedded evershard_cluster evershard_embedding)
  endif()
  if(EVERSHARD_INSTALL)
    foreach(component base embedding remote cluster doors)
      get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS_OF_${component})
      foreach(part IN LISTS parts)
        get_target_property(public ${part} EVERSHARD_PUBLIC)
        # What speaks in generated messages is nobody's outside.
        if(public OR (component MATCHES "^(base|embedding)$" AND NOT part MATCHES "^evershard_api_(calls|(cluster_)?messages)$"))
          evershard_install_headers(${part} ${component})
        endif()
      endforeach()
    endforeach()
  endif()
endfunction()

# After the module `cli`: what is public of it needs no header of its own.
function(evershard_command_line_package)
  evershard_add_part(command_line evershard_cli)
  evershard_package_target(evershard_command_line command_line command_line)
  target_link_libraries(evershard_command_line INTERFACE evershard_cli evershard_doors evershard_cluster evershard_embedding)
endfunction()

# After all of them.
function(evershard_package_files)
  if(NOT EVERSHARD_INSTALL)
    return()
  endif()
  # All libraries that are installed, and nothing else: what scripts/install builds.
  get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS)
  add_custom_target(evershard_parts)
  add_dependencies(evershard_parts ${parts})
  # Whoever built the program can install all: it does not link every library that an application may.
  if(TARGET evershard)
    add_dependencies(evershard ${parts})
  endif()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/evershard)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/evershard-config.cmake.in ${PROJECT_BINARY_DIR}/package/evershard-config.cmake
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/evershard-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/package/evershard-config.cmake ${PROJECT_BINARY_DIR}/package/evershard-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake ${PROJECT_SOURCE_DIR}/cmake/FindRE2.cmake ${PROJECT_SOURCE_DIR}/cmake/EvershardProtos.cmake
    DESTINATION ${package} COMPONENT base)

  # Relative to the .pc file itself, so that the whole can be moved.
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(prefix "\${pcfiledir}/${up}")
  endif()
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  evershard_component_files(base evershard-base)
  evershard_component_files(embedding evershard)
  if(EVERSHARD_REMOTE)
    evershard_component_files(remote evershard-remote)
  endif()
  if(EVERSHARD_COMMAND_LINE)
    evershard_component_files(cluster evershard-cluster)
    evershard_component_files(doors evershard-doors)
    evershard_component_files(command_line evershard-command-line)
  endif()
endfunction()

# A component's targets for find_package, and its FILE.pc; `package` and `prefix` are the caller's.
function(evershard_component_files component file)
  install(EXPORT ${component} NAMESPACE evershard:: FILE ${file}-targets.cmake DESTINATION ${package} COMPONENT ${component})
  evershard_archives(${component} archives)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file}.pc.in ${PROJECT_BINARY_DIR}/package/${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()
