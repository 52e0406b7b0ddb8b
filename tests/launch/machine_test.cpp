// Limits of control groups, read from folders that look like the kernel's.
#include "launch/hosts/machine.h"

#include "base/files.h"
#include "launch/hosts/machine_description.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace lockstep::internal::launch {
namespace {

class ControlGroups : public testing::Test {
 protected:
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((root_ / path).parent_path());
    write_file(root_ / path, content);
  }

  const std::filesystem::path root_ =
      testing::TempDir() + "lockstep-machine-" + std::to_string(::getpid());
};

TEST_F(ControlGroups, Version2UsesTheTightestLimitOfAGroupAndItsParents) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/a/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.max", "1048576\n");
  EXPECT_EQ(cpu_quota(root_), 1.5);
  EXPECT_EQ(memory_limit(root_), 1048576u);
}

TEST_F(ControlGroups, Version1HasAFolderPerController) {
  put("proc/self/cgroup", "4:memory:/x\n2:cpu,cpuacct:/y\n0::/\n");
  put("sys/fs/cgroup/cpu/y/cpu.cfs_quota_us", "200000\n");
  put("sys/fs/cgroup/cpu/y/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4096\n");
  EXPECT_EQ(cpu_quota(root_), 2.0);
  EXPECT_EQ(memory_limit(root_), 4096u);
}

TEST_F(ControlGroups, MissingLimitIsEmpty) {
  EXPECT_FALSE(cpu_quota(root_));
  put("proc/self/cgroup", "1:cpu:/\n2:memory:/\nnonsense\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(cpu_quota(root_));
  EXPECT_FALSE(memory_limit(root_));
}

TEST_F(ControlGroups, AMachineIsDescribedByItsFiles) {
  put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Quick 3000 @ 2 GHz\nmodel name\t: other\n");
  put("etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some Linux 7 (blue)\"\n");
  const MachineDescription machine = describe_machine(root_);
  EXPECT_EQ(machine.processor, "Quick 3000 @ 2 GHz");
  EXPECT_TRUE(machine.system.starts_with("Some Linux 7 (blue), Linux ")) << machine.system;
  EXPECT_GE(machine.cores, 1);
  EXPECT_EQ(machine.memory_bytes, find_memory().total);
}

TEST_F(ControlGroups, AMachineWithoutFilesIsDescribedByItsKernel) {
  const MachineDescription machine = describe_machine(root_);
  EXPECT_EQ(machine.processor, "");
  EXPECT_TRUE(machine.system.starts_with("Linux ")) << machine.system;
}

TEST(Machine, UsableCoresRespectAllLimits) {
  EXPECT_EQ((Cores{8, 4, std::nullopt}.usable()), 4);
  EXPECT_EQ((Cores{8, 8, 2.0}.usable()), 2);
  EXPECT_EQ((Cores{8, 8, 0.1}.usable()), 1);
  EXPECT_GE(find_cores().usable(), 1);
  EXPECT_GT(find_memory().total, 0u);
}

}  // namespace
}  // namespace lockstep::internal::launch
