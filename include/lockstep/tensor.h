// Collectives and messages on torch tensors. Each function does what the function of the same name
// in Group does (group.h), with tensors in place of arrays:
//
//     lockstep::all_reduce(group, tensor, lockstep::ReduceOp::average);
//
// Tensors: dense, contiguous, on the CPU, and of type float32, float64, float16, bfloat16, int32,
// int64 or uint8. Anything else throws UsageError before data move, on this rank alone. The shape
// is free: ranks must agree on the number of elements and the type.
//
// Autograd: the functions write into a tensor's memory. Autograd does not record it, and no
// gradient flows through it.
//
// Lifetime: an asynchronous collective keeps its tensors alive until it has ended. A Work from
// isend() or irecv() keeps its tensor alive: keep that Work until it was waited for.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

namespace lockstep {

/// The memory of a tensor, for the functions of Group. It owns nothing: the tensor must outlive the
/// call, or the Work, that the view is passed to. A tensor of no elements has a view of none.
/// Throws UsageError for a tensor that is undefined, sparse, not on the CPU, of another type than
/// those of DataType, or not contiguous (a transposed or channels-last one, say).
ArrayView view(const torch::Tensor& tensor);

/// Combines the tensors of all ranks element by element; every rank gets the result.
void all_reduce(Group group, const torch::Tensor& tensor, ReduceOp op = ReduceOp::sum,
                Algorithm algorithm = Algorithm::automatic);
/// Starts an all_reduce().
Work all_reduce_async(Group group, const torch::Tensor& tensor, ReduceOp op = ReduceOp::sum,
                      Algorithm algorithm = Algorithm::automatic);

/// Combines the tensors of all ranks; root gets the result, and the tensors of other ranks have
/// undefined values afterwards.
void reduce(Group group, const torch::Tensor& tensor, ReduceOp op = ReduceOp::sum, int root = 0,
            Algorithm algorithm = Algorithm::automatic);
/// Starts a reduce().
Work reduce_async(Group group, const torch::Tensor& tensor, ReduceOp op = ReduceOp::sum,
                  int root = 0, Algorithm algorithm = Algorithm::automatic);

/// Combines the tensors `all` of all ranks; rank r gets part r of the result in `mine`. `all` has
/// size() times the elements of `mine`.
void reduce_scatter(Group group, const torch::Tensor& all, const torch::Tensor& mine,
                    ReduceOp op = ReduceOp::sum, Algorithm algorithm = Algorithm::automatic);
/// Starts a reduce_scatter().
Work reduce_scatter_async(Group group, const torch::Tensor& all, const torch::Tensor& mine,
                          ReduceOp op = ReduceOp::sum, Algorithm algorithm = Algorithm::automatic);

/// Copies root's tensor to all ranks.
void broadcast(Group group, const torch::Tensor& tensor, int root = 0,
               Algorithm algorithm = Algorithm::automatic);
/// Starts a broadcast().
Work broadcast_async(Group group, const torch::Tensor& tensor, int root = 0,
                     Algorithm algorithm = Algorithm::automatic);

/// Every rank gets the tensors `mine` of all ranks in `all`, in rank order. `all` has size() times
/// the elements of `mine`.
void all_gather(Group group, const torch::Tensor& mine, const torch::Tensor& all,
                Algorithm algorithm = Algorithm::automatic);
/// Starts an all_gather().
Work all_gather_async(Group group, const torch::Tensor& mine, const torch::Tensor& all,
                      Algorithm algorithm = Algorithm::automatic);

/// Root gets the tensors `mine` of all ranks in `all`, in rank order. `all` is ignored on other
/// ranks and may be undefined there.
void gather(Group group, const torch::Tensor& mine, const torch::Tensor& all, int root = 0);
/// Starts a gather().
Work gather_async(Group group, const torch::Tensor& mine, const torch::Tensor& all, int root = 0);

/// Rank r gets part r of root's tensor `all` in `mine`. `all` is ignored on other ranks and may be
/// undefined there.
void scatter(Group group, const torch::Tensor& all, const torch::Tensor& mine, int root = 0);
/// Starts a scatter().
Work scatter_async(Group group, const torch::Tensor& all, const torch::Tensor& mine, int root = 0);

/// Sends a tensor to rank `to`, which receives one of as many bytes with the same tag.
void send(Group group, const torch::Tensor& tensor, int to, int tag = 0);
/// Receives a tensor from rank `from`.
void recv(Group group, const torch::Tensor& tensor, int from, int tag = 0);
/// Starts a send(). Keep the Work until it was waited for.
Work isend(Group group, const torch::Tensor& tensor, int to, int tag = 0);
/// Starts a recv(). Keep the Work until it was waited for.
Work irecv(Group group, const torch::Tensor& tensor, int from, int tag = 0);

}  // namespace lockstep
