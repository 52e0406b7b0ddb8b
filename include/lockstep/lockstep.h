// All of Lockstep that a program needs.
#pragma once

#include <lockstep/ddp.h>
#include <lockstep/error.h>
#include <lockstep/group.h>
#include <lockstep/init.h>
#include <lockstep/join.h>
#include <lockstep/sampler.h>
#include <lockstep/sequential_trainer.h>
#include <lockstep/shared_state.h>
#include <lockstep/sync_batch_norm.h>
