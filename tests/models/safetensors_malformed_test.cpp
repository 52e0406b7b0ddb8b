// Files with every known fault. Each is refused with a message that names the fault.
#include <lockstep/error.h>

#include "models/safetensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace lockstep::internal::models {
namespace {

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// A file with this header, followed by `data` bytes of zeros.
std::string file_of(const std::string& header, std::size_t data = 0) {
  return little_endian(header.size()) + header + std::string(data, '\0');
}

/// A file of one tensor "w" and 8 bytes of data.
std::string tensor_of(const std::string& fields) {
  return file_of("{\"w\":{" + fields + "}}", 8);
}

struct Malformed {
  const char* what;
  std::string content;
  std::string message;  ///< a part of the message that is unique to this fault
};

void PrintTo(const Malformed& malformed, std::ostream* out) {
  *out << malformed.what;
}

class SafetensorsMalformed : public ::testing::TestWithParam<Malformed> {};

TEST_P(SafetensorsMalformed, IsRefusedWithAReason) {
  try {
    parse_safetensors(GetParam().content, "bad.safetensors");
    ADD_FAILURE() << "was accepted";
  } catch (const FileError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("bad.safetensors: "), 0u) << message;
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with("write or download it again") ||
                message.find("convert it to one of F32, F64, I32, I64, U8, F16 and BF16") !=
                    std::string::npos)
        << "says not what to do: " << message;
    EXPECT_LT(message.size(), 400u) << message;
  }
}

const Malformed kHeaders[] = {
    {"empty", "", "has 0 bytes, too few"},
    {"short", "1234567", "has 7 bytes, too few"},
    {"header_longer_than_file", little_endian(100) + "{}",
     "header length of 100 bytes, but 2 follow"},
    {"header_length_huge", little_endian(~0ull) + "{}",
     "header length of 18446744073709551615 bytes"},
    {"header_over_limit", file_of("{" + std::string(16 << 20, ' ') + "}"), "16777216 are allowed"},
    {"header_empty", file_of(""), "does not begin with '{'"},
    {"header_is_array", file_of("[]"), "does not begin with '{'"},
    {"header_is_not_json", file_of("{\"w\":}"), "is not JSON at byte 6"},
    {"header_cut", file_of("{\"w\":{"), "is not JSON at byte 7"},
    {"header_goes_on", file_of("{} {}"), "is not JSON at byte 4"},
    {"header_not_utf8", file_of("{\"\xff\":1}"), "is not JSON at byte 3"},
    {"number_out_of_range", file_of("{\"w\":1e999}"), "a number that is out of range"},
    {"deep", file_of("{\"w\":" + std::string(100000, '[')), "nests deeper than 3 levels"},
    {"deep_objects", file_of(R"({"a":{"b":{"c":{"d":0}}}})"), "nests deeper than 3 levels"},
    {"tensor_twice", file_of(R"({"w":1,"w":1})"), "has the key \"w\" twice"},
    {"field_twice", tensor_of(R"("dtype":"F32","dtype":"F64")"), "has the key \"dtype\" twice"},
    {"metadata_twice", file_of(R"({"__metadata__":{},"__metadata__":{}})"), "twice"},
    {"metadata_is_text", file_of(R"({"__metadata__":"x"})"), "__metadata__ is not an object"},
    {"metadata_has_number", file_of(R"({"__metadata__":{"x":1}})"),
     "__metadata__ \"x\" is not a string"},
};

