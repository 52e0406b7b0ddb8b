// lockstep data info: describes a data set.
#include "base/files.h"
#include "base/table/text_table.h"
#include "cli/command.h"
#include "cli/data/data.h"
#include "cli/shipped_data.h"
#include "data/contact_sheet.h"
#include "data/image_set.h"
#include "data/image_statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace lockstep::internal::cli {

namespace {

struct InfoCommand {
  data::ImageSetOptions set;
  std::filesystem::path sheet;
  std::string json;
};

struct Description {
  data::ImageSet set;
  data::ImageStatistics train;
  data::ImageStatistics test;
};

std::string text_of(const std::string& name, const Description& it) {
  const data::ImageShape& shape = it.set.train->shape;
  const auto numbers = [](const std::vector<double>& values) {
    return fmt::format("{:.4f}", fmt::join(values, " "));
  };
  const auto share = [](std::size_t part, std::size_t whole) {
    return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
  };
  const TextTable splits{.columns = {name, "images", "mean", "deviation"},
                         .rows = {{"train", fmt::format("{}", it.set.train->size()),
                                   numbers(it.train.mean), numbers(it.train.deviation)},
                                  {"test", fmt::format("{}", it.set.test->size()),
                                   numbers(it.test.mean), numbers(it.test.deviation)}}};
  TextTable classes{.columns = {"class", "train", "share", "test", "share"}};
  for (std::size_t i = 0; i < it.set.class_names.size(); ++i)
    classes.rows.push_back({it.set.class_names[i], fmt::format("{}", it.train.class_counts[i]),
                            share(it.train.class_counts[i], it.set.train->size()),
                            fmt::format("{}", it.test.class_counts[i]),
                            share(it.test.class_counts[i], it.set.test->size())});
  return fmt::format("{} channel{} of {}×{}, {} classes\n\n{}\n{}", shape.channels,
                     shape.channels == 1 ? "" : "s", shape.height, shape.width,
                     it.set.class_names.size(), to_text(splits, on_terminal()),
                     to_text(classes, on_terminal()));
}

nlohmann::json images_json(const data::Images& images, const data::ImageStatistics& statistics) {
  return {{"images", images.size()},
          {"class_counts", statistics.class_counts},
          {"mean", statistics.mean},
          {"deviation", statistics.deviation}};
}

nlohmann::json set_json(const std::string& name, const Description& it) {
  const data::ImageShape& shape = it.set.train->shape;
  return {{"data", name},
          {"channels", shape.channels},
          {"height", shape.height},
          {"width", shape.width},
          {"classes", it.set.class_names},
          {"train", images_json(*it.set.train, it.train)},
          {"test", images_json(*it.set.test, it.test)}};
}

int run_info(const InfoCommand& command) {
  data::check_image_set_name(command.set.name, "the data set");
  if (!command.sheet.empty()) require_writable(command.sheet);
  Description it{.set = data::open_image_set(command.set), .train = {}, .test = {}};
  it.train = data::image_statistics(*it.set.train);
  it.test = data::image_statistics(*it.set.test);
  if (!command.sheet.empty())
    write_file(command.sheet, data::encode_png(data::contact_sheet(*it.set.train)));
  if (command.json != "-") fmt::print("{}", text_of(command.set.name, it));
  write_json(command.json, set_json(command.set.name, it));
  return kSuccess;
}

}  // namespace

void add_data_info_command(CLI::App& data, int& code) {
  CLI::App* command = data.add_subcommand(
      "info", "show a data set's images, classes, means and standard deviations");
  auto options = std::make_shared<InfoCommand>();
  options->set.folder = shipped_data();
  command->add_option("set", options->set.name, "mnist, cifar10 or synthetic")
      ->capture_default_str();
  command
      ->add_option("--data-dir", options->set.folder,
                   "folder of the data; the default ships with Lockstep")
      ->capture_default_str();
  command->add_option(
      "--sheet", options->sheet,
      "write a PNG with the first training images of each class, one row per class");
  command->add_option("--json", options->json,
                      "write the result to this file; - for standard output");
  command->callback([options, &code] {
    try {
      code = run_info(*options);
    } catch (...) {
      code = report_exception("lockstep data info");
    }
  });
}

}  // namespace lockstep::internal::cli
