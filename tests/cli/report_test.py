"""lockstep report: the pages of complete, stopped and killed runs."""
import csv
import io
import json
import os
import re
import signal
import unittest

from program import ENDLESS, SMALL, ProgramTest


RUN_TABLES = ("ranks", "summary", "epochs", "exchanged-in-bytes")


def without_epochs(summary):
    """What the page has of a summary: its curves have the epochs."""
    lists = ("epoch_results", "average_train_losses")
    kept = {name: value for name, value in summary.items() if name not in lists}
    return {**kept, "ranks": [{name: rank[name] for name in rank if name not in lists} for rank in summary["ranks"]]}


class Report(ProgramTest):
    def page(self, file):
        """The data of a page."""
        text = (self.folder / file).read_text()
        self.assertNotRegex(text, r"(?:src|href)=.?(?:https?:)?//")
        return json.loads(re.search(r'id="page-data">(.*?)</script>', text, re.DOTALL)[1])

    def summary(self, folder):
        return json.loads((self.folder / folder / "summary.json").read_text())

    def tables_of_study(self, page):
        """The tables of a page without those of the ranks, and without their versions with one number per cell."""
        *tables, ranks, exchanged = page["tables"]
        self.assertRegex(ranks["title"], "^Ranks by (method|run)$")
        self.assertEqual(exchanged["title"], "Exchanged, in bytes")
        return [{key: value for key, value in table.items() if key != "clean"} for table in tables]

    def train(self, folder, *options):
        return self.run_program("train", *SMALL, "--iterations", 6, "--run-dir", folder, *options)

    def test_train_writes_a_report(self):
        output, _ = self.train("run", "--workers", 2)
        self.assertRegex(output, r"(?m)^report: run/report\.html$")
        page = self.page("run/report.html")
        summary = self.summary("run")
        self.assertEqual(page["kind"], "train")
        self.assertEqual(page["command"], "lockstep train --limit 32 --batch 16 --iterations 6 --run-dir run --workers 2")
        self.assertEqual(page["verdict"], summary["verdict"])
        (run,) = page["runs"]
        self.assertEqual(run["summary"], without_epochs(summary))
        self.assertEqual([curve["rank"] for curve in run["iterations"]], [0, 1])
        self.assertEqual(run["iterations"][0]["iteration"], [1, 2, 3, 4, 5, 6])
        self.assertNotEqual(run["timeline"]["iteration"], 1)
        self.assertEqual({lane["stream"] for lane in run["timeline"]["lanes"]}, {"training", "communication"})
        parts = {span["name"] for lane in run["timeline"]["lanes"] for span in lane["spans"] if span["kind"] == "part"}
        self.assertEqual(parts, {"data", "forward", "backward", "synchronise", "optimizer"})
        ranks = {row[0]: row for row in page["tables"][0]["rows"]}
        for rank in summary["ranks"]:
            self.assertEqual(ranks[str(rank["rank"])][1], f"{1000 * rank['seconds_per_iteration']:.3f}")

    def test_bytes_are_those_of_the_formula(self):
        for method, rank_0, others in (("gather-scatter", 494, 247), ("ring", 329, 329)):
            self.train(method, "--workers", 3, "--sync", method, "--engine", "torch")  # adds no padding
            (text,) = self.page(f"{method}/report.html")["methods"]
            for which in ("predicted", "measured"):
                said = [int(number) for number in re.findall(r"(\d+) kB from", text[which])]
                self.assertEqual(said, [rank_0, others] if rank_0 != others else [rank_0], text)

    def test_every_transport_and_launch_write_a_report(self):
        for transport in ["thread", "gloo", "mpi"]:
            output, _ = self.train(transport, "--workers", 2, "--transport", transport)
            self.assertEqual(output.count("report: "), 1)
            self.assertEqual(self.page(f"{transport}/report.html")["command"],
                             f"lockstep train --limit 32 --batch 16 --iterations 6 --run-dir {transport} --workers 2 "
                             f"--transport {transport}")
        program = os.environ["LOCKSTEP_BINARY"]
        output, _ = self.run_program("launch", "--workers", 2, "--", program, "train", *SMALL, "--iterations", 6, "--run-dir",
                                     "launched")
        self.assertIn("report: launched/report.html", output)
        self.assertEqual(self.page("launched/report.html")["command"],
                         "lockstep launch --workers 2 -- lockstep train --limit 32 --batch 16 --iterations 6 --run-dir launched")

    def test_the_command_is_quoted_for_a_shell(self):
        self.train("a 'run' <b>", "--json", "-")
        self.assertEqual(self.page("a 'run' <b>/report.html")["command"],
                         "lockstep train --limit 32 --batch 16 --iterations 6 --run-dir 'a '\\''run'\\'' <b>' --json -")

    def test_json_on_standard_output_has_no_other_lines(self):
        output, errors = self.train("run", "--json", "-")
        json.loads(output)
        self.assertEqual(errors, "")
        self.assertTrue((self.folder / "run" / "report.html").exists())

    def test_compare_writes_a_report(self):
        output, _ = self.run_program("compare", *SMALL, "--epochs", 2, "--workers", 2, "--methods", "ddp,ring", "--repeat", 1,
                                     "--run-dir", "study")
        self.assertIn("report: study/report.html", output)
        page = self.page("study/report.html")
        summary = self.summary("study")
        self.assertEqual(page["kind"], "compare")
        self.assertTrue(page["command"].startswith("lockstep compare --limit"))
        self.assertGreater(page["machine"]["cores"], 0)
        self.assertEqual([run["name"] for run in page["runs"]], ["alone", "ddp", "ring"])
        for run, its in zip(page["runs"], summary["runs"], strict=True):
            self.assertEqual(run["summary"], without_epochs(its))
        self.assertEqual(self.tables_of_study(page), summary["tables"])
        self.assertEqual([row[1] for row in page["tables"][-1]["rows"]],
                         [str(sum(its["exchanged"].values())) for its in summary["runs"]])
        self.assertEqual(page["verdict"], summary["verdict"])
        self.assertEqual([method["name"] for method in page["methods"]], ["ddp", "ring"])

    def test_scale_writes_a_report(self):
        output, _ = self.run_program("scale", "--limit", 64, "--workers", "1,2", "--batches", 16, "--iterations", 3, "--run-dir",
                                     "study")
        self.assertIn("report: study/report.html", output)
        page = self.page("study/report.html")
        summary = self.summary("study")
        self.assertEqual(page["kind"], "scale")
        self.assertEqual(page["scaling"], summary["scaling"])
        self.assertEqual([run["name"] for run in page["runs"]], ["w1-b16", "w2-b16"])
        self.assertEqual(self.tables_of_study(page), summary["tables"])

    def test_an_interrupted_study_writes_a_report(self):
        (self.folder / "study").mkdir()
        (self.folder / "study" / "summary.json").write_text("of an earlier study")
        program = self.start("compare", *SMALL, "--epochs", 10**9, "--workers", 2, "--run-dir", "study")
        self.wait_for(program, "[1/")
        while not (self.folder / "study" / "alone" / "metrics.jsonl").exists():
            pass
        program.send_signal(signal.SIGINT)
        output, errors = self.finish(program, code=1)
        self.assertIn("interrupted", errors)
        self.assertIn("report: study/report.html", output)
        page = self.page("study/report.html")
        self.assertEqual([(run["name"], run["stopped"]["of"]) for run in page["runs"]], [("alone", 2 * 10**9)])
        self.assertIn("It is recorded up to iteration", "".join(page["notes"]))

    def test_report_writes_the_same_page_again(self):
        self.train("run", "--workers", 2)
        before = self.page("run/report.html")
        (self.folder / "run" / "report.html").unlink()
        output, errors = self.run_program("report", "run")
        self.assertEqual((output, errors), ("report: run/report.html\n", ""))
        after = self.page("run/report.html")
        for page in (before, after):
            del page["made"]
        self.assertEqual(before, after)
        output, _ = self.run_program("report", "run", "--out", "elsewhere.html")
        self.assertEqual(output, "report: elsewhere.html\n")
        self.page("elsewhere.html")

    def test_several_runs_are_shown_side_by_side(self):
        self.train("one", "--workers", 2)
        self.train("two", "--workers", 2, "--sync", "ring")
        self.train("three")
        output, _ = self.run_program("report", "one", "two/", "./three")
        self.assertEqual(output, "report: report.html\n")
        page = self.page("report.html")
        self.assertEqual(page["kind"], "side-by-side")
        self.assertEqual([run["name"] for run in page["runs"]], ["one", "two", "three"])
        self.assertIn("workers (2 and 1)", "".join(page["notes"]))
        table, _, _ = page["tables"]
        for column, value in (("mean ms", "mean"), ("median ms", "p50"), ("p90 ms", "p90")):
            times = [f"{1000 * self.summary(name)['seconds_per_iteration'][value]:.3f}" for name in ("one", "two", "three")]
            self.assertEqual([row[table["columns"].index(column)] for row in table["rows"]], times)

    def tables(self, folder):
        """The rows of every CSV file in a folder, by the file's name."""
        tables = {}
        for file in sorted((self.folder / folder).iterdir()):
            content = file.read_bytes().decode()
            self.assertEqual(content.count("\n"), content.count("\r\n"))
            tables[file.name] = list(csv.DictReader(io.StringIO(content, newline="")))
        return tables

    def test_tables_are_written_as_csv(self):
        self.train("run", "--workers", 2)
        (self.folder / "run" / "report.html").unlink()
        output, errors = self.run_program("report", "run", "--csv", "new/csv")
        self.assertEqual((output, errors), ("".join(f"table: new/csv/{name}.csv\n" for name in RUN_TABLES), ""))
        self.assertFalse((self.folder / "run" / "report.html").exists())
        tables, summary = self.tables("new/csv"), self.summary("run")
        self.assertEqual([row["rank"] for row in tables["ranks.csv"]], ["0", "1"])
        for row, rank in zip(tables["ranks.csv"], summary["ranks"]):
            self.assertEqual(row["MB/iteration"], f"{rank['bytes_per_iteration'] / 1e6:.3f}")
        figures = {row["figure"]: row["value"] for row in tables["summary.csv"]}
        self.assertEqual(figures["iterations"], "6")
        self.assertEqual(figures["weights, SHA-256"], summary["weights_sha256"])

    def test_tables_of_studies_have_one_number_in_a_cell(self):
        self.run_program("compare", "--repeat", 1, *SMALL, "--epochs", 1, "--workers", 2, "--methods", "ddp", "--run-dir", "compared")
        self.run_program("scale", "--limit", 64, "--workers", "1,4", "--batches", "8,16", "--iterations", 3, "--run-dir",
                         "scaled")
        self.run_program("report", "compared", "--csv", "compared/csv")
        tables, summary = self.tables("compared/csv"), self.summary("compared")
        rows = tables["sync-methods.csv"]
        self.assertEqual([row["method"] for row in rows], ["alone", "ddp"])
        self.assertEqual(rows[0]["MB rank 0"], "")
        self.assertGreater(float(rows[1]["MB rank 0"]), 0)
        ranks = tables["ranks-by-method.csv"]
        self.assertEqual([(row["method"], row["rank"]) for row in ranks], [("ddp", "0"), ("ddp", "1")])
        for row, rank in zip(ranks, summary["runs"][1]["ranks"]):
            self.assertEqual(row["train loss"], f"{rank['train_loss']:.4f}")
        self.run_program("report", "scaled", "--csv", "scaled/csv")
        tables, summary = self.tables("scaled/csv"), self.summary("scaled")
        self.assertEqual(set(tables), {"strong-scaling.csv", "time-and-speed-up-by-batch.csv",
                                       "learning-and-first-epochs.csv", "ranks-by-run.csv",
                                       "exchanged-in-bytes.csv"})
        for row in [*tables["strong-scaling.csv"], *tables["time-and-speed-up-by-batch.csv"]]:
            mark = row.pop("workers mark", "")
            self.assertIn(mark, ("", "*"))
            for cell in row.values():
                if cell:
                    float(cell)
        by_batch = {row["workers"]: row for row in tables["time-and-speed-up-by-batch.csv"]}
        for point in summary["scaling"]["points"]:
            row, batch = by_batch[str(point["workers"])], point["batch"]
            self.assertEqual(row[f"{batch} per worker ×"], f"{point['speedup']:.2f}")
            self.assertGreater(float(row[f"{batch} per worker s"]), 0)
            self.assertEqual(row[f"comm s ({batch})"] == "", point["workers"] == 1)

    def test_tables_are_written_as_markdown(self):
        self.train("one", "--workers", 2)
        self.train("two")
        output, _ = self.run_program("report", "one", "two", "--markdown", "tables.md")
        self.assertEqual(output, "tables: tables.md\n")
        self.assertFalse((self.folder / "report.html").exists())
        text = (self.folder / "tables.md").read_text()
        self.assertTrue(text.startswith("# LeNet-5 on MNIST, 2 workers: runs side by side\n\n## Runs\n\n| run | method |"))
        self.assertRegex(text, r"(?m)^\| --- \| --- \| ---: \|")
        self.assertRegex(text, r"(?m)^\| one \| ddp \| 2 \| \d")
        self.assertIn("- median ms: time of an iteration, without the first: median\n", text)
        output, _ = self.run_program("report", "one", "--markdown", "one.md", "--csv", "csv", "--out", "page.html")
        self.assertEqual(output.splitlines(), ["report: page.html", *(f"table: csv/{name}.csv" for name in RUN_TABLES),
                                               "tables: one.md"])

    def test_tables_that_cannot_be_written_are_named(self):
        self.train("run")
        (self.folder / "file").touch()
        for option, to, message in (("--csv", "file/csv", "file/csv: cannot make this folder"),
                                    ("--markdown", "no/tables.md", "no/tables.md: cannot be written"),
                                    ("--markdown", "run", "run: is a folder, not a file to write")):
            output, errors = self.run_program("report", "run", option, to, code=1)
            self.assertEqual(output, "")
            self.assertIn(f"lockstep report: {message}", errors)
        (self.folder / "csv" / "ranks.csv").mkdir(parents=True)
        _, errors = self.run_program("report", "run", "--csv", "csv", code=1)
        self.assertIn("lockstep report: csv/ranks.csv: cannot write", errors)
        self.assertEqual([path.name for path in (self.folder / "csv").iterdir()], ["ranks.csv"])
        _, errors = self.run_program("report", "none", "--csv", "other", code=1)
        self.assertIn("none: there is no such folder", errors)
        self.assertFalse((self.folder / "other").exists())

    def test_a_damaged_post_mortem_leaves_the_other_tables(self):
        self.run_program("train", *SMALL, "--run-dir", "run")
        (self.folder / "run" / "postmortem.json").write_text("{")
        self.run_program("report", "run", "--csv", "csv", "--markdown", "tables.md")
        tables = self.tables("csv")
        self.assertEqual(set(tables), {f"{name}.csv" for name in (*RUN_TABLES, "post-mortem")})
        self.assertIn("postmortem.json", tables["post-mortem.csv"][0]["error"])
        self.assertIn("postmortem.json", (self.folder / "tables.md").read_text())

    def expect_incomplete(self, page):
        (run,) = page["runs"]
        self.assertIsNone(run["summary"])
        self.assertEqual(run["stopped"]["of"], 2 * 10**9)
        self.assertIn(f"It is recorded up to iteration {run['stopped']['iteration']} of {2 * 10**9}.", page["verdict"])
        return run

    def test_an_interrupted_training_writes_a_report(self):
        for transport in ["shm", "thread", "mpi"]:
            program = self.start("train", *ENDLESS, "--workers", 2, "--run-dir", transport, "--transport", transport)
            self.wait_for(program, "iteration 5/")
            program.send_signal(signal.SIGINT)
            output, _ = self.finish(program, code=1)
            self.assertIn(f"report: {transport}/report.html", output)
            run = self.expect_incomplete(self.page(f"{transport}/report.html"))
            self.assertGreaterEqual(run["stopped"]["iteration"], 5)
            self.assertIn(f"--resume --run-dir {transport}.", self.page(f"{transport}/report.html")["verdict"])

    def test_a_killed_training_can_be_reported(self):
        program = self.start("train", *ENDLESS, "--workers", 2, "--run-dir", "run")
        self.wait_for(program, "iteration 5/")
        self.run_program("report", "run", "--out", "now.html")
        self.assertIn("still running", self.expect_incomplete(self.page("now.html"))["stopped"]["why"])
        self.kill_all(program)
        self.assertFalse((self.folder / "run" / "report.html").exists())
        self.run_program("report", "run")
        self.assertIn("killed", self.expect_incomplete(self.page("run/report.html"))["stopped"]["why"])

    def test_the_report_of_a_resumed_training_has_all_iterations(self):
        job = ["train", *SMALL, "--workers", 2, "--checkpoint-every", 3, "--run-dir", "run", "--iterations"]
        self.run_program(*job, 3)
        self.run_program(*job, 6, "--resume")
        page = self.page("run/report.html")
        self.assertEqual(page["runs"][0]["iterations"][1]["iteration"], [1, 2, 3, 4, 5, 6])
        self.assertIn("--resume", page["command"])

    def test_a_diverged_training_is_reported(self):
        output, _ = self.train("run", "--lr", "1e38")
        self.assertIn("train loss nan", output)
        page = self.page("run/report.html")
        self.assertIn(None, page["runs"][0]["iterations"][0]["loss"])

    def test_a_failed_report_does_not_fail_the_run(self):
        (self.folder / "run" / "report.html").mkdir(parents=True)  # where the file would be
        (self.folder / "run" / "report.html" / "file").touch()
        output, errors = self.train("run")
        self.assertIn("6 iterations in", output)
        self.assertNotIn("report:", output)
        self.assertRegex(errors, "^lockstep: could not write the report: run/report.html: .*directory\n$")

    def test_malformed_files_are_named(self):
        self.train("run")
        metrics = self.folder / "run" / "metrics.jsonl"
        lines = metrics.read_text().splitlines(keepends=True)
        cases = [("run/metrics.jsonl", "".join(lines[:2] + ["{broken\n"] + lines[2:]), r"run/metrics\.jsonl: line 3: "),
                 ("run/config.json", '{"format": 2}',
                  r"run/config\.json: written by a newer version of Lockstep \(format 2, this version reads up to 1\)"),
                 ("run/summary.json", "{", r"run/summary\.json: not valid JSON")]
        for name, content, message in cases:
            file = self.folder / name
            good = file.read_text()
            file.write_text(content)
            output, errors = self.run_program("report", "run", code=1)
            self.assertEqual(output, "")
            self.assertRegex(errors, f"^lockstep report: {message}")
            file.write_text(good)
        (self.folder / "empty").mkdir()
        for folder, message in (("empty", "not a run folder"), ("none", "there is no such folder")):
            _, errors = self.run_program("report", folder, code=1)
            self.assertIn(f"lockstep report: {folder}: {message}", errors)
        _, errors = self.run_program("report", code=2)
        self.assertIn("folders is required", errors)

    def test_it_has_help(self):
        self.expect_help("report", ["folders", "--out", "--csv", "--markdown", "--png", "--pdf"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
