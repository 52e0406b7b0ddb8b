# lockstep_mpi_test(NAME ranks FILTER): runs tests of lockstep_mpi_tests on that many ranks.
#   Traffic stays on this host. Some tests end without MPI_Finalize on purpose. Open MPI does not free
#   much of what it allocates, so leak detection is off; thread sanitizer cannot see its locks.
function(lockstep_mpi_test name ranks filter)
  set(as_root "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
  lockstep_test(${name} LABELS mpi TIMEOUT 600 COMMAND
    "${MPIEXEC_EXECUTABLE}" --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader
    --mca oob_tcp_if_include lo --mca mpi_yield_when_idle 1 --mca orte_allowed_exit_without_sync 1
    -n ${ranks} $<TARGET_FILE:lockstep_mpi_tests> --gtest_filter=${filter})
  set_property(TEST ${name} PROPERTY ENVIRONMENT "${as_root};ASAN_OPTIONS=detect_leaks=0")
endfunction()

if(NOT MPI_CXX_FOUND)
  lockstep_test(mpi LABELS mpi COMMAND lockstep_mpi_tests)
  set_property(TEST mpi PROPERTY SKIP_RETURN_CODE 77)
elseif(NOT LOCKSTEP_SANITIZE MATCHES thread)
  foreach(ranks 1 2 3 4 5 8)
    lockstep_mpi_test(mpi-${ranks} ${ranks} "-*.Last*")
  endforeach()
  foreach(last
    Close AbandonedSend AbandonedCollective MissingMember FinalizeSkippedByOneRank WireLeakedByOneRank)
    lockstep_mpi_test(mpi-last-${last} 2 "*.Last${last}")
  endforeach()
endif()
