// Run folders for tests of reports, written by hand: what they hold is known to the last digit.
#pragma once

#include "base/files.h"
#include "support/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>

namespace lockstep::internal::report {

inline void change(const std::filesystem::path& file,
                   const std::function<void(nlohmann::json&)>& edit) {
  nlohmann::json json = nlohmann::json::parse(read_file(file));
  edit(json);
  write_file(file, json.dump());
}

/// A line of metrics.jsonl with its end. Seconds of parts are a tenth of `total` each.
inline std::string metrics_line(const std::string& kind, int rank, int epoch, int iteration,
                                const nlohmann::json& loss, double total) {
  nlohmann::json line{{"kind", kind},           {"rank", rank}, {"epoch", epoch},
                      {"iteration", iteration}, {"loss", loss}, {"accuracy", 0.5},
                      {"samples", 8},           {"lr", 0.01},   {"total", total}};
  for (const char* part :
       {"data", "forward", "backward", "communication", "hidden", "exposed", "wait", "optimizer"})
    line[part] = total / 10;
  return line.dump() + "\n";
}

/// What config.json has of a run with two workers. The method is ddp or ring.
inline nlohmann::json config_of(const std::string& method) {
  const bool ring = method == "ring";
  return {{"format", 1},
          {"model", "lenet5"},
          {"data", "mnist"},
          {"workers", 2},
          {"method", method},
          {"sync", ring ? "all-reduce" : method},
          {"algorithm", ring ? "ring" : "auto"},
          {"batch", 16},
          {"parameters", 10},
          {"gradient_bytes", 1000000},
          {"planned_iterations", 20},
          {"command", "lockstep train --sync " + method},
          {"version", "0.1.0"},
          {"machine", {{"cores", 2}}}};
}

inline nlohmann::json rank_summary(int rank) {
  return {{"rank", rank},
          {"seconds_per_iteration", 0.0025},
          {"compute_share", 0.5},
          {"communication_share", 0.375},
          {"hidden_communication_share", 0.125},
          {"exposed_communication_share", 0.25},
          {"wait_share", 0.0625},
          {"data_share", 0.03125},
          {"bytes_per_iteration", 1001000 + rank},
          {"train_loss", 1.25},
          {"train_accuracy", 0.75},
          {"seconds_training", 0.04},
          {"exchanged", {{"gradients", 1000}, {"votes", rank}}}};
}

inline nlohmann::json summary_of(const std::string& method) {
  nlohmann::json summary = rank_summary(0);
  summary.erase("rank");
  summary.update({{"method", method},
                  {"workers", 2},
                  {"seconds_total", 1.5},
                  {"images_per_second", 16 / 0.003},
                  {"seconds_per_iteration", {{"mean", 0.003}, {"p50", 0.002}, {"p90", 0.004}}},
                  {"test_accuracy", 0.7},
                  {"test_correct", 1050},
                  {"test_images", 1500},
                  {"exchanged", {{"gradients", 2000}, {"votes", 1}}},
                  {"weights_sha256", "0123456789abcdef"},
                  {"verdict", "Compute-bound."},
                  {"ranks", {rank_summary(0), rank_summary(1)}}});
  return summary;
}

/// Two ranks, two epochs of ten iterations; iteration i has loss 1/i on rank 0.
inline std::string metrics_of_run() {
  std::string text;
  for (int epoch = 1; epoch <= 2; ++epoch)
    for (int rank = 0; rank < 2; ++rank) {
      for (int i = 10 * epoch - 9; i <= 10 * epoch; ++i)
        text += metrics_line("iteration", rank, epoch, i, 1.0 / (i + rank), i == 1 ? 1.0 : 0.002);
      text += metrics_line("epoch", rank, epoch, 10 * epoch, 1.0 / epoch, 0.02);
    }
  return text + metrics_line("test", 0, 2, 20, 0.9, 0);
}

/// Two iterations of two ranks; the second is the typical one.
inline std::string trace_of_run() {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  text += R"({"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"rank 0 on h"}})";
  const auto add = [&](nlohmann::json event) { text += ",\n" + event.dump(); };
  for (int rank = 0; rank < 2; ++rank)
    for (int i = 1; i <= 2; ++i) {
      const double at = 1000.0 * i + 5 * rank;
      const auto event = [&](const char* name, const char* kind, int row, double start) {
        return nlohmann::json{{"name", name},     {"cat", kind},
                              {"pid", rank},      {"tid", row},
                              {"ts", at + start}, {"args", nlohmann::json::object()}};
      };
      const auto whole = [&](const char* name, const char* kind, int row, double start,
                             double length) {
        nlohmann::json json = event(name, kind, row, start);
        json.update({{"ph", "X"}, {"dur", length}});
        return json;
      };
      nlohmann::json reduce = whole("all_reduce", "collective", 1, 300, 100);
      reduce["args"] = {{"bytes", 4000}, {"algorithm", "ring"}, {"wait_us", 12.5}};
      nlohmann::json ready = event("fc.bias", "gradient", 0, 290);
      ready.update({{"ph", "i"}, {"s", "t"}});
      nlohmann::json iteration = whole("iteration", "iteration", 0, 0, 500);
      iteration["args"]["iteration"] = i;
      for (const char* phase : {"b", "e"}) {
        nlohmann::json message = event("send", "message", 1, *phase == 'b' ? 310 : 350);
        message.update({{"ph", phase}, {"id", "1"}});
        if (*phase == 'b') message["args"] = {{"bytes", 2000}, {"peer", 1}};
        add(message);
      }
      for (const nlohmann::json& one :
           {whole("forward", "part", 0, 0, 200), whole("conv", "operation", 0, 10, 100),
            whole("empty", "operation", 0, 20, 1), whole("backward", "part", 0, 200, 100), ready,
            reduce, iteration})
        add(one);
    }
  return text + "\n]}\n";
}

/// Quickly, without waiting for the disk.
inline std::filesystem::path put(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

/// Writes the files of a run into a folder, which it makes.
inline void write_run(const std::filesystem::path& folder, const std::string& method) {
  std::filesystem::create_directories(folder);
  write_file(folder / "config.json", config_of(method).dump());
  write_file(folder / "metrics.jsonl", metrics_of_run());
  write_file(folder / "trace.json", trace_of_run());
  write_file(folder / "summary.json", summary_of(method).dump());
}

/// A table's rows by their first cells.
inline std::map<std::string, std::map<std::string, std::string>> cells_of(
    const nlohmann::json& table) {
  std::map<std::string, std::map<std::string, std::string>> cells;
  for (const auto& row : table.at("rows"))
    for (std::size_t i = 0; i < row.size(); ++i) cells[row[0]][table.at("columns")[i]] = row[i];
  return cells;
}

}  // namespace lockstep::internal::report
