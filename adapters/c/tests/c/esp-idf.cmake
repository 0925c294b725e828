# As much of ESP-IDF as the component calls, to see that it finds its files: cmake -P this file.

function(idf_component_register)
    cmake_parse_arguments(PARSE_ARGV 0 told "" "" "INCLUDE_DIRS;SRCS;REQUIRES")
    foreach(folder IN LISTS told_INCLUDE_DIRS)
        if(NOT EXISTS "${COMPONENT}/${folder}/unstuck.h")
            message(FATAL_ERROR "no header in ${folder}")
        endif()
    endforeach()
endfunction()

function(add_prebuilt_library name file)
    if(NOT EXISTS "${file}")
        message(FATAL_ERROR "no library at ${file}")
    endif()
endfunction()

function(target_link_libraries)
    if(NOT "${ARGV}" STREQUAL "unstuck;INTERFACE;unstuck_library_file")
        message(FATAL_ERROR "linked otherwise: ${ARGV}")
    endif()
endfunction()

set(COMPONENT_LIB unstuck)
include("${COMPONENT}/CMakeLists.txt")
