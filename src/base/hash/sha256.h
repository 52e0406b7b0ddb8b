// SHA-256 of bytes that arrive in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace lockstep::internal {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(const void* data, std::size_t bytes);

  /// The digest as 64 lower-case hexadecimal digits. Ends the computation.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace lockstep::internal
