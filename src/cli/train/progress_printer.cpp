#include "cli/train/progress_printer.h"

#include <lockstep/error.h>

#include "base/deadline.h"
#include "base/table/quantities.h"
#include "cli/bar.h"
#include "cli/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace lockstep::internal::cli {

namespace {

/// To standard error, because programs may read the results from standard output.
void print_notice(const std::string& text) {
  put(stderr, "lockstep: {}\n", text);
}

class Silent : public train::Progress {
 public:
  void started(const train::TrainConfig&, std::size_t, std::size_t) override {}
  void notice(const std::string& text) override { print_notice(text); }
  void iteration(std::size_t, std::size_t, double, double) override {}
  void epoch(std::size_t, const std::vector<std::vector<run::Record>>&) override {}
};

/// Prints the losses of rank 0: means over its images of a step.
class Losses : public Silent {
 public:
  Losses(std::size_t log_every, std::FILE* out)
      : out_(out), log_every_(std::max<std::size_t>(1, log_every)) {}

  void iteration(std::size_t done, std::size_t iterations, double loss, double) override {
    if (!prints_after(done)) return;
    put(out_, "iteration {}/{}  rank 0  loss {:.4f}\n", done, iterations, loss);
    std::fflush(out_);
  }

  bool prints_after(std::size_t done) const { return done % log_every_ == 0; }

 protected:
  std::FILE* const out_;

 private:
  const std::size_t log_every_;
};

class Lines : public Losses {
 public:
  using Losses::Losses;

  void started(const train::TrainConfig& config, std::size_t iterations,
               std::size_t train_images) override {
    put(out_, "{} on {} images of {}: {} × {}, {}{}\n", config.model, train_images, config.data,
        counted(config.workers, "worker"), counted(config.threads_per_worker(), "thread"),
        config.workers == 1 ? ""
                            : fmt::format("{} over {}, ", config.method().method, config.transport),
        counted(static_cast<double>(iterations), "iteration"));
    print_recipe(config);
    std::fflush(out_);
  }

  void epoch(std::size_t epoch, const std::vector<std::vector<run::Record>>& records) override {
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      double loss = 0, correct = 0, samples = 0, seconds = 0, timed = 0;
      for (const run::Record& record : records[rank]) {
        loss += record.loss_sum;
        correct += record.correct;
        samples += record.samples;
        if (record.iteration == 1) continue;  // includes one-time setup
        seconds += record.times.total;
        timed += 1;
      }
      samples = std::max(samples, 1.0);
      put(out_, "epoch {}  rank {}  loss {:.4f}  accuracy {:.2f} %{}\n", epoch, rank,
          loss / samples, 100 * correct / samples,
          timed > 0 ? fmt::format("  {} per iteration", in_seconds(seconds / timed)) : "");
    }
    std::fflush(out_);
  }

  void tested(std::size_t epoch, const run::TestResults& test) override {
    put(out_, "epoch {}  test loss {:.4f}  accuracy {}\n", epoch, test.test_loss, test.text());
    std::fflush(out_);
  }

 private:
  void print_recipe(const train::TrainConfig& config) {
    const train::Recipe& recipe = config.recipe;
    put(out_, "global batch {}", config.batch);
    if (recipe.accumulate > 1) put(out_, " in {} parts a worker", recipe.accumulate);
    put(out_, ", {} with learning rate {:.6g}", recipe.optimizer, config.full_rate());
    if (recipe.lr_scale != "none")
      put(out_, " ({:.6g} for a batch of {}, {})", config.learning_rate, recipe.lr_batch,
          recipe.lr_scale == "sqrt" ? "by the square root" : "in proportion");
    if (recipe.schedule != "constant") put(out_, ", {}", recipe.schedule);
    if (recipe.warmup > 0)
      put(out_, ", warm-up of {} epoch{}", recipe.warmup, recipe.warmup == 1 ? "" : "s");
    put(out_, "\n");
  }
};

/// A progress bar, with lines above it if they are wanted.
class Bar : public train::Progress {
 public:
  Bar(std::optional<Lines> lines, std::FILE* out) : lines_(std::move(lines)), out_(out) {}

  void started(const train::TrainConfig& config, std::size_t iterations,
               std::size_t train_images) override {
    start_ = now_seconds();
    batch_ = config.batch;
    if (lines_) lines_->started(config, iterations, train_images);
  }

  void notice(const std::string& text) override {
    clear();
    std::fflush(out_);
    print_notice(text);
  }

  void iteration(std::size_t done, std::size_t iterations, double loss, double seconds) override {
    if (first_ == 0) first_ = done;  // a resumed run does not begin with 1
    const double now = now_seconds();
    const bool line = lines_ && lines_->prints_after(done);
    if (!line && done < iterations && now - drawn_ < 0.1) return;
    drawn_ = now;
    clear();
    if (line) lines_->iteration(done, iterations, loss, seconds);
    if (done < iterations) draw(done, iterations, loss, now);
    std::fflush(out_);
  }

  void epoch(std::size_t epoch, const std::vector<std::vector<run::Record>>& records) override {
    clear();
    if (lines_) lines_->epoch(epoch, records);
    std::fflush(out_);
  }

  void tested(std::size_t epoch, const run::TestResults& test) override {
    clear();
    if (lines_) lines_->tested(epoch, test);
    std::fflush(out_);
  }

 private:
  void clear() { put(out_, "\r\033[K"); }

  void draw(std::size_t done, std::size_t iterations, double loss, double now) {
    const double rate = static_cast<double>(done - first_ + 1) / (now - start_);
    put(out_, "{} {}/{}  loss {:.4f}  {} images/s  {} left", bar_of(done, iterations), done,
        iterations, loss, three_digits(rate * static_cast<double>(batch_)),
        in_seconds(static_cast<double>(iterations - done) / rate));
  }

  std::optional<Lines> lines_;
  std::FILE* const out_;
  double start_ = 0;
  std::size_t first_ = 0;  ///< first iteration of this start
  double drawn_ = 0;
  std::size_t batch_ = 0;
};

}  // namespace

std::string_view name_of(ProgressStyle style) {
  switch (style) {
    case ProgressStyle::silent:
      return "silent";
    case ProgressStyle::losses:
      return "losses";
    case ProgressStyle::lines:
      return "lines";
    case ProgressStyle::bar:
      return "bar";
    case ProgressStyle::lines_and_bar:
      return "lines-and-bar";
  }
  return "unknown";
}

ProgressStyle parse_progress_style(std::string_view name) {
  for (ProgressStyle style : {ProgressStyle::silent, ProgressStyle::losses, ProgressStyle::lines,
                              ProgressStyle::bar, ProgressStyle::lines_and_bar})
    if (name == name_of(style)) return style;
  throw UsageError(fmt::format("unknown progress style '{}'", name));
}

std::unique_ptr<train::Progress> make_progress(ProgressStyle style, std::size_t log_every,
                                               std::FILE* out) {
  switch (style) {
    case ProgressStyle::losses:
      return std::make_unique<Losses>(log_every, out);
    case ProgressStyle::lines:
      return std::make_unique<Lines>(log_every, out);
    case ProgressStyle::bar:
      return std::make_unique<Bar>(std::nullopt, out);
    case ProgressStyle::lines_and_bar:
      return std::make_unique<Bar>(Lines(log_every, out), out);
    default:
      return std::make_unique<Silent>();
  }
}

}  // namespace lockstep::internal::cli
