// The charts of a page as PNG files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::report {

struct Picture {
  std::string name;  ///< of the file, without a suffix; unique
  std::string png;   ///< its bytes
};

/// Runs a page that adds its pictures to the document (page/picture.js) in a browser, and returns
/// them. Throws Error if that fails.
std::vector<Picture> draw_pictures(const std::string& html);

/// The pictures in such a document.
std::vector<Picture> pictures_in(std::string_view document);

}  // namespace lockstep::internal::report
