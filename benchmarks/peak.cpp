// peak [THREADS]: the peak rates of this machine. Arithmetic: float32 fused multiply-adds in
// registers, with the widest vectors of the processor. Memory: bytes copied per second.
#include "base/deadline.h"
#include "base/vector_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <immintrin.h>
#include <thread>
#include <vector>

namespace {

constexpr int kChains = 12;  // independent sums, enough to hide the latency of a multiply-add
constexpr long kRounds = 20'000'000;

// Each returns a sum, so that the compiler cannot remove the loop.
__attribute__((target("avx512f"))) float fuse_avx512() {
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1);
  const __m512 factor = _mm512_set1_ps(0.999f);
  for (long i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = _mm512_fmadd_ps(sums[chain], factor, factor);
  float total = 0;
  for (const __m512& sum : sums) total += _mm512_cvtss_f32(sum);
  return total;
}

__attribute__((target("avx2,fma"))) float fuse_avx2() {
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1);
  const __m256 factor = _mm256_set1_ps(0.999f);
  for (long i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
    for (int chain = 0; chain < kChains; ++chain)
      sums[chain] = _mm256_fmadd_ps(sums[chain], factor, factor);
  float total = 0;
  for (const __m256& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

/// Seconds of the fastest of five rounds, in which all threads work at the same time.
double fastest_seconds(int threads, const std::function<void(int thread)>& work) {
  double fastest = 1e9;
  for (int round = 0; round < 5; ++round) {
    std::barrier start(threads + 1);
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread)
      workers.emplace_back([&, thread] {
        start.arrive_and_wait();
        work(thread);
      });
    start.arrive_and_wait();
    const double begin = lockstep::internal::now_seconds();
    workers.clear();  // waits for them
    fastest = std::min(fastest, lockstep::internal::now_seconds() - begin);
  }
  return fastest;
}

void print_multiply_adds(int threads) {
  const bool wide = lockstep::internal::vector_unit() == lockstep::internal::VectorUnit::avx512;
  if (lockstep::internal::vector_unit() == lockstep::internal::VectorUnit::plain) {
    fmt::print("this processor has neither AVX-512 nor AVX2 with fused multiply-adds\n");
    return;
  }
  std::vector<float> sums(static_cast<std::size_t>(threads));
  const double seconds = fastest_seconds(threads, [&](int thread) {
    sums[static_cast<std::size_t>(thread)] = wide ? fuse_avx512() : fuse_avx2();
  });
  const double operations = 2.0 * kChains * static_cast<double>(kRounds) * (wide ? 16 : 8);
  fmt::print("{} threads, {}: {:.0f} GFLOP/s (sum {})\n", threads, wide ? "AVX-512" : "AVX2",
             1e-9 * operations * threads / seconds, sums[0]);
}

void print_copies(int threads) {
  constexpr std::size_t kBytes = 256u << 20;
  std::vector<std::vector<char>> memory(static_cast<std::size_t>(2 * threads),
                                        std::vector<char>(kBytes, 1));
  const double seconds = fastest_seconds(threads, [&](int thread) {
    const auto first = static_cast<std::size_t>(2 * thread);
    std::memcpy(memory[first].data(), memory[first + 1].data(), kBytes);
  });
  fmt::print("{} threads: {:.1f} GB/s copied (bytes read, and as many written)\n", threads,
             1e-9 * static_cast<double>(kBytes) * threads / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (threads < 1 || threads > 1024) {
    fmt::print(stderr, "peak: THREADS must be from 1 to 1024\n");
    return 2;
  }
  print_multiply_adds(threads);
  print_copies(threads);
}
