# The API reference as HTML pages, made by Doxygen from the comments of the public headers:
#   cmake --build BUILD --target lockstep_api_docs      BUILD/api/html/namespacelockstep.html
# Anything public without a comment is an error.
find_program(LOCKSTEP_DOXYGEN doxygen)
if(LOCKSTEP_DOXYGEN)
  configure_file("${PROJECT_SOURCE_DIR}/docs/Doxyfile.in" "${PROJECT_BINARY_DIR}/Doxyfile" @ONLY)
  add_custom_target(lockstep_api_docs
    COMMAND "${LOCKSTEP_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile"
    COMMAND "${CMAKE_COMMAND}" -E echo "API reference: ${PROJECT_BINARY_DIR}/api/html/namespacelockstep.html"
    VERBATIM)
else()
  add_custom_target(lockstep_api_docs
    COMMAND "${CMAKE_COMMAND}" -E echo "The API reference is made by Doxygen, which is not installed. On Debian: sudo apt-get install doxygen"
    COMMAND "${CMAKE_COMMAND}" -E false
    VERBATIM)
endif()
