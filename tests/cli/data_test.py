"""lockstep data: fetching from a server on loopback that fails in all the usual ways, and describing sets."""
import gzip
import hashlib
import io
import json
import os
import pathlib
import resource
import signal
import struct
import tarfile
import time
import unittest
import zlib

from file_server import FileServer
from program import HANGS, ProgramTest

SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "data"
BATCHES = {name: (SHIPPED / "cifar10" / name).read_bytes() for name in ("data_batch_1.bin", "test_batch.bin")}
MNIST = {file.name: file.read_bytes() for file in (SHIPPED / "mnist").glob("*.gz")}
ARCHIVE = "cifar-10-binary.tar.gz"
FOLDER = "cifar-10-batches-bin"


def tar_of(files, folder=FOLDER):
    """As the set is published: with a folder, and files that nobody needs."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        entry = tarfile.TarInfo(folder)
        entry.type = tarfile.DIRTYPE
        tar.addfile(entry)
        for name, content in {"readme.html": b"<p>", **files}.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def sums_of(files):
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())


TAR = tar_of(BATCHES)


def setUpModule():
    """What a user's environment may say of the network and of terminals is not for these tests."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name == "NO_COLOR":
            del os.environ[name]


class DataTest(ProgramTest):
    def serve(self, files, **how):
        server = FileServer(files, **how)
        self.addCleanup(server.close)
        return server

    def arguments(self, server, files=BATCHES, data="cifar10"):
        (self.folder / "sums").write_text(sums_of(files))
        return ["data", "fetch", data, "--to", "to", "--from", server.url, "--sums", "sums"]

    def fetch(self, server, files=BATCHES, data="cifar10", code=0):
        return self.run_program(*self.arguments(server, files, data), code=code)

    def there(self, folder=FOLDER):
        place = self.folder / "to" / folder
        return {file.name: file.read_bytes() for file in place.iterdir()} if place.is_dir() else {}


class Fetch(DataTest):
    def test_brings_a_tar(self):
        server = self.serve({ARCHIVE: TAR})
        output, errors = self.fetch(server)
        self.assertEqual(self.there(), BATCHES)
        self.assertRegex(output, rf"(?m)^{ARCHIVE}: (\S+) of \1 MB$")
        self.assertIn(f"{ARCHIVE}: unpacked, checksums match\n", output)
        self.assertIn(f"train with --data cifar10 --data-dir to/{FOLDER}\n", output)
        self.assertEqual(errors, "")
        self.run_program("data", "info", "cifar10", "--data-dir", "to")

    def test_brings_gzip_files(self):
        unpacked = {name.removesuffix(".gz"): gzip.decompress(content) for name, content in MNIST.items()}
        self.fetch(self.serve(MNIST), unpacked, "mnist")
        self.assertEqual(self.there("mnist"), unpacked)
        output, _ = self.run_program("data", "info", "mnist", "--data-dir", "to/mnist")
        self.assertRegex(output, r"(?m)^train +6000 ")

    def test_asks_for_nothing_that_is_there_already(self):
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        output, _ = self.fetch(server)
        self.assertIn(f"{ARCHIVE}: exists already\n", output)
        self.assertEqual(len(server.requests), 1)

    def test_mends_a_file_that_is_not_the_published_one(self):
        self.fetch(self.serve({ARCHIVE: TAR}))
        (self.folder / "to" / FOLDER / "test_batch.bin").write_bytes(b"damaged")
        self.fetch(self.serve({ARCHIVE: TAR}))
        self.assertEqual(self.there(), BATCHES)

    def test_follows_a_trailing_slash_in_the_address(self):
        server = self.serve({ARCHIVE: TAR})
        server.url += "/"
        self.fetch(server)
        self.assertEqual(server.requests[0][0], f"/sets/{ARCHIVE}")


