#include "comm/half.h"

#include <lockstep/types.h>

namespace lockstep {

using namespace internal;

Float16::Float16(float value) : bits(comm::float_to_float16(value)) {}
Float16::operator float() const {
  return comm::float16_to_float(bits);
}

BFloat16::BFloat16(float value) : bits(comm::float_to_bfloat16(value)) {}
BFloat16::operator float() const {
  return comm::bfloat16_to_float(bits);
}

}  // namespace lockstep
