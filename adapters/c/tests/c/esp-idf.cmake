# Stubs of ESP-IDF, to check with `cmake -P` that the component finds its files.

function(idf_component_register)
    cmake_parse_arguments(PARSE_ARGV 0 component "" "" "INCLUDE_DIRS;SRCS;REQUIRES")
    foreach(folder IN LISTS component_INCLUDE_DIRS)
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
        message(FATAL_ERROR "unexpected libraries: ${ARGV}")
    endif()
endfunction()

set(COMPONENT_LIB unstuck)
include("${COMPONENT}/CMakeLists.txt")
