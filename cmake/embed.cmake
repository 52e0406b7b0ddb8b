# lockstep_embed(OUTPUT NAMESPACE namespace HEADER header TEXT name file... [TEXT name file...]...)
#   Makes the source file OUTPUT in the current binary folder, which defines a std::string_view for each TEXT: the
#   files' content, one after another. The header declares them. Made again when a file changes.
function(lockstep_embed output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;HEADER" "")
  set(files "")
  set(expects "")
  foreach(word IN LISTS arg_UNPARSED_ARGUMENTS)
    if("${word}" STREQUAL "TEXT")
      set(expects name)
    elseif("${expects}" STREQUAL "name")
      list(APPEND texts "${word}")
      set(expects file)
    else()
      get_filename_component(file "${word}" ABSOLUTE)
      list(APPEND files "${file}")
      list(GET texts -1 name)
      list(APPEND parts "${name}=${file}")
    endif()
  endforeach()
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  list(JOIN parts "|" parts)
  add_custom_command(OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${output}" -DNAMESPACE=${arg_NAMESPACE}
            -DHEADER=${arg_HEADER} "-DPARTS=${parts}" -P "${script}"
    DEPENDS "${script}" ${files} VERBATIM)
endfunction()
