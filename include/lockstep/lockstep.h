// All public headers.
#pragma once

#include <lockstep/compress.h>
#include <lockstep/ddp.h>
#include <lockstep/error.h>
#include <lockstep/group.h>
#include <lockstep/init.h>
#include <lockstep/join.h>
#include <lockstep/sampler.h>
#include <lockstep/sequential_trainer.h>
#include <lockstep/shared_state.h>
#include <lockstep/sync_batch_norm.h>
#include <lockstep/tensor.h>

/// Distributed data-parallel training for C++. Begin with init() and DistributedDataParallel, or
/// with Group for collectives without torch.
namespace lockstep {}
