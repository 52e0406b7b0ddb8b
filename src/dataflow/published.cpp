#include "dataflow/published.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::dataflow {

namespace {

const PublishedModel& published_alexnet() {
  static const PublishedModel model{"alexnet",
                                    4,
                                    {{"C1", {96, 1, 7, 16, 1, 1, 2}, 16.5, 154, 18.5, 5.0},
                                     {"C2", {64, 1, 27, 16, 2, 1, 1}, 39.2, 135, 77.6, 4.0},
                                     {"C3", {64, 4, 13, 16, 3, 2, 2}, 21.8, 156, 50.2, 3.0},
                                     {"C4", {64, 4, 13, 16, 3, 2, 2}, 16.0, 156, 37.4, 2.1},
                                     {"C5", {64, 4, 13, 16, 3, 2, 2}, 10.0, 156, 24.9, 1.3}}};
  return model;
}

const PublishedModel& vgg16() {
  constexpr Mapping kBlocks[] = {{16, 1, 13, 4, 1, 1, 4},
                                 {32, 1, 13, 8, 1, 1, 4},
                                 {64, 1, 13, 16, 2, 1, 4},
                                 {64, 1, 14, 16, 4, 1, 4},
                                 {64, 3, 14, 16, 4, 2, 2}};
  static const PublishedModel model{"vgg16",
                                    3,
                                    {{"1-1", kBlocks[0], 38.0, 156, 112.6, 15.4},
                                     {"1-2", kBlocks[0], 810.6, 156, 2402.8, 54.0},
                                     {"2-1", kBlocks[1], 405.3, 156, 1201.4, 33.4},
                                     {"2-2", kBlocks[1], 810.8, 156, 2402.8, 48.5},
                                     {"3-1", kBlocks[2], 204.0, 156, 607.4, 20.2},
                                     {"3-2", kBlocks[2], 408.1, 156, 1214.8, 32.2},
                                     {"3-3", kBlocks[2], 408.1, 156, 1214.8, 30.8},
                                     {"4-1", kBlocks[3], 105.1, 168, 321.8, 17.8},
                                     {"4-2", kBlocks[3], 210.0, 168, 643.7, 28.6},
                                     {"4-3", kBlocks[3], 210.0, 168, 643.7, 22.8},
                                     {"5-1", kBlocks[4], 48.3, 168, 90.0, 6.3},
                                     {"5-2", kBlocks[4], 48.5, 168, 90.0, 5.7},
                                     {"5-3", kBlocks[4], 48.5, 168, 90.0, 5.6}}};
  return model;
}

}  // namespace

const PublishedModel* published(std::string_view model) {
  if (model == "alexnet") return &published_alexnet();
  return model == "vgg16" ? &vgg16() : nullptr;
}

Mapping published_mapping(std::string_view model, const Layer& layer) {
  const PublishedModel* known = published(model);
  if (known == nullptr)
    throw UsageError(
        fmt::format("no mapping of {} was published: use alexnet or vgg16, or omit --mapping",
                    model.empty() ? "this layer" : model));
  for (const PublishedLayer& its : known->layers) {
    if (its.name != layer.name) continue;
    Mapping mapping = its.mapping;
    mapping.n = std::min(mapping.n, layer.batch);
    return mapping;
  }
  throw UsageError(fmt::format("no mapping of {}'s layer {} was published", model, layer.name));
}

}  // namespace lockstep::internal::dataflow
