// Pictures in the document of a page that a browser has run.
#include "report/browser/pictures.h"

#include <lockstep/error.h>

#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal::report {
namespace {

std::vector<Picture> pictures_of(const std::string& lines) {
  return pictures_in("<html><script type=\"text/plain\" id=\"pictures\">" + lines +
                     "</script></html>");
}

TEST(Pictures, HaveTheirNamesAndBytes) {
  // The examples of RFC 4648, and bytes that are no text.
  const auto pictures = pictures_of("a Zg==\nb Zm8=\nc Zm9v\nd Zm9vYmFy\ne AP/+");
  ASSERT_EQ(pictures.size(), 5u);
  const std::string contents[] = {"f", "fo", "foo", "foobar", std::string("\0\xff\xfe", 3)};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(pictures[i].name, std::string(1, static_cast<char>('a' + i)));
    EXPECT_EQ(pictures[i].png, contents[i]);
  }
}

TEST(Pictures, OfOneNameGetNumbers) {
  const auto pictures = pictures_of("a Zg==\na Zg==\na Zg==");
  ASSERT_EQ(pictures.size(), 3u);
  EXPECT_EQ(pictures[1].name, "a-2");
  EXPECT_EQ(pictures[2].name, "a-3");
}

TEST(Pictures, MissingOrDamagedAreErrors) {
  testing::expect_error<Error>([] { pictures_in("<html></html>"); }, {"did not run the scripts"});
  testing::expect_error<Error>([] { pictures_of("a Z$=="); }, {"not base64"});
}

}  // namespace
}  // namespace lockstep::internal::report
