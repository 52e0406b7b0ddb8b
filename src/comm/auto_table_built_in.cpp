// The built-in table of `auto`, used unless LOCKSTEP_AUTO_TABLE names a file; same format as that
// file. To update it, take the output of
//   lockstep bench --transport shm,gloo --workers 2,4 --sizes 4K,64K,1M,16M,36M --table -
// without the entries that hold only for the machine it ran on.
#include "comm/auto_table.h"

namespace lockstep::internal::comm {

namespace {

// With shared memory, reading the others' arrays directly is always fastest. Over a network, short
// arrays need few steps and long arrays need few bytes; a library's own collectives are tuned for
// its network.
constexpr std::string_view kText =
    R"(# transport  ranks    bytes  algorithm
thread         any      any  direct
shm            any      any  direct
shm+gloo       any      any  hierarchical
shm+mpi        any      any  hierarchical
mpi            any      any  native
mpi            any      32K  tree
mpi            any       1M  halving-doubling
mpi            any      any  ring
gloo             2      any  halving-doubling
gloo           any      32K  tree
gloo           any       1M  halving-doubling
gloo           any      any  ring
)";

}  // namespace

const AutoTable& built_in_auto_table() {
  static const AutoTable table = parse_auto_table(kText, "the built-in table");
  return table;
}

}  // namespace lockstep::internal::comm
