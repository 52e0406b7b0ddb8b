#include "engine/torch/operation_trace.h"

#include "base/check.h"

#include <memory>

namespace lockstep::internal::engine {

namespace {

// Torch's callbacks are plain functions, so the trace is passed in a thread-local variable.
thread_local observe::Trace* current = nullptr;

struct Begun : at::ObserverContext {
  double moment = now_seconds();
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction&) {
  return std::make_unique<Begun>();
}

void end(const at::RecordFunction& function, at::ObserverContext* context) {
  // Torch may run this thread's callbacks on another thread, which has no trace.
  if (!current || !context) return;
  current->add({.kind = observe::EventKind::operation,
                .name = function.name(),
                .begin = static_cast<Begun*>(context)->moment,
                .end = now_seconds()});
}

}  // namespace

OperationTrace::OperationTrace(observe::Trace& trace) {
  LOCKSTEP_CHECK(!current, "the operations of this thread are traced already");
  current = &trace;
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(begin, end)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

OperationTrace::~OperationTrace() {
  at::removeCallback(handle_);
  current = nullptr;
}

}  // namespace lockstep::internal::engine
