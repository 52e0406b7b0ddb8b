#include "report/browser/pictures.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "report/browser/browser.h"

#include <fmt/format.h>

#include <set>

namespace lockstep::internal::report {

namespace {

/// The bytes that a text of base64 stands for.
std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int known = 0;
  for (const char character : text.substr(0, text.find('='))) {
    const std::size_t digit = kDigits.find(character);
    if (digit == kDigits.npos) throw Error("the browser's pictures are not base64");
    bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xffff;
    known += 6;
    if (known < 8) continue;
    known -= 8;
    bytes += static_cast<char>(bits >> known & 0xff);
  }
  return bytes;
}

}  // namespace

std::vector<Picture> pictures_in(std::string_view document) {
  constexpr std::string_view kStart = "id=\"pictures\">";
  const std::size_t start = document.rfind(kStart);
  const std::size_t end = document.find("</script>", start);
  if (start == document.npos || end == document.npos)
    throw Error("the browser did not run the scripts of the page: open report.html in it");
  const std::size_t first = start + kStart.size();
  std::vector<Picture> pictures;
  std::set<std::string> taken;
  for (const std::string& line : split(document.substr(first, end - first), '\n')) {
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    const std::string name = line.substr(0, space);
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", name, i);
    pictures.push_back({unique, from_base64(std::string_view(line).substr(space + 1))});
  }
  return pictures;
}

std::vector<Picture> draw_pictures(const std::string& html) {
  return pictures_in(run_page(html));
}

}  // namespace lockstep::internal::report
