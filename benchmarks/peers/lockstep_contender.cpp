#include <lockstep/group.h>

#include "contender.h"

namespace lockstep::internal::benchmarks {

namespace {

class LockstepContender : public Contender {
 public:
  explicit LockstepContender(const Setting& setting)
      : group_(setting.group), memory_(group_.allocate(setting.count * sizeof(float))) {}

  std::span<float> values() override { return memory_.as<float>(); }
  void all_reduce() override { group_.all_reduce(values()); }

 private:
  Group group_;
  Memory memory_;
};

}  // namespace

std::unique_ptr<Contender> make_lockstep(const Setting& setting) {
  return std::make_unique<LockstepContender>(setting);
}

}  // namespace lockstep::internal::benchmarks
