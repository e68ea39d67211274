# Most of the compile time goes into reading the same large headers, so they are precompiled. The clang preset reads them
# file by file, so that it finds missing includes.
option(RALPH_PRECOMPILE "read the large headers once for all files" ON)
set(large_headers <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <variant>
    <vector>
    <boost/json/array.hpp> <boost/json/object.hpp> <boost/json/serialize.hpp> <boost/json/value.hpp> <fmt/core.h>
    <tl/expected.hpp>)
if(RALPH_PRECOMPILE)
  file(WRITE ${PROJECT_BINARY_DIR}/generated/large_headers.cc "")
  add_library(ralph_large_headers STATIC ${PROJECT_BINARY_DIR}/generated/large_headers.cc)
  target_link_libraries(ralph_large_headers PRIVATE ralph_flags)
  target_precompile_headers(ralph_large_headers PRIVATE ${large_headers})
endif()

# Most of the remaining time goes into templates that are instantiated again in each file, so the files of a room are compiled
# a few dozen at a time. They then see each other's file-local names, which therefore have to differ within a room; names that
# every command has (kOptions) are made unique.
option(RALPH_UNITY "compile some files at a time" OFF)
function(ralph_compile_together target)
  if(RALPH_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40 UNITY_BUILD_UNIQUE_ID RALPH_THIS_FILE
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"${PROJECT_SOURCE_DIR}/cmake/unity_names.h\"")
    # g++ takes every file but the first for a header, in which a type of the file's own would be a mistake.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# Each folder of src/ is one library. Its tests are next to its sources and are collected into one test program.
function(ralph_library folder)
  cmake_parse_arguments(ARG "HOT" "" "USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc ${CMAKE_SOURCE_DIR}/src/${folder}/*/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|darwin)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  add_library(ralph_${folder} STATIC ${sources})
  target_link_libraries(ralph_${folder} PUBLIC ralph_flags ${ARG_USES})
  if(ARG_HOT AND RALPH_SANITIZE)
    # Tests spend most of their time here. Optimised code can't use headers that were precompiled without optimisation.
    target_compile_options(ralph_${folder} PRIVATE -O1)
  elseif(RALPH_PRECOMPILE)
    target_precompile_headers(ralph_${folder} REUSE_FROM ralph_large_headers)
  endif()
  ralph_compile_together(ralph_${folder})
  set_property(GLOBAL APPEND PROPERTY RALPH_UNIT_TESTS ${tests})
endfunction()
