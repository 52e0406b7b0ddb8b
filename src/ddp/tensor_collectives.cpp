#include <lockstep/error.h>
#include <lockstep/tensor.h>

#include "comm/group_core.h"
#include "comm/operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <utility>

namespace lockstep {

using namespace internal;

namespace {

using Collective = comm::GroupCore::Collective;

std::optional<DataType> data_type_of(torch::ScalarType type) {
  constexpr std::array kTypes{std::pair{torch::kFloat32, DataType::float32},
                              std::pair{torch::kFloat64, DataType::float64},
                              std::pair{torch::kFloat16, DataType::float16},
                              std::pair{torch::kBFloat16, DataType::bfloat16},
                              std::pair{torch::kInt32, DataType::int32},
                              std::pair{torch::kInt64, DataType::int64},
                              std::pair{torch::kUInt8, DataType::uint8}};
  for (const auto& [theirs, ours] : kTypes)
    if (theirs == type) return ours;
  return std::nullopt;
}

/// What is wrong with the tensor, and what to do about it; empty if nothing is.
std::string objection_to(const torch::Tensor& tensor) {
  if (!tensor.defined()) return "the tensor is undefined: pass one that has memory";
  if (tensor.layout() != torch::kStrided) return "the tensor is not dense: pass tensor.to_dense()";
  if (!tensor.device().is_cpu())
    return fmt::format("the tensor is on device {}: copy it to the CPU first",
                       tensor.device().str());
  if (!data_type_of(tensor.scalar_type()))
    return fmt::format(
        "tensors of type {} are not supported: convert it to float32, float64, float16, bfloat16, "
        "int32, int64 or uint8",
        torch::toString(tensor.scalar_type()));
  if (tensor.is_neg()) return "the tensor is a lazy negation: pass tensor.resolve_neg()";
  if (!tensor.is_contiguous())
    return fmt::format(
        "the tensor of shape [{}] is not contiguous, its strides are [{}]: call contiguous() and "
        "pass the tensor that it returns",
        fmt::join(tensor.sizes(), ", "), fmt::join(tensor.strides(), ", "));
  return {};
}

/// The view of a tensor that only root has.
ArrayView root_view(const Group& group, const torch::Tensor& tensor, int root) {
  return group.rank() == root ? view(tensor) : ArrayView();
}

/// Submits a collective that owns its tensors.
template <typename... Tensors>
Work submit(const Group& group, Collective collective, const Tensors&... tensors) {
  collective.body = [body = std::move(collective.body),
                     owned = std::array<torch::Tensor, sizeof...(tensors)>{tensors...}](
                        const comm::Fingerprint& call) { body(call); };
  return Work(group.core()->submit(std::move(collective)));
}

}  // namespace

ArrayView view(const torch::Tensor& tensor) {
  if (const std::string objection = objection_to(tensor); !objection.empty())
    throw UsageError(objection);
  return {tensor.data_ptr(), static_cast<std::size_t>(tensor.numel()),
          *data_type_of(tensor.scalar_type())};
}

void all_reduce(Group group, const torch::Tensor& tensor, ReduceOp op, Algorithm algorithm) {
  group.all_reduce(view(tensor), op, algorithm);
}
Work all_reduce_async(Group group, const torch::Tensor& tensor, ReduceOp op, Algorithm algorithm) {
  return submit(group, comm::all_reduce(*group.core(), view(tensor), op, algorithm), tensor);
}

void reduce(Group group, const torch::Tensor& tensor, ReduceOp op, int root, Algorithm algorithm) {
  group.reduce(view(tensor), op, root, algorithm);
}
Work reduce_async(Group group, const torch::Tensor& tensor, ReduceOp op, int root,
                  Algorithm algorithm) {
  return submit(group, comm::reduce(*group.core(), view(tensor), op, root, algorithm), tensor);
}

void reduce_scatter(Group group, const torch::Tensor& all, const torch::Tensor& mine, ReduceOp op,
                    Algorithm algorithm) {
  group.reduce_scatter(view(all), view(mine), op, algorithm);
}
Work reduce_scatter_async(Group group, const torch::Tensor& all, const torch::Tensor& mine,
                          ReduceOp op, Algorithm algorithm) {
  return submit(group, comm::reduce_scatter(*group.core(), view(all), view(mine), op, algorithm),
                all, mine);
}

void broadcast(Group group, const torch::Tensor& tensor, int root, Algorithm algorithm) {
  group.broadcast(view(tensor), root, algorithm);
}
Work broadcast_async(Group group, const torch::Tensor& tensor, int root, Algorithm algorithm) {
  return submit(group, comm::broadcast(*group.core(), view(tensor), root, algorithm), tensor);
}

void all_gather(Group group, const torch::Tensor& mine, const torch::Tensor& all,
                Algorithm algorithm) {
  group.all_gather(view(mine), view(all), algorithm);
}
Work all_gather_async(Group group, const torch::Tensor& mine, const torch::Tensor& all,
                      Algorithm algorithm) {
  return submit(group, comm::all_gather(*group.core(), view(mine), view(all), algorithm), mine,
                all);
}

void gather(Group group, const torch::Tensor& mine, const torch::Tensor& all, int root) {
  group.gather(view(mine), root_view(group, all, root), root);
}
Work gather_async(Group group, const torch::Tensor& mine, const torch::Tensor& all, int root) {
  return submit(group, comm::gather(*group.core(), view(mine), root_view(group, all, root), root),
                mine, all);
}

void scatter(Group group, const torch::Tensor& all, const torch::Tensor& mine, int root) {
  group.scatter(root_view(group, all, root), view(mine), root);
}
Work scatter_async(Group group, const torch::Tensor& all, const torch::Tensor& mine, int root) {
  return submit(group, comm::scatter(*group.core(), root_view(group, all, root), view(mine), root),
                all, mine);
}

void send(Group group, const torch::Tensor& tensor, int to, int tag) {
  group.send(view(tensor), to, tag);
}
void recv(Group group, const torch::Tensor& tensor, int from, int tag) {
  group.recv(view(tensor), from, tag);
}
Work isend(Group group, const torch::Tensor& tensor, int to, int tag) {
  return group.isend(view(tensor), to, tag).then([tensor] {});
}
Work irecv(Group group, const torch::Tensor& tensor, int from, int tag) {
  return group.irecv(view(tensor), from, tag).then([tensor] {});
}

}  // namespace lockstep
