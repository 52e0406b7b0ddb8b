// Cuts large arrays into blocks of equal size and distributes them over OpenMP threads, the ones
// that torch and oneDNN use. A block's result never depends on the number of threads.
#pragma once

#include <cstddef>
#include <vector>

namespace lockstep::internal::optim {

/// Elements in a block.
inline constexpr std::size_t kBlock = 1 << 14;

/// Calls work(context, number, from, count) for each block of [begin, begin + count), on several
/// threads if there are many blocks. REQUIRES: work does not throw.
void run_blocks(std::size_t begin, std::size_t count, void* context,
                void (*work)(void* context, std::size_t number, std::size_t from,
                             std::size_t count));

/// The same for a callable object: work(from, count).
template <typename Work>
void for_blocks(std::size_t begin, std::size_t count, Work work) {
  run_blocks(begin, count, &work,
             [](void* context, std::size_t, std::size_t from, std::size_t size) {
               (*static_cast<Work*>(context))(from, size);
             });
}

/// The sum of term(from, count), a double, over all blocks, added in block order.
template <typename Term>
double sum_over_blocks(std::size_t begin, std::size_t count, Term term) {
  struct Terms {
    Term& term;
    std::vector<double> values;
  } terms{term, std::vector<double>((count + kBlock - 1) / kBlock)};
  run_blocks(begin, count, &terms,
             [](void* context, std::size_t number, std::size_t from, std::size_t size) {
               auto& all = *static_cast<Terms*>(context);
               all.values[number] = all.term(from, size);
             });
  double sum = 0;
  for (double value : terms.values) sum += value;
  return sum;
}

}  // namespace lockstep::internal::optim
