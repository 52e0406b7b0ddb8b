#include "study/mistakes.h"

#include "base/files.h"
#include "run/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lockstep::internal::study {

namespace {

using train::Mistake;

constexpr const char* kRight = "right";
constexpr const char* kLargeRight = "large-batch";

/// Description of a mistake for the table.
std::string what_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::none:
      return "gradients averaged before the update";
    case Mistake::sync_after_update:
      return "gradients averaged after the update";
    case Mistake::same_order:
      return "the same order of images in every epoch";
    case Mistake::different_weights:
      return "every worker starts from different weights";
    case Mistake::sum:
      return "gradients summed instead of averaged";
    case Mistake::same_shard:
      return "every worker trains on the same images";
  }
  return "";
}

/// Why a variant learns less, as a sentence.
std::string cause_of(const std::string& name) {
  if (name == "sync-after-update")
    return "Every worker learns from its own images only, and the weights drift apart";
  if (name == "same-order")
    return "Every epoch repeats the batches of the previous one; a short run rarely shows the "
           "effect";
  if (name == "different-weights")
    return "Gradients computed for one network are applied to another";
  if (name == "sum")
    return "The step is too long by a factor of the number of workers; it may help here and "
           "diverge elsewhere";
  if (name == "same-shard")
    return "All workers do the same work, and the other images of each batch are never used";
  return "The larger batch makes fewer updates per epoch with the same step size";
}

Variant variant_for(const train::TrainConfig& job, std::string name, std::string what,
                    std::string right) {
  Variant variant{std::move(name), std::move(what), std::move(right), job};
  variant.config.run_dir = job.run_dir / variant.name;
  return variant;
}

const TrainedVariant* find(const std::vector<TrainedVariant>& variants, const std::string& name) {
  const auto found =
      std::find_if(variants.begin(), variants.end(),
                   [&](const TrainedVariant& trained) { return trained.variant.name == name; });
  return found == variants.end() ? nullptr : &*found;
}

}  // namespace

std::vector<Variant> variants_of(const train::TrainConfig& job) {
  std::vector<Variant> variants{variant_for(job, kRight, what_of(Mistake::none), "")};
  for (const std::string& name : train::mistake_names()) {
    variants.push_back(variant_for(job, name, what_of(train::parse_mistake(name)), kRight));
    variants.back().config.mistake = name;
  }
  train::TrainConfig large = job;
  large.batch *= static_cast<std::size_t>(job.workers);
  variants.push_back(variant_for(
      large, "unscaled-rate",
      fmt::format("a batch {} times as large, the same learning rate", job.workers), kLargeRight));
  large.learning_rate *= job.workers;
  variants.insert(
      variants.end() - 1,
      variant_for(large, kLargeRight,
                  fmt::format("batch and learning rate {} times as large", job.workers), ""));
  return variants;
}

std::vector<TrainedVariant> train_variants(const train::TrainConfig& job, const RunJob& run) {
  std::vector<TrainedVariant> trained;
  for (Variant& variant : variants_of(job)) {
    make_folder(variant.config.run_dir);
    run::Summary summary = run(variant.config);
    std::set<std::string> weights;
    for (const run::RankSummary& rank : summary.ranks) weights.insert(rank.weights_sha256);
    trained.push_back({std::move(variant), std::move(summary), weights.size()});
  }
  return trained;
}

TextTable table_of(const std::vector<TrainedVariant>& variants) {
  TextTable table{
      .title = "Correct training and classic mistakes",
      .columns = {"variant",
                  {"loss", "training loss in the last epoch"},
                  "train %",
                  {"test %", "if the weights differ, each worker tests its part of the images"},
                  {"weights", "number of different weights among the workers at the end"},
                  "description"}};
  for (const TrainedVariant& trained : variants)
    table.rows.push_back(
        {trained.variant.name, fmt::format("{:.4f}", trained.summary.train_loss),
         percent_cell(trained.summary.train_accuracy), percent_cell(trained.summary.test_accuracy),
         trained.different_weights == 1 ? "one"
                                        : fmt::format("{} different", trained.different_weights),
         trained.variant.what});
  return table;
}

std::vector<std::string> sentences_of(const std::vector<TrainedVariant>& variants) {
  std::vector<std::string> sentences;
  double lowest = 1;
  double highest = 0;
  for (const TrainedVariant& trained : variants) {
    lowest = std::min(lowest, trained.summary.train_accuracy);
    highest = std::max(highest, trained.summary.train_accuracy);
    const TrainedVariant* right = find(variants, trained.variant.right);
    if (!right) continue;
    sentences.push_back(fmt::format(
        "{}: train accuracy {} % instead of {} %, test accuracy {} % instead of {} %. {}.",
        trained.variant.name, percent_cell(trained.summary.train_accuracy),
        percent_cell(right->summary.train_accuracy), percent_cell(trained.summary.test_accuracy),
        percent_cell(right->summary.test_accuracy), cause_of(trained.variant.name)));
  }
  sentences.push_back(fmt::format(
      "None of these runs reported an error, but the train accuracy of the same job ranges from {} "
      "% to {} %. If two methods that average the same gradients learn differently, look for a "
      "mistake like these, not for a fault of the algorithm.",
      percent_cell(lowest), percent_cell(highest)));
  return sentences;
}

nlohmann::json to_json(const std::vector<TrainedVariant>& variants) {
  nlohmann::json runs = nlohmann::json::array();
  for (const TrainedVariant& trained : variants) {
    nlohmann::json json = run::to_json(trained.summary);
    json["name"] = json["folder"] = trained.variant.name;
    json["what"] = trained.variant.what;
    json["right"] = trained.variant.right;
    json["different_weights"] = trained.different_weights;
    runs.push_back(std::move(json));
  }
  const std::vector<std::string> sentences = sentences_of(variants);
  return run::to_json({.kind = "mistakes",
                       .verdict = sentences.back(),
                       .notes = sentences,
                       .tables = {table_of(variants)},
                       .runs = std::move(runs)});
}

}  // namespace lockstep::internal::study
