# Run by lockstep_source_digest while building: writes OUTPUT, and OUTPUT.d, which names the files that it depends on.
# FOLDERS, below ROOT, is folder|folder.
string(REPLACE "|" ";" folders "${FOLDERS}")
set(digests "")
set(dependencies "")
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${ROOT}" "${ROOT}/${folder}/*.cpp" "${ROOT}/${folder}/*.h"
    "${ROOT}/${folder}/*.inl")
  list(SORT files)
  foreach(file IN LISTS files)
    file(SHA256 "${ROOT}/${file}" digest)
    string(APPEND digests "${digest} ${file}\n")
    string(REPLACE " " "\\ " escaped "${ROOT}/${file}")
    string(APPEND dependencies " \\\n  ${escaped}")
  endforeach()
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING "${digest}" 0 16 digest)
file(WRITE "${OUTPUT}" "// Made by cmake/digest_sources.cmake.
#include \"base/version.h\"

namespace lockstep::internal {

std::string source_digest() {
  return \"${digest}\";
}

}  // namespace lockstep::internal
")
string(REPLACE " " "\\ " target "${OUTPUT}")
file(WRITE "${OUTPUT}.d" "${target}:${dependencies}\n")
