"""Ranks with different jobs: all ranks report the first difference and the ranks."""
import json
import re
import shutil
import subprocess
import unittest

from other_data import FIRST_LABEL, FIRST_PIXEL, LABELS, SHIPPED, TEST_IMAGES, copy_with_other_byte
from program import BINARY, HANGS, ProgramTest, clean_environment, free_port

JOB = {"--limit": 32, "--batch": 16, "--trace": 0, "--run-dir": "run"}
# Rank 1 gets $OTHER, the others $USUAL; mpirun and srun name the rank in variables of their own.
SCRIPT = ('case "${LOCKSTEP_RANK:-${OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}" in 1) set -- "$@" $OTHER;; *) set -- "$@" $USUAL;; '
          f'esac; exec {BINARY} train "$@"')


def text_of(options):
    return " ".join(f"{name} {value}" for name, value in options.items())


def variables(other, **usual):
    """Variables for SCRIPT. Rank 1 has the options of the other ranks, except for `other`."""
    job = {**JOB, **{f"--{name}": value for name, value in usual.items()}}
    return {"USUAL": text_of(job), "OTHER": text_of({**job, **other})}


needs_mpirun = unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")


class SameJob(ProgramTest):
    def launch(self, other, workers=3, transport="shm"):
        return self.start("launch", "--workers", workers, "--transport", transport, "--", "sh", "-c", SCRIPT, "sh",
                          variables=variables(other))

    def expect_named(self, errors, message, ranks):
        self.assertEqual(len(re.findall("^lockstep train: " + re.escape(message), errors, re.MULTILINE)), ranks, errors)
        self.assertFalse((self.folder / "run" / "summary.json").exists())

    def expect_different(self, other, found, usual, **settings):
        _, errors = self.finish(self.launch(other, **settings), code=1)
        self.expect_named(errors, "the ranks have different options; the first difference: "
                                  f"ranks 0 and 2 had {usual}; rank 1 had {found}. Start all of them with the same",
                          ranks=3)

    def test_a_different_option_is_named_on_all_ranks(self):
        for other, found, usual in [({"--seed": 7}, "seed 7", "seed 5000"), ({"--batch": 8}, "batch 8", "batch 16"),
                                    ({"--limit": 16}, "limit 16", "limit 32"), ({"--lr": 0.5}, "lr 0.5", "lr 0.01"),
                                    ({"--resume": ""}, "resume true", "resume false"),
                                    ({"--lr-scale": "linear"}, "lr_scale linear", "lr_scale none"),
                                    ({"--save": "weights"}, "save given", "save not given"),
                                    ({"--json": "result"}, "json given", "json not given"),
                                    ({"--tensorboard": ""}, "tensorboard true", "tensorboard false")]:
            with self.subTest(other):
                self.expect_different(other, found, usual)

    def test_a_different_option_is_named_over_tcp(self):
        self.expect_different({"--seed": 7}, "seed 7", "seed 5000", transport="gloo")

    def test_some_options_may_differ(self):
        shutil.copytree(SHIPPED, self.folder / "copy")
        other = {"--data-dir": "copy", "--loader-threads": 2, "--threads": 1, "--run-dir": "elsewhere", "--log-every": 1}
        output, errors = self.finish(self.launch(other, workers=2), code=0)
        self.assertEqual(errors, "")
        self.assertIn("the run is recorded in run", output)

    def test_rank_0_writes_the_results_to_its_own_files(self):
        usual, other = ({f"--{name}": f"{folder}/{name}" for name in ("json", "save")} for folder in (".", "not-here"))
        program = self.start("launch", "--workers", 2, "--", "sh", "-c", SCRIPT, "sh", "--tensorboard",
                             variables={"USUAL": text_of({**JOB, **usual}), "OTHER": text_of({**JOB, **other})})
        _, errors = self.finish(program, code=0)
        self.assertEqual(errors, "")
        self.assertEqual(json.loads((self.folder / "json").read_text())["workers"], 2)
        self.assertTrue((self.folder / "save").exists())
        folders = sorted(file.parent.name for file in (self.folder / "run").glob("**/events.out.tfevents.*"))
        self.assertEqual(folders, ["rank-0", "rank-1", "test"])

    def expect_other_data(self, what):
        _, errors = self.finish(self.launch({"--data-dir": "copy"}), code=1)
        self.assertRegex(errors, rf"the ranks have different data; the first difference: ranks 0 and 2 had {what} of "
                                 rf"checksum [0-9a-f]+; rank 1 had {what} of checksum [0-9a-f]+. Give all")
        self.expect_named(errors, "the ranks have different data", ranks=3)

    def test_a_different_label_is_named_on_all_ranks(self):
        copy_with_other_byte(self.folder / "copy", LABELS, FIRST_LABEL)
        self.expect_other_data("training labels")

    def test_a_different_test_pixel_is_named_on_all_ranks(self):
        copy_with_other_byte(self.folder / "copy", TEST_IMAGES, FIRST_PIXEL)
        self.expect_other_data("test pixels")

    def test_a_different_transport_is_named_on_all_ranks(self):
        for transport in ("gloo", "mpi"):
            with self.subTest(transport):
                program = self.start("launch", "--workers", 3, "--", "sh", "-c", SCRIPT, "sh",
                                     variables=variables({"--transport": transport}, transport="shm"))
                _, errors = self.finish(program, code=1)
                self.expect_named(errors, "the ranks of this run were started differently: ranks 0 and 2 had "
                                          f"transport shm; rank 1 had transport {transport}.", ranks=3)

    def test_a_different_table_of_algorithms_is_named_on_all_ranks(self):
        (self.folder / "table").write_text("gloo any any star\n")
        script = f'[ "$RANK" = 0 ] || export LOCKSTEP_AUTO_TABLE=table; exec {BINARY} bench --sizes 4K --repeat 1'
        _, errors = self.run_program("launch", "--workers", 2, "--", "sh", "-c", script, code=1)
        said = re.findall(r"^lockstep bench: the ranks of this run were started differently: rank 0 had algorithms by a "
                          r"table \(LOCKSTEP_AUTO_TABLE\) of checksum ", errors, re.MULTILINE)
        self.assertEqual(len(said), 2, errors)

    def start_as_srun(self, script, environment):
        """Two ranks, one of which serves the rendezvous."""
        ranks, port = [], free_port()
        for rank in range(2):
            place = {"SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": str(rank), "SLURM_JOB_ID": "1",
                     "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            ranks.append(subprocess.Popen(["sh", "-c", script, "sh"], cwd=self.folder, text=True,
                                          env={**clean_environment(), **place, **environment},
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return ranks

    def test_ranks_with_sruns_variables_are_compared(self):
        for rank in self.start_as_srun(SCRIPT, variables({"--transport": "gloo"})):
            _, errors = rank.communicate(timeout=HANGS)
            self.assertEqual(rank.returncode, 1, errors)
            self.expect_named(errors, "the ranks of this run were started differently: rank 0 had transport auto; "
                                      "rank 1 had transport gloo.", ranks=1)

    def test_a_rank_of_srun_that_cannot_join_is_named_on_all_ranks(self):
        for failing in (0, 1):
            with self.subTest(rank=failing):
                script = (f'[ "$SLURM_PROCID" != {failing} ] || export LOCKSTEP_INTERFACE=nosuch; '
                          f'exec {BINARY} train $USUAL')
                for number, rank in enumerate(self.start_as_srun(script, variables({}))):
                    _, errors = rank.communicate(timeout=HANGS)
                    self.assertEqual(rank.returncode, 2 if number == failing else 1, errors)
                    reason = "there is no network interface 'nosuch'"
                    self.expect_named(errors, reason if number == failing else
                                      f"rank {failing} cannot join the run: {reason}", ranks=1)

    @needs_mpirun
    def test_a_different_option_is_named_under_mpirun(self):
        for other, message in [({"--seed": 7}, "the ranks have different options; the first difference: "
                                               "rank 0 had seed 5000; rank 1 had seed 7."),
                               ({"--transport": "shm"}, "the ranks of this run were started differently: "
                                                        "rank 0 had transport auto; rank 1 had transport shm.")]:
            with self.subTest(other):
                done = self.run_with_mpirun(SCRIPT, variables(other))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.expect_named(done.stderr, message, ranks=2)

    def run_with_mpirun(self, script, environment):
        return subprocess.run(["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "2", "sh", "-c", script, "sh"],
                              cwd=self.folder, text=True, capture_output=True, timeout=HANGS,
                              env={**clean_environment(), **environment})

    @needs_mpirun
    def test_a_rank_of_mpirun_that_cannot_join_is_named_on_all_ranks(self):
        for setting, reason in [("LOCKSTEP_AUTO_TABLE=nosuch", "nosuch: cannot open"),
                                ("LOCKSTEP_INTERFACE=nosuch", "there is no network interface 'nosuch'")]:
            for rank in (0, 1):
                with self.subTest(setting, rank=rank):
                    done = self.run_with_mpirun(f'[ "$OMPI_COMM_WORLD_RANK" != {rank} ] || export {setting}; '
                                                f'exec {BINARY} train $USUAL', variables({}))
                    self.assertIn(done.returncode, (1, 2), done.stderr)  # mpirun's is that of either rank
                    self.expect_named(done.stderr, reason, ranks=1)
                    self.expect_named(done.stderr, f"rank {rank} cannot join the run: {reason}", ranks=1)


class SameElasticJob(ProgramTest):
    def launch(self, other):
        return self.start("launch", "--elastic", "--workers", 2, "--", "sh", "-c", SCRIPT, "sh", "--shards", 2, "--elastic",
                          variables=variables(other))

    def test_a_run_does_not_start_with_different_options(self):
        _, errors = self.finish(self.launch({"--seed": 7}), code=1)
        why = "rank 0 had seed 5000; rank 1 had seed 7: start all workers with the same options"
        self.assertIn(f"lockstep train: {why}", errors)
        self.assertIn(f"lockstep train: another worker ended the run: {why}", errors)
        self.assertFalse((self.folder / "run" / "summary.json").exists())

    def test_a_run_does_not_start_with_different_transports(self):
        _, errors = self.finish(self.launch({"--transport": "gloo"}), code=1)
        self.assertIn("rank 0 had transport auto; rank 1 had transport gloo", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
