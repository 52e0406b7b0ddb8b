// Whole numbers as elements of any type: what `lockstep bench` fills arrays with and checks them
// for.
#pragma once

#include <lockstep/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

/// All element types' names, and the type that has one. Throws UsageError for any other name.
std::vector<std::string> data_type_names();
DataType parse_data_type(const std::string& name);

/// What rank `rank` of `ranks` writes at place i: sums over all ranks are exact in the type, or
/// wrap around in it.
std::int64_t bench_value(DataType type, int rank, int ranks, std::size_t i);

/// values[i] = number(i), as the type has it.
void fill(ArrayView values, const std::function<std::int64_t(std::size_t i)>& number);

/// How many elements are not number(i), of those for which there is one.
std::int64_t count_wrong(ConstArrayView values,
                         const std::function<std::optional<std::int64_t>(std::size_t i)>& number);

}  // namespace lockstep::cli
