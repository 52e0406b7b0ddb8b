"""lockstep launch: any program on several workers, and the report of how they ended."""
import os
import socket
import unittest

from program import BINARY, ProgramTest


class Launch(ProgramTest):
    def sh(self, script, workers=3, code=0):
        return self.run_program("launch", "--workers", workers, "--", "sh", "-c", script, code=code)

    def test_every_worker_gets_its_rank(self):
        output, errors = self.sh("echo $LOCKSTEP_RANK of $LOCKSTEP_WORLD_SIZE")
        self.assertEqual(sorted(output.splitlines()), ["0 of 3", "1 of 3", "2 of 3"])
        self.assertEqual(errors, "")

    def test_passes_arguments_unchanged(self):
        output, _ = self.run_program("launch", "--workers", 1, "--", "echo", "--workers", 7, "--", "-x")
        self.assertEqual(output, "--workers 7 -- -x\n")

    def test_returns_the_failing_workers_code_and_names_it(self):
        _, errors = self.sh("if [ $LOCKSTEP_RANK = 2 ]; then exit 42; fi", code=42)
        self.assertRegex(errors, r"^lockstep launch: rank 2 \(pid \d+ on \S+\) exited with code 42\n$")

    def test_names_the_signal_that_ended_a_worker(self):
        _, errors = self.sh("if [ $LOCKSTEP_RANK = 1 ]; then kill -9 $$; fi; sleep 1", code=128 + 9)
        self.assertRegex(errors, r"^lockstep launch: rank 1 \(pid \d+ on \S+\) was ended by signal 9 \(Killed\)\n$")

    def test_ends_the_others_after_the_grace(self):
        _, errors = self.run_program("launch", "--workers", 2, "--grace", 0.1, "--", "sh", "-c",
                                     "if [ $LOCKSTEP_RANK = 0 ]; then exit 3; fi; exec sleep 1000", code=3)
        self.assertIn("rank 0", errors)

    def test_sets_the_variables_of_torchrun(self):
        output, _ = self.sh("echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR", workers=2)
        self.assertEqual(sorted(output.splitlines()), ["0 2 0 2 0 127.0.0.1", "1 2 1 2 0 127.0.0.1"])

    def test_overrides_transport_and_interface(self):
        output, _ = self.run_program("launch", "--workers", 1, "--transport", "shm", "--interface", "lo", "--", "sh",
                                     "-c", "echo $LOCKSTEP_TRANSPORT $LOCKSTEP_INTERFACE")
        self.assertEqual(output, "shm lo\n")

    def test_divides_the_cores(self):
        cores = sorted(os.sched_getaffinity(0))
        script = "import os; print(*sorted(os.sched_getaffinity(0)), end=';')"
        workers = min(2, len(cores))
        output, _ = self.run_program("launch", "--workers", workers, "--", "/usr/bin/python3", "-c", script)
        shares = [list(map(int, share.split())) for share in output.split(";") if share]
        self.assertEqual(sorted(sum(shares, [])), cores)
        output, _ = self.run_program("launch", "--no-pin", "--workers", 1, "--", "/usr/bin/python3", "-c", script)
        self.assertEqual(list(map(int, output.rstrip(";").split())), cores)

    def test_the_token_is_not_in_any_arguments(self):
        output, _ = self.sh("cat /proc/$PPID/cmdline /proc/self/cmdline | grep -c $LOCKSTEP_TOKEN; :", workers=1)
        self.assertEqual(output, "0\n")


class BadUsage(ProgramTest):
    """Every error has a remedy, and nothing is started."""

    def refused(self, *arguments, program=("touch", "started"), code=2):
        _, errors = self.run_program("launch", *arguments, "--", *program, code=code)
        self.assertFalse((self.folder / "started").exists())
        return errors

    def token(self, mode=0o600, content="0123456789abcdef\n"):
        path = self.folder / "token"
        path.write_text(content)
        path.chmod(mode)
        return path

    def test_no_program(self):
        self.assertIn("write it after --", self.refused(program=()))

    def test_an_unknown_option(self):
        self.assertIn("--wrokers", self.refused("--wrokers=2"))

    def test_no_workers(self):
        self.assertIn("--workers", self.refused("--workers", 0))

    def test_no_capture_but_output_wanted(self):
        self.assertIn("--no-capture contradicts", self.refused("--no-capture", "--prefix"))
        self.assertIn("--no-capture contradicts", self.refused("--no-capture", "--log-dir", "logs"))

    def test_a_log_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        self.assertIn("file", self.refused("--log-dir", "file/logs", code=1))

    def test_a_missing_interface(self):
        self.assertIn("nosuch0", self.refused("--interface", "nosuch0"))

    def test_an_unknown_transport(self):
        _, errors = self.run_program("launch", "--workers", 2, "--transport", "pigeon", "--", BINARY, "bench", code=2)
        self.assertIn("unknown transport 'pigeon' between processes: choose from auto, ", errors)

    def test_invalid_nodes(self):
        self.assertIn("--node-rank needs --nnodes", self.refused("--node-rank", 1))
        self.assertIn("--nnodes 2 needs --node-rank", self.refused("--nnodes", 2))
        self.assertIn("--node-rank is 2, but --nnodes 2 has nodes 0 to 1",
                      self.refused("--nnodes", 2, "--node-rank", 2, "--master-addr", "127.0.0.1"))
        self.assertIn("--nnodes 2 needs --master-addr", self.refused("--nnodes", 2, "--node-rank", 0))
        self.assertIn("--master-port", self.refused("--master-port", 70000))

    def test_several_nodes_or_an_open_address_without_a_token(self):
        errors = self.refused("--nnodes", 2, "--node-rank", 0, "--master-addr", "127.0.0.1")
        self.assertRegex(errors, "needs a token: make one with lockstep launch --new-token FILE")
        self.assertRegex(self.refused("--master-addr", "0.0.0.0"), "which other hosts can reach, needs a token")

    def test_invalid_token_files(self):
        nodes = ["--nnodes", 2, "--node-rank", 0, "--master-addr", "127.0.0.1", "--token-file"]
        self.assertIn("No such file", self.refused(*nodes, "absent", code=1))
        self.assertIn("others have access to the token file", self.refused(*nodes, self.token(0o644)))
        self.assertIn("is invalid", self.refused(*nodes, self.token(content="short\n")))

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.assertIn(f"cannot listen on 127.0.0.1:{port}", self.refused("--master-port", port, code=1))

    def test_a_program_that_does_not_exist(self):
        self.assertIn("cannot start 'no-such-program'", self.refused(program=["no-such-program"]))


class NewToken(ProgramTest):
    def test_is_written_once_for_its_owner_only(self):
        output, _ = self.run_program("launch", "--new-token", "token")
        path = self.folder / "token"
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertRegex(path.read_text(), "^[0-9a-f]{64}\n$")
        self.assertNotIn(path.read_text().strip(), output)
        _, errors = self.run_program("launch", "--new-token", "token", code=2)
        self.assertIn("exists already", errors)

    def test_nothing_is_started(self):
        _, errors = self.run_program("launch", "--new-token", "token", "--workers", 2, code=2)
        self.assertIn("leave out all other options", errors)
        self.assertFalse((self.folder / "token").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
