// ChoiceCache: what was measured before, in a file of the user's. Nothing depends on it but time,
// and nobody trusts it: what cannot be read counts as not measured, and is replaced.
//
//   {"format": 1, "choices": {MACHINE: {SHAPE: {"forward": "winograd", …}}}}
#pragma once

#include "engine/onednn/method_names.h"

#include <filesystem>
#include <string>

namespace lockstep::engine::onednn {

/// One thread at a time; several processes may share the file: it is replaced as a whole, and of
/// two that write at once the last one wins.
class ChoiceCache {
 public:
  /// What was measured elsewhere, or among other methods, says nothing here: `machine` tells such
  /// apart. An empty file name: nothing is kept.
  ChoiceCache(std::filesystem::path file, std::string machine);

  const std::filesystem::path& file() const { return file_; }

  std::optional<Methods> find(const ConvolutionShape& shape);
  void add(const ConvolutionShape& shape, const Methods& methods);

  /// Writes what was added to the file, beside what is in it by now. Throws FileError.
  void save();

  /// What is wrong with the file that was read, if anything.
  const std::string& problem() const { return problem_; }

 private:
  nlohmann::json read();

  const std::filesystem::path file_;
  const std::string machine_;
  std::optional<nlohmann::json> choices_;  ///< of all machines, once they were read
  nlohmann::json added_ = nlohmann::json::object();
  std::string problem_;
};

/// "256 × 64×16×16 → 128×16×16 by 3×3, stride 1×1, padding 1×1": the same for all convolutions that
/// cost the same.
std::string text_of(const ConvolutionShape& shape);

/// Where the choices of this user are kept; empty where there is no HOME.
std::filesystem::path choices_file();

/// This processor, its vector unit, oneDNN's version, the methods that there are, and the threads.
std::string describe_machine(int threads);

}  // namespace lockstep::engine::onednn
