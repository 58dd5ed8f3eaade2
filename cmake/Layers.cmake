# infino_layer(name SOURCES … DEPS … LIBS … [PRECOMPILED header]): one folder under src/infino, a static
# library that links to just the layers it may use; the precompiled header is that of common, unless it
# has one of its own. infino_test(name SOURCES … LINK …): one test executable.

set(INFINO_SANITIZE_FLAGS "")
if(INFINO_SANITIZE)
  set(INFINO_SANITIZE_FLAGS -fsanitize=${INFINO_SANITIZE} -fno-omit-frame-pointer
                            -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INFINO_SANITIZE})
endif()

function(infino_settings target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE infino_warnings)
  target_compile_options(${target} PRIVATE ${INFINO_SANITIZE_FLAGS})
  if(INFINO_FAILPOINTS)
    target_compile_definitions(${target} PRIVATE INFINO_FAILPOINTS)
  endif()
endfunction()

# An executable with our precompiled header. That one is position independent code of a library, so the
# executable's objects are compiled like it, and not as for an executable.
function(infino_executable name)
  add_executable(${name} ${ARGN})
  infino_settings(${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM infino_common)
  if(INFINO_ARROW_LIBDIR)
    set_property(TARGET ${name} APPEND PROPERTY BUILD_RPATH ${INFINO_ARROW_LIBDIR})
  endif()
endfunction()

function(infino_layer name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;DEPS;LIBS" ${ARGN})
  set(target infino_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  infino_settings(${target})
  target_link_libraries(${target} PUBLIC infino_arrow ${ARG_LIBS})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${target} PUBLIC infino_${dep})
  endforeach()
  if(ARG_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${ARG_PRECOMPILED})
  else()
    target_precompile_headers(${target} REUSE_FROM infino_common)
  endif()
  set_property(GLOBAL APPEND PROPERTY INFINO_LAYERS ${target})
endfunction()

add_custom_target(byte_tests)

function(infino_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  infino_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} infino_common GTest::gmock GTest::gtest
                                        GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  if(name MATCHES "^(common|codec|index|superfile|manifest|supertable)_test$")
    # The layers that handle stored bytes: what every run of tools/test.sh puts under a sanitizer.
    set_tests_properties(${name} PROPERTIES LABELS bytes)
    add_dependencies(byte_tests ${name})
  endif()
endfunction()