const Malformed kTensors[] = {
    {"not_an_object", file_of(R"({"w":7})"), "tensor \"w\" is not described by an object"},
    {"name_is_escaped", file_of(R"({"\u001b[31mé":7})"), "tensor \"\\u001b[31m\\u00e9\" is not"},
    {"name_is_long", file_of("{\"" + std::string(100000, 'w') + "\":7}"), "www\"… is not"},
    {"no_dtype", tensor_of(R"("shape":[2],"data_offsets":[0,8])"), "has no dtype"},
    {"dtype_is_number", tensor_of(R"("dtype":32)"), "has no dtype"},
    {"unknown_dtype", tensor_of(R"("dtype":"F8_E5M2","shape":[4],"data_offsets":[0,8])"),
     "tensor \"w\" has dtype \"F8_E5M2\""},
    {"no_shape", tensor_of(R"("dtype":"F32","data_offsets":[0,8])"), "has no shape"},
    {"shape_is_number", tensor_of(R"("dtype":"F32","shape":2)"), "has no shape"},
    {"negative_dimension", tensor_of(R"("dtype":"F32","shape":[-2])"), "has \"-2\" in its shape"},
    {"fractional_dimension", tensor_of(R"("dtype":"F32","shape":[2.0])"),
     "has \"2.0\" in its shape"},
    {"text_dimension", tensor_of(R"("dtype":"F32","shape":["2"])"),
     "has \"\\\"2\\\"\" in its shape"},
    {"dimension_over_63_bits", tensor_of(R"("dtype":"F32","shape":[9223372036854775808])"),
     "has \"9223372036854775808\" in its shape"},
    {"dimension_over_64_bits", tensor_of(R"("dtype":"F32","shape":[99999999999999999999])"),
     "in its shape, not a whole number"},
    {"too_many_dimensions",
     tensor_of(R"("dtype":"F32","shape":[1)" +
               [] {
                 std::string ones;
                 for (int i = 0; i < 64; ++i) ones += ",1";
                 return ones;
               }() +
               "]"),
     "has 65 dimensions, 64 are allowed"},
    {"shape_overflows",
     tensor_of(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"),
     "has the impossible shape [4294967296, 4294967296]"},
    {"shape_overflows_to_fit",
     tensor_of(R"("dtype":"F32","shape":[4611686018427387905,2],"data_offsets":[0,8])"),
     "has the impossible shape"},
    {"bytes_overflow",
     tensor_of(R"("dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8])"),
     "has the impossible shape"},
    {"no_offsets", tensor_of(R"("dtype":"F32","shape":[2])"), "has no data_offsets"},
    {"one_offset", tensor_of(R"("dtype":"F32","shape":[2],"data_offsets":[8])"),
     "has 1 data_offsets instead of 2"},
    {"three_offsets", tensor_of(R"("dtype":"F32","shape":[2],"data_offsets":[0,4,8])"),
     "has 3 data_offsets instead of 2"},
    {"negative_offset", tensor_of(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])"),
     "has \"-8\" in its data_offsets"},
    {"offsets_reversed", tensor_of(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
     "has data_offsets 8 to 0, but there are 8 bytes"},
    {"offset_beyond_end", tensor_of(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])"),
     "has data_offsets 0 to 12, but there are 8 bytes"},
    {"shape_larger_than_data", tensor_of(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
     "has 8 bytes of data, but F32 of shape [3] takes 12"},
    {"shape_smaller_than_data", tensor_of(R"("dtype":"F32","shape":[],"data_offsets":[0,8])"),
     "has 8 bytes of data, but F32 of shape [] takes 4"},
};

const Malformed kLayouts[] = {
    {"overlap",
     file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
             12),
     "tensor \"b\" begins at 4, inside the tensor before it (to 8)"},
    {"same_place",
     file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
             8),
     "begins at 0, inside the tensor before it (to 8)"},
    {"hole_at_begin", file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8),
     "tensor \"a\" begins at 4, but the tensor before it ends at 0"},
    {"hole_between",
     file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
             12),
     "tensor \"b\" begins at 8, but the tensor before it ends at 4"},
    {"hole_at_end", file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5),
     "its tensors end at 4, but there are 5 bytes of data"},
    {"data_without_tensors", file_of("{}", 1), "its tensors end at 0, but there are 1 bytes"},
    {"empty_tensor_inside_another",
     file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
             8),
     "tensor \"b\" begins at 4, inside the tensor before it (to 8)"},
};

std::string name_of(const ::testing::TestParamInfo<Malformed>& info) {
  return info.param.what;
}

INSTANTIATE_TEST_SUITE_P(Header, SafetensorsMalformed, ::testing::ValuesIn(kHeaders), name_of);
INSTANTIATE_TEST_SUITE_P(Tensor, SafetensorsMalformed, ::testing::ValuesIn(kTensors), name_of);
INSTANTIATE_TEST_SUITE_P(Layout, SafetensorsMalformed, ::testing::ValuesIn(kLayouts), name_of);

}  // namespace
}  // namespace lockstep::internal::models
