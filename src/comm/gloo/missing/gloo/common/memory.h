// Debian's libgloo-dev lacks this header, which its TCP headers include. It declares three handles
// that Gloo keeps to a buffer; this file declares as much of them as those headers need. Their
// layout (one smart pointer each) matches the library, which alone creates and uses them.
#pragma once

#include <memory>

namespace gloo {

template <typename T>
class ShareableNonOwningPtr {
 public:
  const std::shared_ptr<T>& pointer() const { return pointer_; }

 private:
  std::shared_ptr<T> pointer_;
};

template <typename T>
class WeakNonOwningPtr {
 public:
  WeakNonOwningPtr() = default;
  explicit WeakNonOwningPtr(const ShareableNonOwningPtr<T>& shared) : pointer_(shared.pointer()) {}

 private:
  std::weak_ptr<T> pointer_;
};

template <typename T>
class NonOwningPtr {
 private:
  std::shared_ptr<T> pointer_;
};

}  // namespace gloo
