# lockstep_source_digest(OUTPUT folder...)
#   Makes the source file OUTPUT in the current binary folder, which defines lockstep::internal::source_digest(): a checksum of all
#   sources below these folders of the project. The same sources have the same one on every host. Made again when one of
#   them changes: a new source comes with another CMakeLists.txt, and a new header with a source that includes it.
function(lockstep_source_digest output)
  list(JOIN ARGN "|" folders)
  set(lists "")
  foreach(folder IN LISTS ARGN)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
      list(APPEND lists "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    endif()
  endforeach()
  set(script "${PROJECT_SOURCE_DIR}/cmake/digest_sources.cmake")
  set(made "${CMAKE_CURRENT_BINARY_DIR}/${output}")
  add_custom_command(OUTPUT "${made}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${made}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DFOLDERS=${folders}" -P "${script}"
    DEPENDS "${script}" ${lists} DEPFILE "${made}.d" VERBATIM)
endfunction()
