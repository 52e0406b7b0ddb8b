#include "cli/data/fetch_printer.h"

#include "base/deadline.h"
#include "cli/bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace lockstep::internal::cli {

namespace {

std::string progress_of(std::uint64_t done, std::uint64_t total) {
  const bool small = total < 1'000'000;
  const double unit = small ? 1e3 : 1e6;
  return fmt::format("{:.1f} of {:.1f} {}", static_cast<double>(done) / unit,
                     static_cast<double>(total) / unit, small ? "kB" : "MB");
}

class Lines : public data::FetchObserver {
 public:
  explicit Lines(std::function<bool()> go_on) : go_on_(std::move(go_on)) {}

  void kept(const data::Archive& archive) override { say(archive, "exists already"); }
  void starting_over(const data::Archive& archive) override {
    quarter_ = 0;
    say(archive, "the partial download does not match: starting over");
  }
  void unpacked(const data::Archive& archive) override {
    quarter_ = 0;
    say(archive, "unpacked, checksums match");
  }

  /// Prints one line for every quarter.
  void received(const data::Archive& archive, std::uint64_t done, std::uint64_t total) override {
    if (total == 0 || 4 * done / total <= quarter_) return;
    quarter_ = 4 * done / total;
    say(archive, progress_of(done, total));
  }

  bool keep_running() override { return go_on_(); }

 protected:
  void say(const data::Archive& archive, const std::string& what) {
    fmt::print("{}: {}\n", archive.name, what);
    std::fflush(stdout);
  }

 private:
  std::function<bool()> go_on_;
  std::uint64_t quarter_ = 0;
};

class Bar : public Lines {
 public:
  using Lines::Lines;

  void received(const data::Archive& archive, std::uint64_t done, std::uint64_t total) override {
    const double now = now_seconds();
    if (total == 0 || (done < total && now - drawn_ < 0.1)) return;  // the full bar is always shown
    drawn_ = now;
    fmt::print("\r\033[K{} {}  {}", bar_of(std::min(done, total), total), archive.name,
               progress_of(done, total));
    std::fflush(stdout);
  }

  void starting_over(const data::Archive& archive) override {
    fmt::print("\r\033[K");
    Lines::starting_over(archive);
  }
  void unpacked(const data::Archive& archive) override {
    fmt::print("\r\033[K");
    Lines::unpacked(archive);
  }

 private:
  double drawn_ = 0;
};

}  // namespace

std::unique_ptr<data::FetchObserver> make_fetch_printer(bool terminal,
                                                        std::function<bool()> go_on) {
  if (terminal) return std::make_unique<Bar>(std::move(go_on));
  return std::make_unique<Lines>(std::move(go_on));
}

}  // namespace lockstep::internal::cli
