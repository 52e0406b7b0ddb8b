// What a Work refers to.
#pragma once

namespace lockstep::comm {

class WorkState {
 public:
  virtual ~WorkState() = default;
  virtual void wait() = 0;
  virtual bool done() = 0;
};

}  // namespace lockstep::comm
