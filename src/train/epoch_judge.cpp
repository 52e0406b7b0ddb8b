#include "train/epoch_judge.h"

namespace lockstep::train {

bool EpochJudge::after_epoch(std::size_t epoch, std::size_t done) {
  tester_.test(done);
  enough_ = early_stop_.after_epoch(epoch, tester_.loss(), tester_.accuracy());
  return plateau_.after_epoch(tester_.loss());
}

Notes EpochJudge::notes() const {
  Notes notes = early_stop_.state();
  notes.merge(plateau_.state());
  return notes;
}

void EpochJudge::restore(const Notes& notes) {
  early_stop_.restore(notes);
  plateau_.restore(notes);
}

}  // namespace lockstep::train
