// ChoiceCache: measured choices in a file of the user. Only time depends on it, and it is not
// trusted: unreadable content counts as not measured, and is replaced.
//
//   {"format": 1, "choices": {MACHINE: {SHAPE: {"forward": "winograd", …}}}}
#pragma once

#include "engine/onednn/choice/method_names.h"

#include <filesystem>
#include <string>

namespace lockstep::internal::engine::onednn {

/// Thread safety: one thread at a time. Several processes may use the file: it is replaced as a
/// whole, and the last of two concurrent writers wins.
class ChoiceCache {
 public:
  /// `machine` separates measurements of different machines and sets of methods. With an empty file
  /// name, nothing is saved.
  ChoiceCache(std::filesystem::path file, std::string machine);

  const std::filesystem::path& file() const { return file_; }

  std::optional<Methods> find(const ConvolutionShape& shape);
  void add(const ConvolutionShape& shape, const Methods& methods);

  /// Merges the added choices into the present content of the file. Throws FileError.
  void save();

  /// The problem with the file that was read; empty if there is none.
  const std::string& problem() const { return problem_; }

 private:
  nlohmann::json read();

  const std::filesystem::path file_;
  const std::string machine_;
  std::optional<nlohmann::json> choices_;  ///< of all machines, once they were read
  nlohmann::json added_ = nlohmann::json::object();
  std::string problem_;
};

/// "256 × 64×16×16 → 128×16×16 by 3×3, stride 1×1, padding 1×1": the same text for all convolutions
/// of equal cost.
std::string text_of(const ConvolutionShape& shape);

/// The user's choice file; empty without HOME.
std::filesystem::path choices_file();

/// The processor, its vector unit, oneDNN's version, the available methods, and the threads.
std::string describe_machine(int threads);

}  // namespace lockstep::internal::engine::onednn
