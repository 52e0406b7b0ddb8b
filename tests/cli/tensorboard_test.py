"""--tensorboard: event files, read with Google's protocol buffers and an independent checksum."""
import json
import math
import signal
import struct
import unittest

import crcmod.predefined
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from program import ENDLESS, SMALL, ProgramTest

crc32c = crcmod.predefined.mkCrcFun("crc-32c")


def message_class():
    """The part of TensorFlow's Event that scalars need: event.proto and summary.proto, by field numbers."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="tensorflow", syntax="proto3")

    def message(name, *fields):
        added = file.message_type.add(name=name)
        for number, field_name, kind, type_name in fields:
            label = field.LABEL_REPEATED if field_name == "value" else field.LABEL_OPTIONAL
            described = added.field.add(name=field_name, number=number, type=kind, label=label, type_name=type_name)
            if field_name == "simple_value":  # one of several kinds, so 0 is written too
                described.oneof_index = 0
                added.oneof_decl.add(name="kind")

    message("Value", (1, "tag", field.TYPE_STRING, None), (2, "simple_value", field.TYPE_FLOAT, None))
    message("Summary", (1, "value", field.TYPE_MESSAGE, ".tensorflow.Value"))
    message("Event", (1, "wall_time", field.TYPE_DOUBLE, None), (2, "step", field.TYPE_INT64, None),
            (3, "file_version", field.TYPE_STRING, None), (5, "summary", field.TYPE_MESSAGE, ".tensorflow.Summary"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Event"))


Event = message_class()


def masked(bytes_):
    crc = crc32c(bytes_)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def nearest_float(number):
    return struct.unpack("f", struct.pack("f", number))[0]


class Tensorboard(ProgramTest):
    def events(self, folder):
        """The events of the one file in a folder, after all checksums have been checked."""
        (file,) = (self.folder / folder).iterdir()
        self.assertRegex(file.name, r"^events\.out\.tfevents\.\d{10}\..")
        content = file.read_bytes()
        events = []
        while content:
            (length,) = struct.unpack("<Q", content[:8])
            message = content[12:12 + length]
            self.assertEqual(struct.unpack("<I", content[8:12])[0], masked(content[:8]))
            self.assertEqual(struct.unpack("<I", content[12 + length:16 + length])[0], masked(message))
            event = Event()
            event.ParseFromString(message)
            self.assertEqual(event.SerializeToString(), message, "nothing unknown, nothing left over")
            events.append(event)
            content = content[16 + length:]
        self.assertEqual(events[0].file_version, "brain.Event:2")
        self.assertEqual(events, sorted(events, key=lambda event: event.wall_time))
        return events[1:]

    def scalars(self, folder):
        """{tag: {step: value}}"""
        found = {}
        for event in self.events(folder):
            for value in event.summary.value:
                found.setdefault(value.tag, {})[event.step] = value.simple_value
        return found

    def metrics(self, folder):
        return [json.loads(line) for line in (self.folder / folder / "metrics.jsonl").read_text().splitlines()]

    def expect_metrics(self, run, workers):
        names = sorted(path.name for path in (self.folder / run / "tensorboard").iterdir())
        self.assertEqual(names, [f"rank-{rank}" for rank in range(workers)] + ["test"])
        expected = {name: {} for name in names}
        for line in self.metrics(run):
            kind = line["kind"]
            name = "test" if kind == "test" else f"rank-{line['rank']}"
            fields = {"loss": "loss", "accuracy": "accuracy", **({"seconds": "total"} if kind == "iteration" else {})}
            for tag, field in fields.items():
                steps = expected[name].setdefault(f"{kind}/{tag}", {})
                steps[line["epoch" if kind == "epoch" else "iteration"]] = nearest_float(line[field])
        for name in names:
            self.assertEqual(self.scalars(f"{run}/tensorboard/{name}"), expected[name])

    def test_has_all_scalars_of_all_ranks(self):
        self.run_program("train", *SMALL, "--workers", 2, "--epochs", 3, "--run-dir", "run", "--tensorboard")
        self.expect_metrics("run", workers=2)
        moments = [event.wall_time for event in self.events("run/tensorboard/rank-1") if event.summary.value[0].tag.startswith("it")]
        totals = [line["total"] for line in self.metrics("run") if line["kind"] == "iteration" and line["rank"] == 1]
        self.assertAlmostEqual(moments[-1] - moments[0], sum(totals[1:]), places=5)
        self.assertAlmostEqual(moments[0], (self.folder / "run" / "config.json").stat().st_mtime, delta=60)

    def test_of_every_way_to_start_workers(self):
        for transport in ["thread", "mpi"]:
            self.run_program("train", *SMALL, "--workers", 2, "--epochs", 1, "--run-dir", transport, "--transport", transport,
                             "--tensorboard")
            self.expect_metrics(transport, workers=2)

    def test_of_every_run_of_a_study(self):
        self.run_program("compare", "--repeat", 1, *SMALL, "--workers", 2, "--epochs", 1, "--methods", "ddp,ring", "--run-dir", "study",
                         "--tensorboard")
        for name, workers in (("alone", 1), ("ddp", 2), ("ring", 2)):
            self.expect_metrics(f"study/{name}", workers)
        self.run_program("scale", "--limit", 32, "--workers", "1,2", "--batches", 16, "--iterations", 2, "--run-dir", "scale",
                         "--tensorboard")
        self.expect_metrics("scale/w2-b16", workers=2)

    def test_of_a_training_that_was_stopped(self):
        program = self.start("train", *ENDLESS, "--workers", 2, "--run-dir", "run", "--tensorboard")
        self.wait_for(program, "iteration 5/")
        program.send_signal(signal.SIGINT)
        self.finish(program, code=1)
        steps = self.scalars("run/tensorboard/rank-0")["iteration/loss"]
        self.assertEqual(list(steps), list(range(1, len(steps) + 1)))
        self.assertGreaterEqual(len(steps), 5)

    def test_of_a_diverged_training(self):
        self.run_program("train", *SMALL, "--iterations", 4, "--lr", "1e38", "--run-dir", "run", "--tensorboard")
        self.assertTrue(math.isnan(self.scalars("run/tensorboard/rank-0")["iteration/loss"][4]))

    def test_replaces_only_the_files_of_an_earlier_run(self):
        job = ["train", *SMALL, "--epochs", 1, "--run-dir", "run"]
        self.run_program(*job, "--workers", 2, "--tensorboard")
        kept = self.folder / "run" / "tensorboard" / "rank-0" / "notes.txt"
        kept.touch()
        self.run_program(*job)
        self.assertEqual([path for path in (self.folder / "run" / "tensorboard").rglob("*") if path.is_file()], [kept])
        kept.unlink()
        self.run_program(*job, "--tensorboard")
        self.expect_metrics("run", workers=1)
        self.run_program(*job)
        self.assertFalse((self.folder / "run" / "tensorboard" / "test").exists())

    def test_files_that_cannot_be_written_do_not_fail_the_run(self):
        (self.folder / "run").mkdir()
        (self.folder / "run" / "tensorboard").touch()
        output, errors = self.run_program("train", *SMALL, "--iterations", 2, "--run-dir", "run", "--tensorboard")
        self.assertIn("2 iterations in", output)
        self.assertRegex(errors, "^lockstep: could not write the event files for TensorBoard: run/tensorboard/")


if __name__ == "__main__":
    unittest.main(verbosity=2)
