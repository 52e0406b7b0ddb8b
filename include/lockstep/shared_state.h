// Copies training state beyond weights from rank 0 to all ranks: for a group in which rank 0 alone
// has read a checkpoint, or which has new members.
//
// DistributedDataParallel copies parameters and buffers at construction. Call these functions after
// it, and broadcast your own step count with Group::broadcast().
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

namespace lockstep {

/// A collective: gives the optimizers of all ranks the state of rank 0's. That covers its options
/// (learning rate, momentum …, by parameter group) and its state of each parameter (momentum
/// buffers, moments, step counts); other state is dropped. For every optimizer that torch can save:
/// SGD, Adam, AdamW, Adagrad, RMSprop, LBFGS. Throws the same MismatchError on all ranks if their
/// optimizers have different types, or parameters that differ in number, shape or type.
void broadcast_state(Group group, torch::optim::Optimizer& optimizer);

/// A collective: gives torch's random number generator for the CPU the state of rank 0's on all
/// ranks. Dropout then draws the same numbers on all ranks, which is usually not wanted in
/// data-parallel training. Ranks that are threads of one process share one generator: there it
/// changes nothing.
void broadcast_random_state(Group group);

}  // namespace lockstep
