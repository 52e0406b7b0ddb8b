"""Help and usage errors."""
import subprocess
import unittest

from program import BINARY, ProgramTest

OPTIONS = {
    "bench": ["--op", "--workers", "--transport", "--algorithm", "--sizes", "--type", "--repeat", "--table",
              "--example", "--elements", "--html", "--json"],
    "doctor": ["--workers", "--json"],
    "launch": ["--workers", "--grace", "program"],
    "watch": ["folders", "--port"],
}


class Help(ProgramTest):
    def test_names_every_command(self):
        output, errors = self.run_program("--help")
        for command in OPTIONS:
            self.assertRegex(output, rf"(?m)^  {command} +\w")
        self.assertEqual(errors, "")

    def test_needs_no_torch(self):
        libraries = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("libtorch", libraries, "loading it takes longer than most commands run")

    def test_summaries_are_those_of_the_commands(self):
        listed = " ".join(self.run_program("--help")[0].split("Subcommands:")[1].split())
        for command in OPTIONS:
            own = self.run_program(command, "--help")[0]
            self.assertIn(f"{command} {own.splitlines()[0]}", listed)

    def test_of_a_command_names_its_options(self):
        for command, options in OPTIONS.items():
            self.expect_help(command, options)

    def test_version_is_a_number(self):
        output, _ = self.run_program("--version")
        self.assertRegex(output, r"^\d+\.\d+\.\d+\n$")


class BadUsage(ProgramTest):
    def test_no_command(self):
        self.expect_refused("", "subcommand is required")

    def test_an_unknown_command_is_named(self):
        self.expect_refused("trian", "trian")

    def test_an_unknown_option_is_named(self):
        self.expect_refused("bench --nonsense", "--nonsense")
        self.expect_refused("launch --nonsense -- true", "--nonsense")

    def test_a_value_of_the_wrong_kind_is_named(self):
        self.expect_refused("bench --repeat 0", "--repeat")
        self.expect_refused("bench --sizes huge", "huge")
        self.expect_refused("launch --workers 0 -- true", "--workers")

    def test_an_unknown_name_is_an_error_with_the_known_names(self):
        self.expect_refused("bench --op sort", "all-reduce")
        self.expect_refused("bench --type complex64", "bfloat16")
        self.expect_refused("bench --transport pigeon", "unknown transport 'pigeon': this build has")
        self.expect_refused("bench --algorithm snail", "snail")

    def test_invalid_numbers_are_named(self):
        self.expect_refused("bench --sizes 3", "smaller than one float32")
        self.expect_refused("bench --sizes 7 --type int64", "smaller than one int64: use 8 or more")
        self.expect_refused("doctor --workers 0", "--workers")

    def test_a_missing_feature_of_an_operation_or_transport_is_named(self):
        self.expect_refused("bench --op reduce --algorithm ring", "reduce has no algorithm 'ring': choose from")
        self.expect_refused("bench --op gather --algorithm star", "a single implementation")
        self.expect_refused("bench --op barrier --sizes 4K", "omit --sizes")
        for transport in ["shm", "thread"]:
            self.expect_refused(f"bench --workers 2 --transport {transport} --algorithm native",
                                f"whose library has collectives (mpi); the {transport} transport has direct")

    def test_contradictions_are_named(self):
        self.expect_refused("bench --table - --json -", "cannot both")
        self.expect_refused("bench --table - --op broadcast", "omit --op and --algorithm")
        self.expect_refused("bench --table - --algorithm ring", "omit --op and --algorithm")

    def test_launch_needs_a_program(self):
        self.expect_refused("launch --workers 2", "program")
        self.expect_refused("launch --workers 2 -- ./no-such-program", "cannot start './no-such-program'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
