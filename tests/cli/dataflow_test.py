"""lockstep dataflow as its users run it: tables, JSON, pages, and what is refused."""
import json
import pathlib
import unittest

from program import ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]

OPTIONS = ["--model", "--size", "--kernel", "--channels", "--filters", "--stride", "--padding", "--groups", "--batch",
           "--array", "--buffer", "--filter-buffer", "--registers", "--bus", "--energy", "--clock", "--mapping",
           "--least", "--dataflow", "--training", "--example", "--filter", "--input", "--operands", "--random", "--seed",
           "--mac-width", "--serial", "--cycles", "--json", "--html"]


class Dataflow(ProgramTest):
    def json_of(self, *arguments):
        output, errors = self.run_program("dataflow", *arguments, "--json", "-")
        self.assertEqual(errors, "")
        return json.loads(output)

    def test_help_names_every_option(self):
        self.expect_help("dataflow", OPTIONS)

    def test_the_example_shows_every_product(self):
        output, _ = self.run_program("dataflow", "--example")
        self.assertRegex(output, r"(?m)^PE1 .* 5 8 +1$")
        self.assertRegex(output, r"(?m)^PE4 .* 53 60 +2$")
        self.assertRegex(output, r"(?m)^2 +2·2 → 5 +5·4 → 32 +5·2 → 14 +8·4 → 53 ")
        self.assertIn("PE2→PE1 37  PE4→PE3 67", output)
        self.assertIn("  37 47\n  67 77\n", output)
        self.assertIn("16 multiply-accumulates in 6 cycles", output)
        self.assertIn("4 filter, 9 input and 0 psum words read, 4 psums written; 4 psum hops", output)

    def test_the_hand_calculation(self):
        output, _ = self.run_program("dataflow", "--filter=-1,2;0,1", "--input", "1,3,9;2,4,5;0,1,7", "--mac-width", 2)
        self.assertRegex(output, r"(?m)^1 +1·\(-1\)\+3·2 → 5 ")
        self.assertRegex(output, r"(?m)^2 +3·\(-1\)\+9·2 → 15 ")

    def test_the_hand_calculation_one_element_at_a_time(self):
        options = ["--filter=-1,2;0,1", "--input", "1,3,9;2,4,5;0,1,7", "--mac-width", 2, "--serial"]
        output, _ = self.run_program("dataflow", *options)
        documented = (ROOT / "docs" / "dataflow.md").read_text()
        self.assertIn(output.split("\n\n")[2], documented)
        found = self.json_of(*options)
        self.assertEqual([(its["cycle"], its["pe"], its["psum"]) for its in found["cycles"] if its["operation"] == "multiply"],
                         [(1, 1, 5), (2, 2, 4), (3, 3, 6), (4, 4, 1), (6, 1, 15), (7, 2, 5), (8, 3, 6), (9, 4, 7)])
        self.assertEqual([(its["cycle"], its["pe"], its["operands"], its["psum"], its["output"])
                          for its in found["cycles"] if its["operation"] == "add psum"],
                         [(5, 1, "5+4 (PE2)", 9, "(1,1)"), (5, 3, "6+1 (PE4)", 7, "(2,1)"),
                          (10, 1, "15+5 (PE2)", 20, "(1,2)"), (10, 3, "6+7 (PE4)", 13, "(2,2)")])
        self.assertEqual(found["output"], [[[[9, 20], [7, 13]]]])

    def test_serial_prints_as_many_cycles_as_wanted(self):
        output, _ = self.run_program("dataflow", "--example", "--serial", "--cycles", 3)
        self.assertRegex(output, r"(?m)^3 +PE2 ")
        self.assertNotRegex(output, r"(?m)^4 ")
        self.assertIn("15 more cycles (--cycles 18 shows them)", output)

    def test_operands_come_from_files_and_seeds(self):
        (self.folder / "it.json").write_text('{"filter": [[1]], "input": [[2, 3], [4, 5]], "stride": 1, "padding": 1}')
        found = self.json_of("--operands", "it.json")
        self.assertEqual(found["output"], [[[[0, 0, 0, 0], [0, 2, 3, 0], [0, 4, 5, 0], [0, 0, 0, 0]]]])
        layer = ["--random", "--size", 5, "--kernel", 3, "--channels", 2, "--filters", 2]
        self.assertEqual(self.json_of(*layer), self.json_of(*layer, "--seed", 5000))
        self.assertNotEqual(self.json_of(*layer)["output"], self.json_of(*layer, "--seed", 1)["output"])

    def test_json_has_the_documented_fields(self):
        found = self.json_of("--model", "alexnet", "--mapping", "published")
        self.assertEqual([layer["name"] for layer in found["layers"]], ["C1", "C2", "C3", "C4", "C5"])
        first = found["layers"][0]
        self.assertEqual(first["mapping"], {"m": 96, "n": 1, "e": 7, "p": 16, "q": 1, "r": 1, "t": 2})
        self.assertEqual(first["active_pes"], 154)
        self.assertEqual(set(first["accesses"]), {"dram", "buffer", "array", "register"})
        self.assertEqual(set(first["energy"]), {"alu", "dram", "buffer", "array", "register"})
        for level, words in first["accesses_by_type"].items():
            self.assertEqual(sum(words.values()), first["accesses"][level])
        for field in ("macs", "cycles", "milliseconds", "buffer_bytes", "dram_bytes"):
            self.assertAlmostEqual(sum(layer[field] for layer in found["layers"]), found["total"][field])
        self.assertAlmostEqual(first["utilisation"], 154 / 168)

    def test_options_change_the_chip(self):
        whole = self.json_of("--model", "lenet5")
        half = self.json_of("--model", "lenet5", "--clock", 100)
        self.assertAlmostEqual(half["total"]["milliseconds"], 2 * whole["total"]["milliseconds"])
        free = self.json_of("--model", "lenet5", "--energy", "1,1,2,6,0")
        self.assertEqual(free["total"]["energy"]["dram"], 0)
        fast = self.json_of("--model", "alexnet", "--least", "time")
        frugal = self.json_of("--model", "alexnet")
        self.assertLess(fast["total"]["cycles"], frugal["total"]["cycles"])
        self.assertLess(frugal["total"]["energy_total"], fast["total"]["energy_total"])

    def test_training_has_three_passes(self):
        found = self.json_of("--size", 8, "--kernel", 3, "--channels", 4, "--filters", 4, "--training")
        self.assertEqual([layer["pass"] for layer in found["layers"]], ["forward", "input gradient", "weight gradient"])
        self.assertEqual(len(found["totals"]), 3)

    def test_all_dataflows(self):
        found = self.json_of("--model", "alexnet", "--dataflow", "all")
        energies = {total["dataflow"]: total["energy_total"] for total in found["totals"]}
        self.assertEqual(min(energies, key=energies.get), "row-stationary")
        self.assertEqual(len(energies), 4)

    def test_invalid_options_are_refused(self):
        layer = "dataflow --size 9 --kernel 3"
        for arguments, part in [
                ("dataflow", "nothing to map"),
                ("dataflow --model vgg99", "alexnet"),
                ("dataflow --size 20 --kernel 13", "taller than the array of 12"),
                ("dataflow --size 0 --kernel 3", "height is 0"),
                ("dataflow --size 5 --kernel 7", "does not fit"),
                (f"{layer} --stride 0", "stride is 0"),
                (f"{layer} --batch 0", "batch is 0"),
                (f"{layer} --channels 3 --groups 2", "do not divide"),
                (f"{layer} --buffer 16", "no mapping fits the chip"),
                (f"{layer} --buffer much", "'much' is not a size"),
                (f"{layer} --array 12", "ROWSxCOLUMNS"),
                (f"{layer} --array 0x14", "rows of the array is 0"),
                (f"{layer} --registers 1,2", "FILTER,IFMAP,PSUM"),
                (f"{layer} --energy 1,2,x,4,5", "five numbers"),
                (f"{layer} --clock 0", "above 0"),
                (f"{layer} --mapping published", "published"),
                (f"{layer} --mapping 1,2,3", "seven numbers"),
                (f"{layer} --mapping 1,1,9,1,1,1,1", "e is 9, but the output has 7 rows"),
                (f"{layer} --dataflow tide", "unknown dataflow 'tide'"),
                (f"{layer} --training --mapping published", "omit --mapping"),
                (f"{layer} --model alexnet", "omit one of them"),
                ("dataflow --model alexnet --serial", "--serial orders the cycles of a simulation"),
                ("dataflow --example --random", "exclude each other"),
                ("dataflow --example --mac-width 0", "at least once per cycle"),
                ("dataflow --example --html no/such/folder/page.html", "no/such/folder"),
                ("dataflow --filter 1,2;3 --input 1,2;3,4", "differ in length"),
                ("dataflow --filter [[1]] --input {}", "--input is '{}'"),
                ("dataflow --random --size 1000 --kernel 3 --channels 64", "too large")]:
            with self.subTest(arguments):
                code = 1 if "folder" in arguments else 2
                output, errors = self.run_program(*arguments.split(), code=code)
                self.assertEqual(output, "")
                self.assertIn(part, errors)

    def test_malformed_operands_are_refused(self):
        for text, part in [("{", "it.json is not JSON"), ("[]", "it.json: the operands must be"),
                           ('{"filter": [[1]], "input": [[1], [1, 2]]}', "it.json: input: rows and planes differ")]:
            (self.folder / "it.json").write_text(text)
            _, errors = self.run_program("dataflow", "--operands", "it.json", code=2)
            self.assertIn(part, errors)
        self.run_program("dataflow", "--operands", "none.json", code=1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
