// Written files are read back, also by an independent reader.
#include "models/safetensors.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/files.h"
#include "stored_tensors.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

namespace lockstep::internal::models {
namespace {

/// A unique path; the file is removed at the end.
class TemporaryFile {
 public:
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("lockstep-models-" + std::to_string(::getpid()) + ".safetensors");
};

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return last_system_error();
  char block[256];
  while (std::fgets(block, sizeof block, pipe) != nullptr) output += block;
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

TEST(Safetensors, ReadsBackWrittenFiles) {
  TemporaryFile file;
  const Metadata metadata = {{"epoch", "3"}, {"note", "größer \"quoted\"\n"}};
  write_safetensors(file.path, one_of_each(), metadata);
  Metadata read_metadata = {{"stale", "entry"}};
  EXPECT_EQ(read_safetensors(file.path, &read_metadata), one_of_each());
  EXPECT_EQ(read_metadata, metadata);
}

TEST(Safetensors, KeepsEveryBitOfAFloat) {
  const float values[] = {-0.0f, std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::signaling_NaN()};
  StoredTensor tensor{"odd", DataType::float32, {4}, std::vector<std::byte>(sizeof values)};
  std::memcpy(tensor.data.data(), values, sizeof values);
  EXPECT_EQ(parse_safetensors(format_safetensors({tensor}, {}, "memory"), "memory")[0], tensor);
}

TEST(Safetensors, AnEmptyFileHasNoTensors) {
  const std::string content = format_safetensors({}, {}, "memory");
  EXPECT_EQ(content, std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_TRUE(parse_safetensors(content, "memory").empty());
}

TEST(Safetensors, BytesDoNotDependOnTheOrderOfTensors) {
  std::vector<StoredTensor> reversed = one_of_each();
  std::ranges::reverse(reversed);
  EXPECT_EQ(format_safetensors(reversed, {}, "memory"),
            format_safetensors(one_of_each(), {}, "memory"));
}

TEST(Safetensors, EveryTensorIsAligned) {
  const std::string content = format_safetensors(one_of_each(), {}, "memory");
  const std::size_t data = content.find('}', content.find("scalar"));
  for (const StoredTensor& tensor : one_of_each()) {
    if (tensor.data.empty()) continue;
    const std::string bytes(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
    EXPECT_EQ(content.find(bytes, data) % size_of(tensor.type), 0u) << tensor.name;
  }
}

TEST(Safetensors, AnIndependentReaderAgrees) {
  TemporaryFile file;
  write_safetensors(file.path, one_of_each(), {{"format", "pt"}});
  const std::string script = LOCKSTEP_TEST_SOURCE "/tests/reference/read_safetensors.py";
  EXPECT_EQ(output_of("/usr/bin/python3 " + script + " " + file.path.string()),
            "bytes U8 [3] 258\n"
            "doubles F64 [2, 2] 1.125\n"
            "empty F32 [0, 7] 0\n"
            "floats F32 [1, 3, 1] 6.5\n"
            "ints I32 [2] 1073741817\n"
            "scalar I64 [] 1152921504606846976\n"
            "{'format': 'pt'}\n" +
                weights_sha256(one_of_each()) + "\n");
}

TEST(Safetensors, NamesTheFileThatCannotBeReadOrWritten) {
  for (bool write : {false, true}) {
    try {
      if (write)
        write_safetensors("/nonexistent/w.safetensors", {});
      else
        read_safetensors("/nonexistent/w.safetensors");
      ADD_FAILURE() << "there is no such folder";
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find("/nonexistent/w.safetensors: cannot"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(Safetensors, RefusesToWriteUnreadableFiles) {
  auto write = [](const std::vector<StoredTensor>& tensors, const Metadata& metadata = {}) {
    return format_safetensors(tensors, metadata, "memory");
  };
  EXPECT_THROW(write({stored<float>("a", {2}, {1, 2, 3})}), InternalError);
  EXPECT_THROW(write({stored<float>("a", {-1}, {})}), InternalError);
  EXPECT_THROW(write({stored<float>("a", {1}, {1}), stored<double>("a", {1}, {1})}), InternalError);
  EXPECT_THROW(write({stored<float>("__metadata__", {1}, {1})}), InternalError);
  EXPECT_THROW(write({stored<float>("\xff", {1}, {1})}), FileError);
  EXPECT_THROW(write({}, {{"path", "/tmp/\xff"}}), FileError);
}

TEST(WeightsSha256, CoversTheDataInTheOrderOfNames) {
  // sha256 of the bytes 01 02 03.
  const std::string expected = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81";
  const auto first = stored<std::uint8_t>("a", {2}, {1, 2});
  const auto second = stored<std::uint8_t>("b", {1}, {3});
  EXPECT_EQ(weights_sha256({first, second}), expected);
  EXPECT_EQ(weights_sha256({second, first}), expected);
}

}  // namespace
}  // namespace lockstep::internal::models
