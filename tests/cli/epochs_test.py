"""What a run prints and records about its epochs, ranks and exchanged bytes."""
import json
import socket
import unittest

from program import BINARY, SMALL, ProgramTest, free_port


class Epochs(ProgramTest):
    def summary(self):
        return json.loads((self.folder / "run" / "summary.json").read_text())

    def test_tables_have_the_values_of_summary_json(self):
        output, _ = self.run_program("train", *SMALL, "--epochs", 2, "--workers", 2, "--epochs-table", "--test-per-rank",
                                     "--run-dir", "run")
        summary, lines = self.summary(), [line.split() for line in output.splitlines()]
        for epoch in (1, 2):
            parts = {"0": summary["ranks"][0], "1": summary["ranks"][1], "all": summary}
            for rank, part in parts.items():
                its = part["epoch_results"][epoch - 1]
                self.assertIn([str(epoch), rank, f"{its['train_loss']:.4f}", f"{100 * its['train_accuracy']:.2f}",
                               f"{its['seconds']:.3f}", f"{its['images_per_second']:.0f}"], lines)
        self.assertEqual(summary["average_train_losses"], [its["train_loss"] for its in summary["epoch_results"]])
        for number, rank in enumerate(summary["ranks"]):
            (line,) = [line for line in lines if line[:2] == [str(number), f"{rank['seconds_training']:.2f}"]]
            self.assertEqual(line[4:6], [f"{rank['test_loss']:.4f}", f"{rank['test_correct']}/{rank['test_images']}"])

    def test_results_of_tests_are_counts(self):
        output, _ = self.run_program("train", *SMALL, "--epochs", 1, "--stop-at-accuracy", 1, "--run-dir", "run")
        summary = self.summary()
        count = f"{summary['test_correct']}/{summary['test_images']} ({100 * summary['test_accuracy']:.4g} %)"
        self.assertIn(f"epoch 1  test loss {summary['test_loss']:.4f}  accuracy {count}\n", output)
        self.assertIn(f"test loss {summary['test_loss']:.4f}, accuracy {count}\n", output)
        self.assertNotIn("exchanged", output, "one worker sends nothing")
        self.assertNotIn("epoch  rank", output)

    def test_a_checkpointed_run_counts_what_its_checkpoints_cost(self):
        output, _ = self.run_program("train", "--model", "resnet18", "--data", "synthetic:3x32x32,train=8,test=8", "--batch", 4,
                                     "--workers", 2, "--checkpoint-every", 1, "--run-dir", "run")
        exchanged = self.summary()["exchanged"]
        self.assertGreater(exchanged["checkpoints"], 0)
        self.assertGreater(exchanged["batch_norm"], 0)
        self.assertEqual(exchanged["other"], 0)
        self.assertRegex(output, r"(?m)^exchanged by all ranks: \S+ MB of gradients, ")

    def test_nodes_without_rank_0_name_the_place_of_the_output(self):
        port = free_port()
        self.run_program("launch", "--new-token", "token")
        nodes = [self.start("launch", "--nnodes", 2, "--node-rank", node, "--workers", 2, "--master-addr", "127.0.0.1",
                            "--master-port", port, "--token-file", "token", "--", BINARY, "train", *SMALL, "--transport", "gloo")
                 for node in (0, 1)]
        first, second = [self.finish(program, 0)[0] for program in nodes]
        (run,) = (self.folder / "runs").iterdir()
        self.assertEqual(json.loads((run / "summary.json").read_text())["exchanged"]["other"], 0)
        line = f"rank 0 prints the results of this run and records it, on {socket.gethostname()} in {run}"
        self.assertNotIn(line, first)
        self.assertEqual(second.count(line), 1, second)


if __name__ == "__main__":
    unittest.main(verbosity=2)
