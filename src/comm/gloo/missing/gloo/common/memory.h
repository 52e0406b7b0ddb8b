// Debian's libgloo-dev leaves out this header, which its headers for TCP include. It declares three
// handles that Gloo keeps to a buffer; here they are as far as those headers need them. Their
// layout (one smart pointer each) is that of the library, which alone makes and uses them.
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
