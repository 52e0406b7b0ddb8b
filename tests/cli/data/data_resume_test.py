"""lockstep data fetch resumes interrupted downloads."""
import os
import signal
import time
import unittest

from data.data_files import ARCHIVE, BATCHES, FOLDER, TAR, DataTest
from program import HANGS


class Resume(DataTest):
    def leave_part(self, content):
        part = self.folder / "to" / FOLDER / f"{ARCHIVE}.part"
        part.parent.mkdir(parents=True)
        part.write_bytes(content)

    def test_requests_only_the_missing_bytes(self):
        self.leave_part(TAR[:1000])
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        self.assertEqual(server.requests, [(f"/sets/{ARCHIVE}", "bytes=1000-", 206)])
        self.assertEqual(self.there(), BATCHES)

    def test_fetches_the_whole_file_from_a_server_without_ranges(self):
        self.leave_part(TAR[:1000])
        server = self.serve({ARCHIVE: TAR}, ranges=False)
        self.fetch(server)
        self.assertEqual(server.requests, [(f"/sets/{ARCHIVE}", "bytes=1000-", 200)])
        self.assertEqual(self.there(), BATCHES)

    def test_unpacks_a_complete_download(self):
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

    def test_resumes_in_the_next_run_after_repeated_cuts(self):
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

    def test_an_interrupt_keeps_the_partial_file(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            _, errors = self.finish(self.interrupt(how), code=1)
            self.assertIn("interrupted after 100000 bytes: run the same command again", errors)
            self.assertEqual(self.there(), {f"{ARCHIVE}.part": TAR[:100_000]})
            (self.folder / "to" / FOLDER / f"{ARCHIVE}.part").unlink()

    def test_a_kill_keeps_the_partial_file(self):
        self.finish(self.interrupt(signal.SIGKILL), code=-signal.SIGKILL)
        server = self.serve({ARCHIVE: TAR})
        self.fetch(server)
        self.assertEqual(server.requests[0][1], "bytes=100000-")
        self.assertEqual(self.there(), BATCHES)

    def test_a_second_process_is_refused(self):
        server = self.serve({ARCHIVE: TAR}, hold_after=100_000)
        self.start(*self.arguments(server))
        self.assertTrue(server.holding.wait(HANGS))
        _, errors = self.fetch(server, code=1)
        self.assertIn(f"to/{FOLDER}: another process is fetching to it: wait for it to end", errors)

    def test_a_second_process_is_refused_during_unpacking(self):
        # A pipe in place of an unpacked file: its writer waits for a reader.
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

    def test_requests_the_rest_if_a_server_sends_less(self):
        self.leave_part(TAR[:1000])
        server = self.serve({ARCHIVE: TAR}, most=len(TAR) // 2)
        output, _ = self.fetch(server)
        self.assertNotIn("starting over", output)
        self.assertEqual([request[2] for request in server.requests], [206, 206])
        self.assertEqual(self.there(), BATCHES)

    def test_gives_up_if_a_server_keeps_sending_less(self):
        self.leave_part(TAR[:1000])
        for most, left in ((10, 1050), (0, 1050)):
            server = self.serve({ARCHIVE: TAR}, most=most)
            _, errors = self.fetch(server, code=1)
            self.assertIn(f"after {left} bytes (the server sent less than requested)", errors)
            self.assertLessEqual(len(server.requests), 5)
            self.assertEqual(self.there(), {f"{ARCHIVE}.part": TAR[:left]})


if __name__ == "__main__":
    unittest.main(verbosity=2)
