"""lockstep doctor: its checks and their warnings."""
import json
import os
import resource
import unittest

from program import ProgramTest

LOOKED_AT = {"shared memory", "pidfd", "cores", "workers", "vector units", "memory", "/dev/shm", "open files", "transports",
             "BLAS", "memory copy, 1 core", "loopback TCP", "loopback TCP, one way"}


class Doctor(ProgramTest):
    def findings(self, *arguments, **options):
        program = self.start("doctor", *arguments, "--json", "-", **options)
        output, errors = self.finish(program, code=0)
        self.assertEqual(errors, "")
        return {finding["what"]: finding for finding in json.loads(output)["findings"]}

    def test_has_every_check(self):
        findings = self.findings()
        self.assertLessEqual(LOOKED_AT, set(findings))
        for what, finding in findings.items():
            self.assertEqual(set(finding), {"what", "value", "number", "state", "advice"})
            self.assertIn(finding["state"], ["fine", "warning"], what)
            self.assertEqual(finding["state"] == "fine", finding["advice"] == "", what)
        for measured in ["memory copy, 1 core", "loopback TCP", "loopback TCP, one way"]:
            self.assertGreater(findings[measured]["number"], 0)
        self.assertLessEqual(findings["cores"]["number"], os.cpu_count())
        self.assertIn("shm", findings["transports"]["value"])

    def test_prints_a_line_per_check(self):
        output, errors = self.run_program("doctor", "--json", "result.json")
        for what in LOOKED_AT:
            self.assertRegex(output, rf"(?m)^{what} +\S")
        self.assertRegex(output, r"(?m)^(No problems found\.|0 broken, \d+ warnings?\.)$")
        self.assertEqual(errors, "")
        self.assertTrue(json.loads((self.folder / "result.json").read_text())["findings"])

    def test_warns_of_more_workers_than_cores(self):
        finding = self.findings("--workers", 4 * os.cpu_count())["workers"]
        self.assertEqual((finding["state"], finding["number"]), ("warning", 4 * os.cpu_count()))
        self.assertIn("take turns", finding["advice"])

    def test_warns_of_too_few_open_files(self):
        def tighten():
            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
        finding = self.findings("--workers", 1000, preexec_fn=tighten)["open files"]
        self.assertEqual((finding["state"], finding["number"]), ("warning", 256))
        self.assertIn("ulimit -n 3064", finding["advice"])

    def test_counts_only_the_cores_that_it_may_use(self):
        one = min(os.sched_getaffinity(0))
        finding = self.findings(preexec_fn=lambda: os.sched_setaffinity(0, {one}))["cores"]
        self.assertEqual(finding["number"], 1)

    def test_blas_uses_the_vector_unit_of_the_processor(self):
        flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "").split()
        if "avx2" not in flags or "openblas" not in self.findings()["BLAS"]["value"]:
            self.skipTest("an older processor, or another BLAS")
        self.assertNotIn("Prescott", self.findings()["BLAS"]["value"])
        asked_for = self.findings(variables={"OPENBLAS_CORETYPE": "Prescott"})["BLAS"]["value"]
        self.assertIn("Prescott", asked_for)  # the environment's choice is kept

    def test_a_variable_limits_the_vector_unit(self):
        def units(limit):
            return self.findings(variables={"LOCKSTEP_VECTOR_UNIT": limit})["vector units"]["value"]
        self.assertEqual(units("plain"), "none; reductions use the plain kernels")
        self.assertEqual(units("avx512"), self.findings()["vector units"]["value"])
        _, errors = self.finish(self.start("doctor", variables={"LOCKSTEP_VECTOR_UNIT": "mmx"}), code=2)
        self.assertIn("LOCKSTEP_VECTOR_UNIT is 'mmx': it must be plain, avx2 or avx512", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
