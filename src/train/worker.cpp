#include "train/worker.h"

#include <lockstep/error.h>

#include "data/sampler.h"
#include "engine/torch/torch_engine.h"
#include "models/safetensors.h"
#include "optim/sgd.h"
#include "train/dataset.h"
#include "train/run_folder.h"

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace lockstep::train {

namespace {

std::unique_ptr<engine::Engine> make_engine(const TrainConfig& config, const Dataset& dataset) {
  auto engine = engine::make_torch_engine({.model = config.model,
                                           .type = config.type(),
                                           .images = dataset.train.shape(),
                                           .seed = config.seed});
  if (!config.init.empty())
    engine->load(models::read_safetensors(config.init), config.init.string());
  return engine;
}

sync::BucketOptions bucket_options(const TrainConfig& config) {
  auto bytes = [](double megabytes) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(megabytes * (1 << 20)));
  };
  return {bytes(config.first_bucket_mb), bytes(config.bucket_mb)};
}

template <typename T>
std::unique_ptr<optim::Optimizer> make_optimizer(ArrayView weights, ArrayView gradients,
                                                 const TrainConfig& config) {
  return optim::make_sgd<T>({static_cast<T*>(weights.data), weights.count},
                            {static_cast<const T*>(gradients.data), gradients.count},
                            {.learning_rate = config.learning_rate,
                             .momentum = config.momentum,
                             .weight_decay = config.weight_decay});
}

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

class Worker {
 public:
  Worker(Group group, const TrainConfig& config, Progress& progress)
      : group_(std::move(group)),
        config_(config),
        progress_(progress),
        dataset_(open_dataset(config)),
        sampler_({dataset_.train_size, config.batch, config.seed, config.shuffle}),
        engine_(make_engine(config, dataset_)),
        gradients_(group_, engine_->parameters(),
                   sync::Layout(engine_->parameters(), engine_->type(), bucket_options(config))),
        weights_(group_.allocate(gradients_.layout().bytes())),
        method_(sync::make_sync_method(config.method(), group_, gradients_)),
        recorder_(group_,
                  [this](int rank, std::span<const Record> records) { keep(rank, records); }) {
    const ArrayView weights(weights_.data(), gradients_.layout().size(), engine_->type());
    engine_->bind(weights, gradients_, [this](std::size_t i) { method_->ready(i); });
    group_.broadcast(weights);
    optimizer_ = engine_->type() == DataType::float32
                     ? make_optimizer<float>(weights, gradients_.all(), config)
                     : make_optimizer<double>(weights, gradients_.all(), config);
    if (group_.rank() == 0) {
      records_.resize(static_cast<std::size_t>(group_.size()));
      if (!config.run_dir.empty()) folder_.emplace(config.run_dir, config);
    }
  }

  ~Worker() { engine_.reset(); }  // its hooks write into the gradients, which must outlive it
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Summary run() {
    const std::size_t iterations = planned_iterations();
    if (group_.rank() == 0) progress_.started(config_, iterations, dataset_.train_size);
    group_.barrier();
    const double start = now_seconds();
    std::size_t epoch = 0;
    while (done_ < iterations) train_epoch(++epoch, iterations);
    const double seconds = now_seconds() - start;
    return finish(epoch, seconds);
  }

 private:
  std::size_t planned_iterations() const {
    const std::size_t unlimited = std::numeric_limits<std::size_t>::max();
    const std::size_t by_epochs =
        config_.epochs > 0 ? config_.epochs * sampler_.batches_per_epoch() : unlimited;
    return std::min(by_epochs, config_.iterations > 0 ? config_.iterations : unlimited);
  }

  void train_epoch(std::size_t epoch, std::size_t iterations) {
    for (std::size_t k = 0; k < sampler_.batches_per_epoch() && done_ < iterations; ++k) {
      const Record record = step(epoch, k);
      recorder_.add(record);
      if (group_.rank() == 0)
        progress_.iteration(done_, iterations, record.loss_sum / std::max(1.0, record.samples),
                            record.times.total);
    }
    for (auto& rank : epoch_records_) rank.clear();
    recorder_.flush();
    if (group_.rank() == 0) progress_.epoch(epoch, epoch_records_);
  }

  /// One iteration: the line from sampler to optimizer.
  Record step(std::size_t epoch, std::size_t k) {
    Record record;
    observe::Times& times = record.times;
    const Counters before = group_.counters();
    {
      observe::Span total(times.total);
      const std::span<const std::uint32_t> global = sampler_.batch(epoch, k);
      const data::Range mine = data::share(global.size(), group_.rank(), group_.size());
      {
        observe::Span span(times.data);
        dataset_.train.load(global.subspan(mine.begin, mine.size()), batch_);
      }
      engine::Score score;
      {
        observe::Span span(times.forward);
        score = engine_->forward(batch_);
      }
      {
        // The average of the ranks' gradients must be the mean over the global batch, even where
        // the ranks' shares of it differ in size.
        observe::Span span(times.backward);
        engine_->backward(static_cast<double>(mine.size()) * group_.size() /
                          static_cast<double>(global.size()));
      }
      {
        observe::Span span(times.exposed);
        method_->finish();
      }
      {
        observe::Span span(times.optimizer);
        method_->step(*optimizer_);
      }
      record.loss_sum = score.loss_sum;
      record.correct = static_cast<double>(score.correct);
      record.samples = static_cast<double>(score.samples);
    }
    const Counters after = group_.counters();
    times.communication = after.seconds - before.seconds;
    times.wait = after.wait_seconds - before.wait_seconds;
    record.bytes = static_cast<double>(after.bytes - before.bytes);
    record.epoch = static_cast<double>(epoch);
    record.iteration = static_cast<double>(++done_);
    record.lr = config_.learning_rate;
    return record;
  }

