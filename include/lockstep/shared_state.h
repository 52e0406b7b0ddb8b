// What ranks must agree on beside weights, copied from rank 0: for a group that starts from what
// rank 0 alone has read, a checkpoint say, or that has new members.
//
// DistributedDataParallel copies parameters and buffers when it is made. Call these after it, and
// broadcast your own step count with Group::broadcast.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

namespace lockstep {

/// A collective: all ranks' optimizers go on as rank 0's does. They get its options (learning rate,
/// momentum …, by parameter group) and what it remembers of each parameter (momentum buffers,
/// moments, step counts), and forget what it does not have. For every optimizer that torch can
/// save: SGD, Adam, AdamW, Adagrad, RMSprop, LBFGS. Throws the same MismatchError on all ranks if
/// their optimizers are of different kinds, or are for parameters of different number, shape or
/// type.
void broadcast_state(Group group, torch::optim::Optimizer& optimizer);

/// A collective: torch's generator of random numbers for the CPU goes on as rank 0's does, on all
/// ranks. Their dropout then draws the same; that of data-parallel ranks usually should not. Ranks
/// that are threads of one process share one generator: there it changes nothing.
void broadcast_random_state(Group group);

}  // namespace lockstep
