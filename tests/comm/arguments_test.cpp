// Arguments that would be used after their lifetime do not compile; arguments that can only be
// checked at run time are errors.
#include <lockstep/error.h>
#include <lockstep/group.h>

#include "support/errors.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace lockstep::internal {
namespace {

using Floats = std::vector<float>;

template <typename T>
concept ReadLater = requires(Group group, T&& value, Floats& out) {
  group.reduce_scatter_async(std::forward<T>(value), out);
  group.all_gather_async(std::forward<T>(value), out);
  group.gather_async(std::forward<T>(value), out);
  group.scatter_async(std::forward<T>(value), out);
  group.isend(std::forward<T>(value), 0);
};
template <typename T>
concept ReadLaterInBraces = requires(Group group, T&& value, Floats& out) {
  group.all_gather_async({std::forward<T>(value)}, out);
};
template <typename T>
concept SomeReadLater = requires(Group group, T&& value, Floats& out) {
  group.reduce_scatter_async(std::forward<T>(value), out);
}
|| requires(Group group, T&& value, Floats& out) {
  group.all_gather_async(std::forward<T>(value), out);
}
|| requires(Group group, T&& value, Floats& out) {
  group.gather_async(std::forward<T>(value), out);
}
|| requires(Group group, T&& value, Floats& out) {
  group.scatter_async(std::forward<T>(value), out);
}
|| requires(Group group, T&& value) {
  group.isend(std::forward<T>(value), 0);
};
template <typename T>
concept WrittenLater = requires(Group group, T&& value) {
  group.all_reduce_async(std::forward<T>(value));
}
|| requires(Group group, T&& value) {
  group.irecv(std::forward<T>(value), 0);
};
template <typename T>
concept ReadNow = requires(Group group, T&& value, Floats& out) {
  group.reduce_scatter(std::forward<T>(value), out);
  group.all_gather(std::forward<T>(value), out);
  group.gather(std::forward<T>(value), out);
  group.scatter(std::forward<T>(value), out);
  group.send(std::forward<T>(value), 0);
};
template <typename T>
concept GivesSpan = requires(T&& memory) {
  std::forward<T>(memory).template as<float>();
};

static_assert(ReadLater<Floats&> && ReadLater<const Floats&>);
static_assert(ReadLater<std::span<float>> && ReadLater<std::span<const float>>);
static_assert(ReadLater<ArrayView> && ReadLater<ConstArrayView>);
static_assert(ReadLaterInBraces<Floats&>);

static_assert(!SomeReadLater<Floats> && !SomeReadLater<const Floats>);
static_assert(!ReadLaterInBraces<Floats> && !ReadLaterInBraces<const Floats>);
static_assert(!SomeReadLater<std::initializer_list<float>>);
static_assert(!WrittenLater<Floats> && !WrittenLater<const Floats&>);
static_assert(!GivesSpan<Memory> && GivesSpan<Memory&> && GivesSpan<const Memory&>);

static_assert(ReadNow<Floats> && ReadNow<const Floats>, "a blocking call reads before it returns");

TEST(Arguments, NullPointersWithALengthAreErrors) {
  run_threads(1, [](Group group) {
    const ArrayView null(nullptr, 3, DataType::float32);
    Floats out(3);
    const auto refused = [](const char* operation, const std::function<void()>& call) {
      testing::expect_error<UsageError>(call, {operation, "rank 0", "null pointer for 3 float32"});
    };
    refused("all_reduce", [&] { group.all_reduce(null); });
    refused("all_reduce", [&] { group.all_reduce_async(null); });
    refused("reduce", [&] { group.reduce(null); });
    refused("reduce_scatter", [&] { group.reduce_scatter(null, out); });
    refused("reduce_scatter", [&] { group.reduce_scatter(out, null); });
    refused("broadcast", [&] { group.broadcast(null); });
    refused("all_gather", [&] { group.all_gather(null, out); });
    refused("all_gather", [&] { group.all_gather(out, null); });
    refused("gather", [&] { group.gather(null, out); });
    refused("gather", [&] { group.gather(out, null); });
    refused("scatter", [&] { group.scatter(null, out); });
    refused("scatter", [&] { group.scatter(out, null); });
    group.all_reduce(ArrayView{});  // no length, no array
    group.all_reduce(out);          // the group still works
  });
}

TEST(Arguments, NullPointersInMessagesAreErrors) {
  run_threads(2, [](Group group) {
    const ArrayView null(nullptr, 3, DataType::float32);
    const int peer = 1 - group.rank();
    testing::expect_error<UsageError>([&] { group.send(null, peer); }, {"send", "null pointer"});
    testing::expect_error<UsageError>([&] { group.irecv(null, peer); }, {"recv", "null pointer"});
    group.barrier();
  });
}

}  // namespace
}  // namespace lockstep::internal
