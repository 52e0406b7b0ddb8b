"""lockstep data fetch: data sets arrive as published, or the error names the problem and nothing is left."""
import gzip
import resource
import signal
import unittest

from data.data_files import ARCHIVE, BATCHES, FOLDER, MNIST, TAR, DataTest, tar_of
from data.file_server import FileServer


class Fetch(DataTest):
    def test_unpacks_an_archive(self):
        server = self.serve({ARCHIVE: TAR})
        output, errors = self.fetch(server)
        self.assertEqual(self.there(), BATCHES)
        self.assertRegex(output, rf"(?m)^{ARCHIVE}: (\S+) of \1 MB$")
        self.assertIn(f"{ARCHIVE}: unpacked, checksums match\n", output)
        self.assertIn(f"train with --data cifar10 --data-dir to/{FOLDER}\n", output)
        self.assertEqual(errors, "")
        self.run_program("data", "info", "cifar10", "--data-dir", "to")

    def test_unpacks_gzip_files(self):
        unpacked = {name.removesuffix(".gz"): gzip.decompress(content) for name, content in MNIST.items()}
        self.fetch(self.serve(MNIST), unpacked, "mnist")
        self.assertEqual(self.there("mnist"), unpacked)
        output, _ = self.run_program("data", "info", "mnist", "--data-dir", "to/mnist")
        self.assertRegex(output, r"(?m)^train +6000 ")

    def test_existing_files_are_not_requested(self):
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        output, _ = self.fetch(server)
        self.assertIn(f"{ARCHIVE}: exists already\n", output)
        self.assertEqual(len(server.requests), 1)

    def test_replaces_a_damaged_file(self):
        self.fetch(self.serve({ARCHIVE: TAR}))
        (self.folder / "to" / FOLDER / "test_batch.bin").write_bytes(b"damaged")
        self.fetch(self.serve({ARCHIVE: TAR}))
        self.assertEqual(self.there(), BATCHES)

    def test_accepts_a_trailing_slash_in_the_address(self):
        server = self.serve({ARCHIVE: TAR})
        server.url += "/"
        self.fetch(server)
        self.assertEqual(server.requests[0][0], f"/sets/{ARCHIVE}")


class BadSource(DataTest):
    def refused(self, files, *parts, sums=BATCHES):
        _, errors = self.fetch(self.serve(files), sums, code=1)
        for part in parts:
            self.assertIn(part, errors)
        self.assertEqual(self.there(), {}, "no file may be left behind")

    def test_a_missing_file(self):
        self.refused({}, f"/sets/{ARCHIVE}: the server answered with 404", "--from")

    def test_no_server(self):
        server = FileServer({})
        server.close()
        _, errors = self.fetch(server, code=1)
        self.assertIn("Failed to connect to 127.0.0.1", errors)
        self.assertIn("check the network and the address", errors)

    def test_no_such_host(self):
        host = "h" * 64  # longer than host names can be, so no name server is asked
        _, errors = self.run_program("data", "fetch", "mnist", "--to", "to", "--from", f"http://{host}/", code=1)
        self.assertIn(f"Could not resolve host: {host}: check the network", errors)

    def test_wrong_content(self):
        other = {**BATCHES, "test_batch.bin": BATCHES["data_batch_1.bin"]}
        _, errors = self.fetch(self.serve({ARCHIVE: tar_of(other)}), code=1)
        for part in ("test_batch.bin: expected SHA-256", "this is not the published file", "--from"):
            self.assertIn(part, errors)
        self.assertEqual(set(self.there()), {"data_batch_1.bin"}, "only the correct file may stay")

    def test_a_page_in_place_of_the_archive(self):
        self.refused({ARCHIVE: b"<!DOCTYPE html>" + b" " * 1000}, "at offset 0 of the decompressed archive", "--from")

    def test_an_archive_cut_short(self):
        self.refused({ARCHIVE: TAR[:5000]}, "the file is damaged")

    def test_an_archive_that_lacks_a_file(self):
        self.refused({ARCHIVE: tar_of({"other.bin": b"x"})}, "expected this file, found the archive's end")

    def test_an_archive_with_paths_outside_of_its_folder(self):
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
