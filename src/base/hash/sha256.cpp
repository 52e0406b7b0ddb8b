#include "base/hash/sha256.h"

#include "base/check.h"

#include <fmt/format.h>
#include <openssl/evp.h>

namespace lockstep::internal {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  LOCKSTEP_CHECK(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1,
                 "SHA-256 is missing");
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, std::size_t bytes) {
  LOCKSTEP_CHECK(EVP_DigestUpdate(context_->evp, data, bytes) == 1, "SHA-256 failed");
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  LOCKSTEP_CHECK(EVP_DigestFinal_ex(context_->evp, digest, &length) == 1, "SHA-256 failed");
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace lockstep::internal
