#include "data/synthetic.h"

#include <lockstep/error.h>

#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lockstep::internal::data {

namespace {

constexpr int kPoints = 5;  // grid points per side
constexpr std::uint64_t kMostBytes = 1ull << 34;

// Purposes of the random streams.
enum Stream : std::uint64_t { kPatterns, kOrder, kImages };

std::uint64_t stream_of(Stream stream, Split split) {
  return stream * 2 + (split == Split::test ? 1 : 0);
}

/// A position between two grid points: `part` / `whole` of the way from `cell` to the next.
struct Place {
  int cell;
  int part;
  int whole;

  int blend(int here, int next) const { return (here * (whole - part) + next * part) / whole; }
};

/// The position of pixel `position` of `size`. Pixels outside lie at the edge.
Place place_of(int position, int size) {
  const int scaled = std::clamp(position, 0, size - 1) * (kPoints - 1);
  return {.cell = scaled / size, .part = scaled % size, .whole = size};
}

/// The positions of a shifted row or column.
std::vector<Place> places_of(int size, int moved) {
  std::vector<Place> places;
  for (int i = 0; i < size; ++i) places.push_back(place_of(i + moved, size));
  return places;
}

/// The greys of one class in one channel.
struct Pattern {
  std::array<std::array<int, kPoints>, kPoints> grid;

  explicit Pattern(Random random) {
    for (auto& row : grid)
      for (int& grey : row) grey = static_cast<int>(random.below(256));
  }

  /// The grid's columns, interpolated at the height of `down`.
  std::array<int, kPoints> row(const Place& down) const {
    std::array<int, kPoints> greys{};
    for (std::size_t i = 0; i < kPoints; ++i)
      greys[i] = down.blend(grid[down.cell][i], grid[down.cell + 1][i]);
    return greys;
  }
};

/// Values from -64 to 63, eight from one random number.
class Noise {
 public:
  explicit Noise(Random& random) : random_(random) {}

  int next() {
    if (left_ == 0) {
      bits_ = random_.next();
      left_ = 8;
    }
    const int value = static_cast<int>(bits_ & 0x7f) - 64;
    bits_ >>= 8;
    --left_;
    return value;
  }

 private:
  Random& random_;
  std::uint64_t bits_ = 0;
  int left_ = 0;
};

std::vector<Pattern> make_patterns(const SyntheticOptions& options) {
  std::vector<Pattern> patterns;
  const std::uint64_t count = static_cast<std::uint64_t>(options.classes) *
                              static_cast<std::uint64_t>(options.shape.channels);
  for (std::uint64_t i = 0; i < count; ++i)
    patterns.emplace_back(Random(options.seed, stream_of(kPatterns, Split::train), i));
  return patterns;
}

int between(Random& random, int lowest, int highest) {
  return lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
}

void draw(std::uint8_t* to, const Pattern* patterns, const ImageShape& shape, Random random) {
  const auto down = places_of(shape.height, between(random, -shape.height / 8, shape.height / 8));
  const auto across = places_of(shape.width, between(random, -shape.width / 8, shape.width / 8));
  const int strength = between(random, 50, 100);  // percent
  Noise noise(random);
  for (int channel = 0; channel < shape.channels; ++channel)
    for (const Place& y : down) {
      const std::array<int, kPoints> row = patterns[channel].row(y);
      for (const Place& x : across) {
        const int grey = x.blend(row[x.cell], row[x.cell + 1]);
        const int value = 128 + (grey - 128) * strength / 100 + noise.next();
        *to++ = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
}

std::vector<std::uint8_t> make_labels(const SyntheticOptions& options, Split split,
                                      std::size_t count) {
  const auto classes = static_cast<std::uint32_t>(options.classes);
  std::vector<std::uint8_t> labels;
  labels.reserve(count);
  for (std::uint64_t round = 0; labels.size() < count; ++round)
    for (std::uint32_t label :
         permutation(classes, Random(options.seed, stream_of(kOrder, split), round)))
      if (labels.size() < count) labels.push_back(static_cast<std::uint8_t>(label));
  return labels;
}

void check(const SyntheticOptions& options) {
  const ImageShape& shape = options.shape;
  constexpr int kMostSide = 1 << 14;
  const bool sides = std::min({shape.channels, shape.height, shape.width}) >= 1 &&
                     std::max({shape.channels, shape.height, shape.width}) <= kMostSide;
  if (!sides || options.classes < 1 || options.classes > 256 || options.train < 1 ||
      options.test < 1)
    throw UsageError(fmt::format(
        "synthetic images of {}×{}×{} in {} classes, {} for training and {} for testing: sides "
        "must be from 1 to {}, classes from 1 to 256, images at least 1",
        shape.channels, shape.height, shape.width, options.classes, options.train, options.test,
        kMostSide));
  if (std::max(options.train, options.test) > kMostBytes / shape.pixels())
    throw UsageError(
        fmt::format("{} synthetic images of {} bytes are more than {} GiB: use fewer or smaller "
                    "images",
                    std::max(options.train, options.test), shape.pixels(), kMostBytes >> 30));
}

}  // namespace

Images make_synthetic(const SyntheticOptions& options, Split split) {
  check(options);
  const ImageShape& shape = options.shape;
  Images images{.shape = shape, .classes = options.classes, .pixels = {}, .labels = {}};
  images.labels = make_labels(options, split, split == Split::train ? options.train : options.test);
  images.pixels.resize(images.size() * shape.pixels());
  const std::vector<Pattern> patterns = make_patterns(options);
  for (std::size_t i = 0; i < images.size(); ++i)
    draw(images.pixels.data() + i * shape.pixels(),
         patterns.data() + images.labels[i] * static_cast<std::size_t>(shape.channels), shape,
         Random(options.seed, stream_of(kImages, split), i));
  return images;
}

Normalisation synthetic_normalisation(int channels) {
  const auto count = static_cast<std::size_t>(channels);
  return {.mean = std::vector(count, 0.5f), .deviation = std::vector(count, 0.25f)};
}

}  // namespace lockstep::internal::data
