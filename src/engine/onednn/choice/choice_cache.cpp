#include "engine/onednn/choice/choice_cache.h"

#include <lockstep/error.h>

#include "base/cache_folder.h"
#include "base/files.h"
#include "launch/hosts/machine_description.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace lockstep::internal::engine::onednn {

namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr std::uint64_t kLongest = 1 << 22;  ///< bytes: thousands of shapes

/// The member of this name; replaced by an empty object unless it is an object.
json& object_in(json& parent, const std::string& name) {
  json& member = parent[name];
  if (!member.is_object()) member = json::object();
  return member;
}

}  // namespace

ChoiceCache::ChoiceCache(std::filesystem::path file, std::string machine)
    : file_(std::move(file)), machine_(std::move(machine)) {}

json ChoiceCache::read() {
  std::error_code none;
  if (file_.empty() || !std::filesystem::exists(file_, none)) return json::object();
  std::string text;
  try {
    text = read_file(file_, kLongest);
  } catch (const FileError& error) {
    problem_ = error.what();
    return json::object();
  }
  const json whole = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (whole.is_object() && whole.value("format", json()) == kFormat &&
      whole.value("choices", json()).is_object())
    return whole["choices"];
  problem_ = fmt::format("{}: not in the format of this version of Lockstep", file_.string());
  return json::object();
}

std::optional<Methods> ChoiceCache::find(const ConvolutionShape& shape) {
  if (!choices_) choices_ = read();
  return methods_from(object_in(object_in(*choices_, machine_), text_of(shape)));
}

void ChoiceCache::add(const ConvolutionShape& shape, const Methods& methods) {
  added_[text_of(shape)] = to_json(methods);
}

void ChoiceCache::save() {
  if (file_.empty() || added_.empty()) return;
  make_folder(file_.parent_path());
  json choices = read();
  object_in(choices, machine_).update(added_);
  const json whole{{"format", kFormat}, {"choices", std::move(choices)}};
  write_file(file_, whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  added_.clear();
}

std::string text_of(const ConvolutionShape& shape) {
  const auto [size, stride, padding] = shape.window;
  return fmt::format("{} × {}×{}×{} → {}×{}×{} by {}×{}, stride {}×{}, padding {}×{}{}",
                     shape.batch, shape.channels_in, shape.input[0], shape.input[1],
                     shape.channels_out, shape.output[0], shape.output[1], size[0], size[1],
                     stride[0], stride[1], padding[0], padding[1],
                     shape.input_gradient ? "" : ", no gradient for its input");
}

std::filesystem::path choices_file() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "convolutions.json";
}

std::string describe_machine(int threads) {
  std::vector<std::string_view> methods;
  for (Method method : all_methods()) methods.push_back(name_of(method));
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}, unit {:#x}, oneDNN {}.{}.{}, {}, threads: {}",
                     launch::describe_machine().processor,
                     static_cast<int>(dnnl::get_effective_cpu_isa()), version->major,
                     version->minor, version->patch, fmt::join(methods, " "), threads);
}

}  // namespace lockstep::internal::engine::onednn
