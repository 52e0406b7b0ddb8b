// A repeated step allocates nothing. Only allocations of our own code count: oneDNN's library makes
// some small ones for every primitive.
#include "engine/onednn_support.h"
#include "models/model_names.h"
#include "optim/sgd.h"

#include <atomic>
#include <cstdlib>
#include <new>

extern const char __executable_start, etext;  // set by the linker: the bounds of the program's code

namespace {

thread_local bool counting = false;
thread_local std::size_t allocations = 0;

void* allocate(std::size_t bytes, const void* caller) {
  const auto* code = static_cast<const char*>(caller);
  if (counting && code >= &__executable_start && code < &etext) ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes, __builtin_return_address(0));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace lockstep::internal::engine {
namespace {

TEST(OnednnAllocations, AreNoneInARepeatedStep) {
  for (const char* model : {"lenet5", "vgg11", "resnet18"}) {
    const data::ImageShape images = models::images_of(model);
    const data::Batch batch = random_batch(images, 4);
    run_threads(1, [&](const Group& group) {
      BoundEngine bound(group, make_onednn_engine({.model = model, .images = images, .batch = 4}));
      bound.ready.reserve(1000);
      const std::size_t count = bound.gradients.layout().size();
      const auto sgd = optim::make_sgd<float>(
          bound.memory.as<float>().first(count),
          {static_cast<const float*>(bound.gradients.all().data), count}, {.momentum = 0.9});
      auto step = [&] {
        bound.train(batch);
        sgd->step(0, count);
        bound.engine->evaluate(batch);
      };
      step();
      allocations = 0;
      counting = true;
      std::vector<int> seen(1);
      EXPECT_EQ(allocations, 1u) << "nothing is counted";
      step();
      counting = false;
      EXPECT_EQ(allocations, 1u) << model;
    });
  }
}

}  // namespace
}  // namespace lockstep::internal::engine