class Resume(DataTest):
    def leave_part(self, content):
        part = self.folder / "to" / FOLDER / f"{ARCHIVE}.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(content)

    def test_asks_only_for_what_is_missing(self):
        self.leave_part(TAR[:1000])
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        self.assertEqual(server.requests, [(f"/sets/{ARCHIVE}", "bytes=1000-", 206)])
        self.assertEqual(self.there(), BATCHES)

    def test_takes_all_from_a_server_without_ranges(self):
        self.leave_part(TAR[:1000])
        server = self.serve({ARCHIVE: TAR}, ranges=False)
        self.fetch(server)
        self.assertEqual(server.requests, [(f"/sets/{ARCHIVE}", "bytes=1000-", 200)])
        self.assertEqual(self.there(), BATCHES)

    def test_unpacks_a_download_that_was_whole(self):
        self.leave_part(TAR)
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        self.assertEqual([request[2] for request in server.requests], [416])
        self.assertEqual(self.there(), BATCHES)

    def test_starts_over_when_the_part_is_longer_than_the_file(self):
        self.leave_part(TAR + b"more")
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        self.assertEqual([request[2] for request in server.requests], [416, 200])
        self.assertEqual(self.there(), BATCHES)

    def test_starts_over_when_the_part_is_of_another_file(self):
        self.leave_part(b"something else" * 100)
        server = self.serve({ARCHIVE: TAR})
        output, _ = self.fetch(server)
        self.assertIn("the partial download does not match: starting over", output)
        self.assertEqual([request[2] for request in server.requests], [206, 200])
        self.assertEqual(self.there(), BATCHES)

    def test_connects_again_when_the_connection_is_cut(self):
        server = self.serve({ARCHIVE: TAR}, cut_after=len(TAR) // 3 + 1)
        self.fetch(server)
        self.assertEqual([request[2] for request in server.requests], [200, 206, 206])
        self.assertEqual(self.there(), BATCHES)

    def test_goes_on_in_the_next_run_when_cuts_do_not_end(self):
        server = self.serve({ARCHIVE: TAR}, cut_after=1000)
        _, errors = self.fetch(server, code=1)
        self.assertIn("the connection was lost after 5000 bytes", errors)
        self.assertIn("run the same command again to resume", errors)
        self.assertEqual(self.there(), {f"{ARCHIVE}.part": TAR[:5000]})
        server.cut_after = None
        self.fetch(server)
        self.assertEqual(server.requests[-1][1:], ("bytes=5000-", 206))
        self.assertEqual(self.there(), BATCHES)

    def test_cuts_of_a_server_without_ranges_end_with_an_error(self):
        server = self.serve({ARCHIVE: TAR}, ranges=False, cut_after=1000)
        _, errors = self.fetch(server, code=1)
        self.assertIn("the connection was lost after 1000 bytes", errors)
        self.assertLessEqual(len(server.requests), 5)

    def interrupt(self, how):
        server = self.serve({ARCHIVE: TAR}, hold_after=100_000)
        program = self.start(*self.arguments(server))
        self.assertTrue(server.holding.wait(HANGS))
        part = self.folder / "to" / FOLDER / f"{ARCHIVE}.part"
        end = time.monotonic() + HANGS
        while not (part.exists() and part.stat().st_size == 100_000):
            self.assertIsNone(program.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        program.send_signal(how)
        return program

    def test_an_interrupt_leaves_what_came(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            _, errors = self.finish(self.interrupt(how), code=1)
            self.assertIn("interrupted after 100000 bytes: run the same command again", errors)
            self.assertEqual(self.there(), {f"{ARCHIVE}.part": TAR[:100_000]})
            (self.folder / "to" / FOLDER / f"{ARCHIVE}.part").unlink()

    def test_even_a_kill_leaves_what_came(self):
        self.finish(self.interrupt(signal.SIGKILL), code=-signal.SIGKILL)
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        self.assertEqual(server.requests[0][1], "bytes=100000-")
        self.assertEqual(self.there(), BATCHES)

    def test_two_at_once_do_not_mix(self):
        server = self.serve({ARCHIVE: TAR}, hold_after=100_000)
        self.start(*self.arguments(server))
        self.assertTrue(server.holding.wait(HANGS))
        _, errors = self.fetch(server, code=1)
        self.assertIn(f"to/{FOLDER}: another process is fetching to it: wait for it to end", errors)

    def test_nor_do_they_while_one_unpacks(self):
        # A pipe where a file is to be written: whoever opens it waits until someone reads.
        self.leave_part(TAR)
        pipe = self.folder / "to" / FOLDER / "data_batch_1.bin.part"
        os.mkfifo(pipe)
        server = self.serve({ARCHIVE: TAR})
        first = self.start(*self.arguments(server))
        self.assertTrue(server.asked.wait(HANGS))
        _, errors = self.fetch(server, code=1)
        self.assertIn("another process is fetching to it", errors)
        self.assertIsNone(first.poll())
        self.assertTrue((self.folder / "to" / FOLDER / f"{ARCHIVE}.part").exists())

    def test_asks_again_when_a_server_sends_less_than_was_asked_for(self):
        self.leave_part(TAR[:1000])
        server = self.serve({ARCHIVE: TAR}, most=len(TAR) // 2)
        output, _ = self.fetch(server)
        self.assertNotIn("starting over", output)
        self.assertEqual([request[2] for request in server.requests], [206, 206])
        self.assertEqual(self.there(), BATCHES)

    def test_but_not_for_ever(self):
        self.leave_part(TAR[:1000])
        for most, left in ((10, 1050), (0, 1050)):
            server = self.serve({ARCHIVE: TAR}, most=most)
            _, errors = self.fetch(server, code=1)
            self.assertIn(f"after {left} bytes (the server sent less than requested)", errors)
            self.assertLessEqual(len(server.requests), 5)
            self.assertEqual(self.there(), {f"{ARCHIVE}.part": TAR[:left]})


class BadSource(DataTest):
    def refused(self, files, *parts, sums=BATCHES):
        _, errors = self.fetch(self.serve(files), sums, code=1)
        for part in parts:
            self.assertIn(part, errors)
        self.assertEqual(self.there(), {}, "nothing is to be left behind")

    def test_nothing_there(self):
        self.refused({}, f"/sets/{ARCHIVE}: the server answered with 404", "--from")

    def test_nobody_listens(self):
        server = FileServer({})
        server.close()
        _, errors = self.fetch(server, code=1)
        self.assertIn("Failed to connect to 127.0.0.1", errors)
        self.assertIn("check the network and the address", errors)

    def test_no_such_host(self):
        host = "h" * 64  # longer than names can be, so that nobody is asked for it
        _, errors = self.run_program("data", "fetch", "mnist", "--to", "to", "--from", f"http://{host}/", code=1)
        self.assertIn(f"Could not resolve host: {host}: check the network", errors)

    def test_another_content(self):
        other = {**BATCHES, "test_batch.bin": BATCHES["data_batch_1.bin"]}
        _, errors = self.fetch(self.serve({ARCHIVE: tar_of(other)}), code=1)
        for part in ("test_batch.bin: expected SHA-256", "this is not the published file", "--from"):
            self.assertIn(part, errors)
        self.assertEqual(set(self.there()), {"data_batch_1.bin"}, "only what was right may stay")

    def test_a_page_in_place_of_the_archive(self):
        self.refused({ARCHIVE: b"<!DOCTYPE html>" + b" " * 1000}, "at offset 0 of the decompressed archive", "--from")

    def test_an_archive_cut_short(self):
        self.refused({ARCHIVE: TAR[:5000]}, "the file is damaged")

    def test_an_archive_that_lacks_a_file(self):
        self.refused({ARCHIVE: tar_of({"other.bin": b"x"})}, "expected this file, found the archive's end")

    def test_an_archive_that_leads_out(self):
        self.refused({ARCHIVE: tar_of(BATCHES, "../..")}, "found one outside of it")
        self.assertEqual({file.name for file in self.folder.iterdir()}, {"sums", "to"})

    def test_a_download_larger_than_the_set_can_be(self):
        server = self.serve({"train-images-idx3-ubyte.gz": bytes(50_000_000)})
        _, errors = self.run_program("data", "fetch", "mnist", "--to", "to", "--from", server.url, code=1)
        self.assertIn("expected at most 48558992 bytes, the server sends 50000000 or more", errors)
        self.assertEqual(self.there("mnist"), {})

    def test_published_sums_are_the_default(self):
        server = self.serve(MNIST)
        _, errors = self.run_program("data", "fetch", "mnist", "--to", "to", "--from", server.url, code=1)
        self.assertIn("expected SHA-256 ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", errors)
        self.assertEqual(self.there("mnist"), {})

    def test_a_disk_that_is_full(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        server = self.serve({ARCHIVE: TAR})
        arguments = self.arguments(server)
        _, errors = self.finish(self.start(*arguments, preexec_fn=small_files_only), code=1)
        self.assertIn(f"to/{FOLDER}/{ARCHIVE}.part: cannot write: File too large: free some space", errors)
        self.assertEqual(self.there(), {f"{ARCHIVE}.part": TAR[:50_000]})
        self.fetch(server)
        self.assertEqual(self.there(), BATCHES)


class OnATerminal(DataTest):
    def test_draws_a_bar(self):
        output = self.run_on_terminal(*self.arguments(self.serve({ARCHIVE: TAR})))
        self.assertIn("\r\033[K", output)
        self.assertIn("━", output)
        self.assertIn("checksums match", output)


class BadUsage(DataTest):
    def test_is_named(self):
        self.expect_refused("data", "subcommand is required")
        self.expect_refused("data fetch", "set is required")
        self.expect_refused("data fetch synthetic --to to", "use mnist or cifar10")
        self.expect_refused("data fetch mnist --to to --from ftp://host/", "must begin with http:// or https://")
        self.expect_refused("data fetch mnist --to to --sums sums", "name it with --from")
        self.expect_refused("data info nonsense", "choose from mnist, cifar10 and synthetic")
        self.expect_refused("data info synthetic:big", "'big' is not an option of synthetic images")

    def test_help_names_the_options(self):
        for command, options in {"fetch": ["set", "--to", "--from", "--sums"],
                                 "info": ["set", "--data-dir", "--sheet", "--json"]}.items():
            output, _ = self.run_program("data", command, "--help")
            for option in options:
                self.assertRegex(output, rf"(?m)^  {option}\b")


def decode_png(content):
    """Strictly: every chunk's sum, only the chunks there must be. Returns rows of (r, g, b)."""
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
