// One round of MPI_Allreduce, in a separate program because mpirun must start it:
//
//   mpirun -n 2 mpi_all_reduce BYTES SECONDS
//
// Rank 0 prints the seconds per repetition and the number of wrong elements.
#include "round.h"

#include <cstdio>
#include <cstdlib>
#include <mpi.h>

namespace lockstep::internal::benchmarks {

namespace {

class MpiContender : public Contender {
 public:
  explicit MpiContender(std::size_t count) : values_(count) {}

  std::span<float> values() override { return values_; }
  void all_reduce() override {
    MPI_Allreduce(MPI_IN_PLACE, values_.data(), static_cast<int>(values_.size()), MPI_FLOAT,
                  MPI_SUM, MPI_COMM_WORLD);
  }

 private:
  std::vector<float> values_;
};

class MpiRanks : public Ranks {
 public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  double max(double value) override {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

void run(std::size_t bytes, double seconds) {
  MpiContender contender(bytes / sizeof(float));
  MpiRanks ranks;
  const Round round = measure_round(contender, ranks, seconds);
  if (ranks.rank() == 0)
    std::printf("%.9f %llu\n", round.seconds, static_cast<unsigned long long>(round.wrong));
}

}  // namespace

}  // namespace lockstep::internal::benchmarks

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // Only the program all_reduce starts this one, so its arguments are valid.
  if (argc == 3)
    lockstep::internal::benchmarks::run(std::strtoull(argv[1], nullptr, 10),
                                        std::strtod(argv[2], nullptr));
  MPI_Finalize();
  return argc == 3 ? 0 : 2;
}
