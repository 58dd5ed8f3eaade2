# The one warning list. Dependencies are SYSTEM and don't see it.
add_library(infino_warnings INTERFACE)
target_compile_options(
  infino_warnings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
            -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
            # libstdc++ 12 uses a function in stable_sort that it has deprecated itself.
            $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)

# g++ 12 sees overruns where an rvalue string is appended to (its bugs 105329 and 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(infino_warnings INTERFACE -Wno-restrict -Wno-array-bounds
                                                   -Wno-stringop-overflow -Wno-stringop-overread)
endif()
