# Sums up what the test programs counted, from the log of `ctest -V`. A fuzz target counts as one test.
/\[       OK \]/                        { passed++ }
/\[  FAILED  \].*\([0-9]+ ms\)$/        { failed++ }
/\[  SKIPPED \].*\([0-9]+ ms\)$/        { skipped++ }
/^[0-9]+: test.* \.\.\. ok$/            { passed++ }
/^[0-9]+: test.* \.\.\. (FAIL|ERROR)$/  { failed++ }
/^[0-9]+: test.* \.\.\. skipped/        { skipped++ }
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: fuzz-/ { if (/ Passed /) passed++; else failed++ }
END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }
