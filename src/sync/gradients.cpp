#include "sync/gradients.h"

namespace lockstep::sync {

Gradients::Gradients(Group& group, std::vector<Parameter> parameters, Layout layout)
    : parameters_(std::move(parameters)),
      layout_(std::move(layout)),
      memory_(group.allocate(layout_.bytes())) {}

}  // namespace lockstep::sync
