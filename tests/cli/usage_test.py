"""Help, and what the program answers to arguments that make no sense."""
import unittest

from program import ProgramTest

OPTIONS = {
    "bench": ["--op", "--workers", "--transport", "--algorithm", "--sizes", "--type", "--repeat", "--table", "--json"],
    "doctor": ["--workers", "--json"],
    "launch": ["--workers", "--grace", "program"],
}


class Help(ProgramTest):
    def test_names_every_command(self):
        output, errors = self.run_program("--help")
        for command in OPTIONS:
            self.assertRegex(output, rf"(?m)^  {command} +\w")
        self.assertEqual(errors, "")

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

    def test_an_unknown_name_is_answered_with_the_known(self):
        self.expect_refused("bench --op sort", "all-reduce")
        self.expect_refused("bench --type complex64", "bfloat16")
        self.expect_refused("bench --transport pigeon", "there is no transport 'pigeon': this build has")
        self.expect_refused("bench --algorithm snail", "snail")

    def test_numbers_that_make_no_sense_are_named(self):
        self.expect_refused("bench --sizes 3", "not even one float32")
        self.expect_refused("bench --sizes 7 --type int64", "not even one int64: take 8 or more")
        self.expect_refused("doctor --workers 0", "--workers")

    def test_what_an_operation_or_a_transport_lacks_is_named(self):
        self.expect_refused("bench --op reduce --algorithm ring", "reduce has no algorithm 'ring': there are")
        self.expect_refused("bench --op gather --algorithm star", "only one way")
        self.expect_refused("bench --op barrier --sizes 4K", "leave --sizes out")
        for transport in ["shm", "thread"]:
            self.expect_refused(f"bench --workers 2 --transport {transport} --algorithm native",
                                f"collectives of its own (mpi); the {transport} transport has direct")

    def test_contradictions_are_named(self):
        self.expect_refused("bench --table - --json -", "cannot both")
        self.expect_refused("bench --table - --op broadcast", "leave --op and --algorithm out")
        self.expect_refused("bench --table - --algorithm ring", "leave --op and --algorithm out")

    def test_launch_needs_a_program(self):
        self.expect_refused("launch --workers 2", "program")
        self.expect_refused("launch --workers 2 -- ./no-such-program", "cannot start './no-such-program'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
