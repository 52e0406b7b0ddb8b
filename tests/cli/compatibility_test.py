"""Run folders and checkpoints of released versions: this version reports them, predicts from them and resumes them."""
import json
import pathlib
import re
import shutil
import unittest

from program import ProgramTest

RELEASES = sorted(path for path in (pathlib.Path(__file__).resolve().parents[1] / "compatibility").iterdir()
                  if (path / "expected.json").exists())


def objects_in(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


class Compatibility(ProgramTest):
    def each_release(self):
        """Copies the folders of one release after another to the folder of the test."""
        for release in RELEASES:
            with self.subTest(release=release.name):
                shutil.copytree(release, self.folder, dirs_exist_ok=True)
                yield json.loads((self.folder / "expected.json").read_text())

    def read(self, file):
        return json.loads((self.folder / file).read_text())

    def report(self, folder):
        """The data of the page that `lockstep report` makes."""
        output, errors = self.run_program("report", folder)
        self.assertEqual((output, errors), (f"report: {folder}/report.html\n", ""))
        text = (self.folder / folder / "report.html").read_text()
        return json.loads(re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)[1])

    def test_there_are_releases(self):
        self.assertIn("0.1.0", [release.name for release in RELEASES])

    def test_files_name_no_folder_of_the_machine_that_made_them(self):
        for release in RELEASES:
            for file in release.rglob("*.json*"):
                self.assertNotRegex(file.read_text(), r"/(home|root|tmp|work|usr|build)/", file)

    def test_runs_are_reported(self):
        for expected in self.each_release():
            for name in expected:
                page = self.report(name)
                summary, config = self.read(f"{name}/summary.json"), self.read(f"{name}/config.json")
                self.assertEqual((page["kind"], page["command"], page["version"], page["machine"], page["verdict"]),
                                 ("train", config["command"], config["version"], config["machine"], summary["verdict"]))
                (run,) = page["runs"]
                self.assertEqual(run["summary"], summary)
                metrics = objects_in(self.folder / name / "metrics.jsonl")
                for curve in run["iterations"]:
                    its = [line for line in metrics if line["kind"] == "iteration" and line["rank"] == curve["rank"]]
                    self.assertEqual(curve["iteration"], [line["iteration"] for line in its])
                    self.assertEqual(len(its), summary["iterations"])
                    for shown, line in zip(curve["loss"], its):
                        self.assertAlmostEqual(shown, line["loss"], places=4)
                if config["trace"] > 0:
                    self.assertEqual({lane["stream"] for lane in run["timeline"]["lanes"]}, {"training", "communication"})
                rows = dict(page["tables"][1]["rows"])
                self.assertEqual(rows["weights, SHA-256"], summary["weights_sha256"])
                self.assertEqual(rows["test loss"], f"{summary['test_loss']:.4f}")

    def test_studies_are_reported(self):
        for _ in self.each_release():
            page, summary = self.report("compare"), self.read("compare/summary.json")
            self.assertEqual([run["name"] for run in page["runs"]], ["alone", "ring"])
            self.assertEqual([run["summary"] for run in page["runs"]], summary["runs"])
            tables = [{key: value for key, value in table.items() if key != "clean"} for table in page["tables"]]
            self.assertEqual((tables[:1], page["verdict"]), (summary["tables"], summary["verdict"]))
            (ring,) = page["ranking"]["exact"]
            self.assertEqual((ring["name"], ring["repetitions"]), ("ring", 1), "files of 0.1.0 have no repetitions")
            self.assertEqual(ring["images_per_second"], summary["runs"][1]["images_per_second"])

    def test_failed_runs_are_reported(self):
        for _ in self.each_release():
            page, found = self.report("failed"), self.read("failed/postmortem.json")
            self.assertEqual(found["culprits"], [1])
            (run,) = page["runs"]
            self.assertIsNone(run["summary"])
            self.assertGreaterEqual(run["stopped"]["iteration"], 1)
            self.assertIn(found["verdict"][0], json.dumps(run["post_mortem"]))

    def test_predictions_start_from_them(self):
        for _ in self.each_release():
            output, errors = self.run_program("predict", "--run", "compare/alone", "--network", "10gbit", "--workers", "1,64",
                                              "--methods", "ddp,ring", "--json", "-")
            self.assertEqual(errors, "")
            found = {(row["method"], row["workers"]): row for row in json.loads(output)["predictions"]}
            self.assertEqual(set(found), {(method, workers) for method in ("ddp", "ring") for workers in (1, 64)})
            alone = self.read("compare/alone/summary.json")["seconds_per_iteration"]
            self.assertLess(found["ddp", 1]["seconds_per_iteration"], 10 * alone["p90"])
            self.assertGreater(found["ring", 64]["seconds_per_iteration"], found["ring", 1]["seconds_per_iteration"])

    def resume(self, name, expected, workers, *more):
        """Another processor or library may round differently, so results are close to those of the release, not equal."""
        before = objects_in(self.folder / name / "metrics.jsonl")
        self.run_program("train", *expected["options"], "--workers", workers, "--iterations", expected["iterations"],
                         "--run-dir", name, "--resume", *more)
        summary = self.read(f"{name}/summary.json")
        self.assertEqual(summary["iterations"], expected["iterations"])
        for field, delta in (("train_loss", 1e-3), ("test_loss", 1e-3), ("test_accuracy", 2e-2)):
            self.assertAlmostEqual(summary[field], expected[field], delta=delta, msg=field)
        after = objects_in(self.folder / name / "metrics.jsonl")
        kept = [line for line in before if line["kind"] == "iteration"]
        self.assertEqual([line for line in after if line["kind"] == "iteration"][:len(kept)], kept)
        images = {}
        for line in after:
            if line["kind"] == "iteration":
                images[line["iteration"]] = images.get(line["iteration"], 0) + line["samples"]
        self.assertEqual(images, {iteration: 16 for iteration in range(1, expected["iterations"] + 1)})
        self.assertEqual(len(self.report(name)["runs"]), 1)

    def test_checkpoints_are_resumed(self):
        for expected in self.each_release():
            for name in expected:
                self.resume(name, expected[name], 2)

    def test_checkpoints_are_resumed_with_other_workers_and_the_torch_engine(self):
        for expected in self.each_release():
            for name in expected:
                self.resume(name, expected[name], 1, "--engine", "torch")

    def test_options_of_the_run_are_compared(self):
        for expected in self.each_release():
            for name, run in expected.items():
                _, errors = self.run_program("train", *run["options"], "--iterations", run["iterations"],
                                             "--run-dir", name, "--resume", "--seed", 1, code=2)
                self.assertIn("--seed 5000", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
