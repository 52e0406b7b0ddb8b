"""lockstep data info describes data sets and draws sheets of their images."""
import json
import struct
import unittest
import zlib

from data.data_files import BATCHES, DataTest


def decode_png(content):
    """Returns rows of (r, g, b). Checks every checksum, and that there are no other chunks than the required ones."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(content):
        length, = struct.unpack_from(">I", content, at)
        body = content[at + 4:at + 8 + length]
        assert struct.unpack_from(">I", content, at + 8 + length)[0] == zlib.crc32(body)
        chunks.append((body[:4], body[4:]))
        at += 12 + length
    assert at == len(content) and [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, *how = struct.unpack(">IIBBBBB", chunks[0][1])
    assert how == [8, 2, 0, 0, 0], how
    raw = zlib.decompress(chunks[1][1])
    assert len(raw) == height * (1 + 3 * width)
    rows = [raw[y * (1 + 3 * width):(y + 1) * (1 + 3 * width)] for y in range(height)]
    assert all(row[0] == 0 for row in rows), "rows are not filtered"
    return [[tuple(row[1 + 3 * x:4 + 3 * x]) for x in range(width)] for row in rows]


class Info(DataTest):
    def info(self, *arguments):
        output, errors = self.run_program("data", "info", *arguments, "--json", "-")
        self.assertEqual(errors, "")
        return json.loads(output)

    def test_counts_and_measures_cifar10(self):
        result = self.info("cifar10")
        self.assertEqual((result["channels"], result["height"], result["width"]), (3, 32, 32))
        self.assertEqual(result["classes"][6], "frog")
        content = BATCHES["data_batch_1.bin"]
        self.assertEqual(result["train"]["images"], 1000)
        self.assertEqual(result["train"]["class_counts"], [content[::3073].count(label) for label in range(10)])
        self.assertEqual(result["test"]["images"], sum(result["test"]["class_counts"]))
        for channel in range(3):
            values = b"".join(content[i * 3073 + 1 + channel * 1024:][:1024] for i in range(1000))
            mean = sum(values) / len(values)
            square = sum(value * value for value in values) / len(values)
            self.assertAlmostEqual(result["train"]["mean"][channel], mean / 255)
            self.assertAlmostEqual(result["train"]["deviation"][channel], (square - mean * mean) ** 0.5 / 255)

    def test_prints_tables(self):
        output, errors = self.run_program("data", "info")
        self.assertRegex(output, r"^1 channel of 28×28, 10 classes\n")
        self.assertRegex(output, r"(?m)^train +6000 +0\.13\d\d +0\.3\d\d\d$")
        self.assertRegex(output, r"(?m)^9 +601 +10\.0 % +\d+ +\d+\.\d %$")
        self.assertEqual(errors, "")

    def test_describes_synthetic_images_of_any_size(self):
        result = self.info("synthetic:2x9x7,classes=4,train=41,test=13")
        self.assertEqual((result["channels"], result["height"], result["width"]), (2, 9, 7))
        self.assertEqual(sorted(result["train"]["class_counts"]), [10, 10, 10, 11])
        self.assertEqual(result["test"]["images"], 13)

    def test_draws_a_sheet_with_the_right_pixels(self):
        self.run_program("data", "info", "cifar10", "--sheet", "sheet.png")
        rows = decode_png((self.folder / "sheet.png").read_bytes())
        self.assertEqual((len(rows), len(rows[0])), (4 + 10 * 68, 4 + 10 * 68))
        content = BATCHES["data_batch_1.bin"]
        for label in range(10):
            first = next(i for i in range(1000) if content[i * 3073] == label) * 3073 + 1
            for y, x in ((0, 0), (5, 31), (31, 2)):
                expected = tuple(content[first + channel * 1024 + y * 32 + x] for channel in range(3))
                self.assertEqual(rows[4 + label * 68 + 2 * y][4 + 2 * x], expected)
                self.assertEqual(rows[5 + label * 68 + 2 * y][5 + 2 * x], expected)

    def test_a_sheet_that_cannot_be_written_is_named(self):
        _, errors = self.run_program("data", "info", "--sheet", "no/such/sheet.png", code=1)
        self.assertIn("no/such/sheet.png: cannot be written", errors)

    def test_missing_and_damaged_data_are_named(self):
        _, errors = self.run_program("data", "info", "cifar10", "--data-dir", ".", code=1)
        self.assertIn("data_batch_1.bin not found", errors)
        (self.folder / "data_batch_1.bin").write_bytes(b"\x0a" * 3073)
        _, errors = self.run_program("data", "info", "cifar10", "--data-dir", ".", code=1)
        self.assertIn("data_batch_1.bin: at offset 0 expected a label from 0 to 9, found 10", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
