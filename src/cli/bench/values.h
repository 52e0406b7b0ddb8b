// Whole numbers as elements of any type: `lockstep bench` fills arrays with them and checks the
// results.
#pragma once

#include <lockstep/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// The names of all element types, and the type with a given name. Throws UsageError for any other
/// name.
std::vector<std::string> data_type_names();
DataType parse_data_type(const std::string& name);

/// The value that rank `rank` of `ranks` writes at index i: sums over all ranks are exact in the
/// type, or wrap around in it.
std::int64_t bench_value(DataType type, int rank, int ranks, std::size_t i);

/// values[i] = number(i), converted to the type.
void fill(ArrayView values, const std::function<std::int64_t(std::size_t i)>& number);

/// The number of elements that differ from number(i), where that is defined.
std::int64_t count_wrong(ConstArrayView values,
                         const std::function<std::optional<std::int64_t>(std::size_t i)>& number);

}  // namespace lockstep::internal::cli
