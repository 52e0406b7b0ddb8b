// Checks of optimizer options. Each function throws UsageError for a value out of range.
#pragma once

namespace lockstep::internal::optim {

void require_learning_rate(double rate);         ///< 0 or more
void require_weight_decay(double decay);         ///< 0 or more
void require_momentum(double momentum);          ///< from 0 to below 1
void require_nesterov(double momentum);          ///< more than 0
void require_betas(double beta1, double beta2);  ///< each from 0 to below 1
void require_epsilon(double epsilon);            ///< more than 0
void require_trust(double trust);                ///< more than 0

}  // namespace lockstep::internal::optim
