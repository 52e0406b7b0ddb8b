// What `auto` picks where LOCKSTEP_AUTO_TABLE says nothing else, in the format of that file. What
//   lockstep bench --transport shm,gloo --workers 2,4 --sizes 4K,64K,1M,16M,36M --table -
// prints can stand in its place, less what only holds for the machine that it ran on.
#include "comm/auto_table.h"

namespace lockstep::comm {

namespace {

// Where ranks share memory nothing beats reading the others' arrays. Over a network few steps count
// while an array is short, few bytes once it is long; a library's own collectives know their
// network.
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

}  // namespace lockstep::comm
