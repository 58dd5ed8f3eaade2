# Copies the shared libraries that the module needs into the package, all but those that every Linux
# has, under names of their own, and makes the module find them beside itself.

set(folder ${CMAKE_INSTALL_PREFIX}/infino)
if(DEFINED ENV{DESTDIR})
  set(folder $ENV{DESTDIR}${folder})
endif()
set(module ${folder}/${MODULE_NAME})

file(
  GET_RUNTIME_DEPENDENCIES
  MODULES ${module}
  RESOLVED_DEPENDENCIES_VAR libraries
  UNRESOLVED_DEPENDENCIES_VAR unresolved
  DIRECTORIES ${LIBRARY_DIRS}
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so" "^ld-linux" "^linux-vdso"
                      "^libpython"
  POST_EXCLUDE_REGEXES "/lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so")
if(unresolved)
  message(FATAL_ERROR "no such libraries: ${unresolved}")
endif()

function(patch)
  execute_process(COMMAND ${PATCHELF} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(renames "")
foreach(library IN LISTS libraries)
  file(REAL_PATH ${library} real)
  get_filename_component(name ${library} NAME)
  string(REGEX REPLACE "^lib" "libinfino-" new ${name})
  file(COPY_FILE ${real} ${folder}/${new})
  patch(--set-soname ${new} --set-rpath "$ORIGIN" ${folder}/${new})
  list(APPEND renames --replace-needed ${name} ${new})
  list(APPEND copies ${folder}/${new})
endforeach()
foreach(file IN LISTS copies)
  patch(${renames} ${file})
endforeach()
patch(${renames} --set-rpath "$ORIGIN" ${module})