  /// On rank 0: a rank's records of the epoch that just ended.
  void keep(int rank, std::span<const Record> records) {
    const auto index = static_cast<std::size_t>(rank);
    epoch_records_.resize(records_.size());
    epoch_records_[index].assign(records.begin(), records.end());
    records_[index].insert(records_[index].end(), records.begin(), records.end());
    if (!folder_) return;
    folder_->add_iterations(rank, records);
    folder_->add_epoch(rank, records);
  }

  Summary finish(std::size_t epochs, double seconds) {
    const engine::Score test = evaluate();
    const std::string weights = models::weights_sha256(engine_->parameter_state());
    const std::vector<std::string> hashes = gather_hashes(weights);
    const std::vector<double> peaks = gather_peaks();
    if (group_.rank() != 0) return {};

    Summary summary = describe();
    summary.epochs = epochs;
    summary.iterations = done_;
    summary.seconds_total = seconds;
    summary.seconds_per_epoch = seconds / static_cast<double>(epochs);
    summary.test_loss = test.loss_sum / static_cast<double>(test.samples);
    summary.test_accuracy = static_cast<double>(test.correct) / static_cast<double>(test.samples);
    summary.weights_sha256 = weights;
    summary.buffers_sha256 = models::weights_sha256(engine_->buffer_state());
    summarise(records_, summary);
    double images = 0;
    for (const auto& rank : records_)
      for (const Record& record : rank) images += record.samples;
    summary.images_per_second = images / seconds;
    for (std::size_t rank = 0; rank < records_.size(); ++rank) {
      summary.ranks[rank].weights_sha256 = hashes[rank];
      summary.ranks[rank].peak_rss_bytes = static_cast<std::uint64_t>(peaks[rank]);
      summary.peak_rss_bytes = std::max(summary.peak_rss_bytes, summary.ranks[rank].peak_rss_bytes);
    }
    write(summary);
    return summary;
  }

  Summary describe() const {
    const sync::Method method = config_.method();
    Summary summary;
    summary.method = method.method;
    summary.sync = method.sync;
    summary.algorithm = name_of(method.algorithm);
    summary.transport = group_.transport();
    summary.model = config_.model;
    summary.data = config_.data;
    summary.workers = group_.size();
    summary.threads = config_.threads_per_worker();
    summary.global_batch = config_.batch;
    return summary;
  }

  void write(const Summary& summary) {
    if (!config_.save.empty()) {
      std::vector<models::StoredTensor> state = engine_->parameter_state();
      for (auto& buffer : engine_->buffer_state()) state.push_back(std::move(buffer));
      models::write_safetensors(config_.save, state);
    }
    if (folder_) {
      folder_->add_test(records_[0].back(), summary.test_loss, summary.test_accuracy);
      folder_->finish(summary);
    }
    for (const RankSummary& rank : summary.ranks)
      if (rank.weights_sha256 != summary.weights_sha256)
        throw InternalError(fmt::format(
            "the weights of rank {} differ from those of rank 0 after {} iterations of {}",
            rank.rank, summary.iterations, summary.method));
  }

  /// Every test image once, shared out over the ranks.
  engine::Score evaluate() {
    constexpr std::size_t kBatch = 250;
    const data::Range mine = data::share(dataset_.test_size, group_.rank(), group_.size());
    std::vector<std::uint32_t> indices;
    std::vector<double> sums(3);
    for (std::size_t begin = mine.begin; begin < mine.end; begin += kBatch) {
      indices.clear();
      for (std::size_t i = begin; i < std::min(begin + kBatch, mine.end); ++i)
        indices.push_back(static_cast<std::uint32_t>(i));
      dataset_.test.load(indices, batch_);
      const engine::Score score = engine_->evaluate(batch_);
      sums[0] += score.loss_sum;
      sums[1] += static_cast<double>(score.correct);
      sums[2] += static_cast<double>(score.samples);
    }
    group_.all_reduce(sums);
    return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
  }

  std::vector<std::string> gather_hashes(const std::string& mine) {
    const auto ranks = static_cast<std::size_t>(group_.rank() == 0 ? group_.size() : 0);
    std::vector<std::uint8_t> all(ranks * mine.size());
    group_.gather(std::vector<std::uint8_t>(mine.begin(), mine.end()), all);
    std::vector<std::string> hashes;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
      hashes.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(mine.size()));
    }
    return hashes;
  }

  std::vector<double> gather_peaks() {
    std::vector<double> all(static_cast<std::size_t>(group_.rank() == 0 ? group_.size() : 0));
    group_.gather(std::vector<double>{static_cast<double>(peak_rss_bytes())}, all);
    return all;
  }

  Group group_;
  const TrainConfig& config_;
  Progress& progress_;
  Dataset dataset_;
  data::Sampler sampler_;
  data::Batch batch_;
  std::unique_ptr<engine::Engine> engine_;
  sync::Gradients gradients_;
  Memory weights_;
  std::unique_ptr<sync::SyncMethod> method_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::size_t done_ = 0;  ///< iterations

  Recorder recorder_;
  std::vector<std::vector<Record>> records_;        ///< on rank 0: of the whole run, by rank
  std::vector<std::vector<Record>> epoch_records_;  ///< on rank 0: of the last epoch
  std::optional<RunFolder> folder_;                 ///< on rank 0
};

}  // namespace

Summary train_worker(Group group, const TrainConfig& config, Progress& progress) {
  config.validate();
  engine::use_threads(config.threads_per_worker());
  return Worker(std::move(group), config, progress).run();
}

}  // namespace lockstep::train
