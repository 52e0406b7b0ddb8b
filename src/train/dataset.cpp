#include "train/dataset.h"

#include "data/mnist.h"

namespace lockstep::train {

Dataset open_dataset(const TrainConfig& config) {
  using data::Images;
  using data::Split;
  // Both DIR/mnist/train-images… and DIR/train-images… are usual.
  std::filesystem::path folder = config.data_dir / config.data;
  if (!std::filesystem::is_directory(folder)) folder = config.data_dir;
  const std::size_t limit = config.limit > 0 ? config.limit : data::kAllItems;
  auto train = std::make_shared<const Images>(data::read_mnist(folder, Split::train, limit));
  auto test = std::make_shared<const Images>(data::read_mnist(folder, Split::test));
  const data::Normalisation normalisation = data::mnist_normalisation();
  return {data::Loader(train, normalisation, data::kMnistPadding),
          data::Loader(test, normalisation, data::kMnistPadding), train->size(), test->size()};
}

}  // namespace lockstep::train
