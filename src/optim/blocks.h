// Work on large arrays, cut into blocks of one size and shared out over the threads that torch and
// oneDNN compute with. What is computed for a block never depends on how many threads there are.
#pragma once

#include <cstddef>
#include <vector>

namespace lockstep::optim {

/// Elements of a block.
inline constexpr std::size_t kBlock = 1 << 14;

/// Calls work(context, number, from, count) for each block of [begin, begin + count), from several
/// threads where there are many. It must not throw.
void share_out(std::size_t begin, std::size_t count, void* context,
               void (*work)(void* context, std::size_t number, std::size_t from,
                            std::size_t count));

/// The same for anything that can be called with (from, count).
template <typename Work>
void for_blocks(std::size_t begin, std::size_t count, Work work) {
  share_out(begin, count, &work,
            [](void* context, std::size_t, std::size_t from, std::size_t size) {
              (*static_cast<Work*>(context))(from, size);
            });
}

/// The sum of what term(from, count), a double, is for each block; added in the order of the
/// blocks.
template <typename Term>
double sum_over_blocks(std::size_t begin, std::size_t count, Term term) {
  struct Terms {
    Term& term;
    std::vector<double> values;
  } terms{term, std::vector<double>((count + kBlock - 1) / kBlock)};
  share_out(begin, count, &terms,
            [](void* context, std::size_t number, std::size_t from, std::size_t size) {
              auto& all = *static_cast<Terms*>(context);
              all.values[number] = all.term(from, size);
            });
  double sum = 0;
  for (double value : terms.values) sum += value;
  return sum;
}

}  // namespace lockstep::optim
