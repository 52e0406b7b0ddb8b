// The contact sheet and the statistics of `lockstep data info`.
#include "data/contact_sheet.h"

#include <lockstep/error.h>

#include "data/image_statistics.h"
#include "data_files.h"

#include <gtest/gtest.h>

#include <zlib.h>

namespace lockstep::internal::data {
namespace {

/// Three images of 1×2 in two classes: one of class 1, then two of class 0.
Images three_images(int channels) {
  Images images{.shape = {channels, 1, 2}, .classes = 2, .pixels = {}, .labels = {1, 0, 0}};
  for (std::size_t i = 0; i < 3 * images.shape.pixels(); ++i)
    images.pixels.push_back(static_cast<std::uint8_t>(10 * i));
  return images;
}

std::vector<int> colour(Picture& picture, std::size_t y, std::size_t x) {
  const std::uint8_t* at = picture.at(y, x);
  return {at[0], at[1], at[2]};
}

TEST(ContactSheet, HasARowForEachClassAndItsFirstImages) {
  Picture sheet = contact_sheet(three_images(1), {.columns = 2, .zoom = 1});
  EXPECT_EQ(sheet.width, 4u + 2 * (2 + 4));
  EXPECT_EQ(sheet.height, 4u + 2 * (1 + 4));
  const std::vector<int> paper{255, 255, 255};
  EXPECT_EQ(colour(sheet, 4, 4), (std::vector<int>{20, 20, 20}));
  EXPECT_EQ(colour(sheet, 4, 5), (std::vector<int>{30, 30, 30}));
  EXPECT_EQ(colour(sheet, 4, 10), (std::vector<int>{40, 40, 40}));
  EXPECT_EQ(colour(sheet, 9, 4), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(colour(sheet, 9, 10), paper) << "class 1 has one image only";
  EXPECT_EQ(colour(sheet, 3, 4), paper);
  EXPECT_EQ(colour(sheet, 4, 3), paper);
}

TEST(ContactSheet, ShowsAtMostAsManyImagesAsColumns) {
  Picture sheet = contact_sheet(three_images(1), {.columns = 1, .zoom = 1});
  EXPECT_EQ(sheet.width, 4u + 6);
  EXPECT_EQ(colour(sheet, 4, 4), (std::vector<int>{20, 20, 20}));
}

TEST(ContactSheet, ShowsThreeChannelsAsColoursAndZooms) {
  Picture sheet = contact_sheet(three_images(3), {.columns = 2, .zoom = 2});
  for (std::size_t y : {4, 5})
    for (std::size_t x : {4, 5}) EXPECT_EQ(colour(sheet, y, x), (std::vector<int>{60, 80, 100}));
  EXPECT_EQ(colour(sheet, 4, 6), (std::vector<int>{70, 90, 110}));
}

TEST(ContactSheet, RefusesASheetThatIsTooLarge) {
  const Images images{.shape = {1, 1 << 14, 1 << 14}, .classes = 10, .pixels = {}, .labels = {}};
  expect_error<UsageError>([&] { contact_sheet(images); }, {"too large"});
}

TEST(Png, HasChunksWithChecksums) {
  Picture picture(2, 3, 7);
  const std::string png = encode_png(picture);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(8, 8), big_endian(13) + "IHDR");
  EXPECT_EQ(png.substr(16, 13),
            big_endian(2) + big_endian(3) + std::string("\x08\x02\x00\x00\x00", 5));
  EXPECT_EQ(png.substr(png.size() - 12), big_endian(0) + "IEND" + big_endian(0xae426082));
}

TEST(ImageStatistics, CountsAndMeasures) {
  Images images{.shape = {2, 1, 2}, .classes = 3, .pixels = {}, .labels = {2, 0, 2}};
  images.pixels = {0, 255, 51, 51, 0, 255, 51, 51, 255, 0, 51, 51};
  const ImageStatistics statistics = image_statistics(images);
  EXPECT_EQ(statistics.class_counts, (std::vector<std::size_t>{1, 0, 2}));
  EXPECT_EQ(statistics.mean, (std::vector<double>{0.5, 0.2}));
  EXPECT_EQ(statistics.deviation, (std::vector<double>{0.5, 0}));
}

}  // namespace
}  // namespace lockstep::internal::data
