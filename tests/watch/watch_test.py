"""`lockstep watch` in a real browser while a training runs, is killed, and is resumed."""
import http.client
import os
import pathlib
import re
import signal
import socket
import sys
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(TESTS / "cli"), str(TESTS / "report")]
from browser import Browser
from program import HANGS, SMALL, ProgramTest, children_of, free_port

# A training that lasts until it is stopped, and prints nothing before.
ENDLESS = ["train", "--workers", 2, "--limit", 320, "--batch", 16, "--iterations", 10**7, "--checkpoint-every", 100,
           "--json", "-"]

POINTS = """
    const chart = [...document.querySelectorAll('#learning canvas')].map((canvas) => Chart.getChart(canvas))[0];
    return chart.data.datasets[0].data.at(-1).x;"""


class WatchTest(ProgramTest):
    def watch(self, *arguments):
        program = self.start("watch", "--port", 0, *arguments)
        self.port = int(re.fullmatch(r"watching at http://127\.0\.0\.1:(\d+)/ \(Ctrl-C ends\)\n",
                                     program.stdout.readline())[1])
        return program

    def ask(self, path, method="GET", host="localhost"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS)
        connection.request(method, path, headers={"Host": host})
        return connection.getresponse()


class Server(WatchTest):
    def test_an_interrupt_ends_it(self):
        program = self.watch()
        program.send_signal(signal.SIGINT)
        output, errors = self.finish(program, -signal.SIGINT)
        self.assertEqual(output + errors, "")

    def test_listens_on_one_loopback_address_only(self):
        self.watch()
        self.assertEqual(self.ask("/").status, 200)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", self.port), timeout=HANGS)

    def test_answers_this_computer_only(self):
        self.watch()
        self.assertEqual(self.ask("/", host=f"localhost:{free_port()}").status, 200, "the port of a tunnel")
        self.assertEqual(self.ask("/", host="evil.example").status, 421)
        self.assertEqual(self.ask("/", method="POST").status, 405)
        answer = self.ask("/", method="HEAD")
        self.assertEqual((answer.status, answer.read()), (200, b""))
        self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))

    def test_a_port_in_use_is_an_error(self):
        self.watch()
        _, errors = self.run_program("watch", "--port", self.port, code=1)
        self.assertIn(f"127.0.0.1:{self.port}", errors)
        self.expect_refused("watch --port 70000", "--port: Value 70000 not in range")


class Page(WatchTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser())

    def visit(self, path):
        self.browser.post("url", url=f"http://127.0.0.1:{self.port}{path}")

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0])?.textContent ?? '';", selector)

    def wait_for_text(self, selector, pattern):
        """Waits until the element's text matches, and returns the match."""
        deadline = time.monotonic() + HANGS
        while not (found := re.search(pattern, self.text(selector))):
            self.assertLess(time.monotonic(), deadline, f"{selector}: {self.text(selector)}")
            time.sleep(0.05)
        return found

    def train(self, *options):
        return self.start(*ENDLESS, "--run-dir", "runs/first", *options)

    def test_follows_a_training_that_is_killed_and_resumed(self):
        self.watch()
        self.visit("/")
        self.wait_for_text("#waiting", "No run yet in .*/runs")
        training = self.train()
        self.wait_for_text("#runs tbody", "first.*running.*iteration [1-9]")
        self.run_program("train", *SMALL, "--epochs", 2, "--run-dir", "runs/second")
        self.wait_for_text("#runs tbody", r"second.*ended.*iteration 4 of 4, epoch 2 of 2.*first.*running")

        self.expect_links_to_stay()
        self.browser.click("tbody tr:nth-child(2) a")
        self.wait_for_text(".live", r"running.*iteration \d+ of 10000000.*images/s.*left.*loss")
        self.expect_redrawn_in_place()
        self.expect_a_killed_worker_is_shown(training)

        training = self.train("--resume")
        self.wait_for_text(".live", "running")
        self.wait_for_text(".members tbody", "rank 0training.*rank 1training")
        training.send_signal(signal.SIGINT)
        self.finish(training, 1)
        self.wait_for_text(".live", "stopped")
        self.wait_for_text(".verdict", "with --resume")
        self.assertEqual(self.browser.logs("browser"), [])

    def expect_links_to_stay(self):
        """A link that is replaced while the mouse button is down cannot be pressed."""
        row = "document.querySelector('tbody tr:nth-child(2)')"
        before = self.browser.run(f"{row}.querySelector('a').kept = true; return {row}.textContent;")
        self.browser.wait_until(f"return {row}.textContent !== {before!r};")
        self.assertTrue(self.browser.run(f"return {row}.querySelector('a').kept;"))

    def expect_redrawn_in_place(self):
        """The charts go on while the page stays where the reader left it, with its switches."""
        self.browser.wait_until("return document.querySelectorAll('#learning canvas, #timeline canvas').length >= 4;")
        self.browser.run("""
            window.sameDocument = true;
            window.scrollTo(0, 600);
            const ranks = document.querySelector('#learning select');
            ranks.value = 'every';
            ranks.dispatchEvent(new Event('change'));
            document.querySelector('#tables details').open = true;""")
        ranks = self.text("#tables tbody")
        last = self.browser.run(POINTS)
        self.browser.wait_until(f"{POINTS.replace('return', 'return (')[:-1]}) > {last};")
        self.assertEqual(self.browser.run("""
            return [window.sameDocument, window.scrollY, document.querySelector('#learning select').value,
                    Chart.getChart(document.querySelector('#learning canvas')).data.datasets.length];"""),
            [True, 600, "every", 2])
        self.browser.wait_until(f"return document.querySelector('#tables tbody').textContent !== {ranks!r};")
        self.assertTrue(self.browser.run("""
            return window.sameDocument && document.querySelector('#tables details').open;"""))

    def expect_a_killed_worker_is_shown(self, training):
        os.kill(children_of(training.pid)[1], signal.SIGKILL)
        self.finish(training, 1)
        self.wait_for_text(".live", "failed")
        self.wait_for_text(".members tbody", r"rank 1was ended by signal 9 \(Killed\)")
        self.wait_for_text(".verdict", r"Rank 1 \(pid \d+\) was ended by signal 9")
        self.assertTrue(self.text("#post-mortem"))
        self.assertEqual(self.browser.run("return document.querySelector('#learning select').value;"), "every",
                         "a choice survives loading again")

    def test_a_study_is_listed_with_its_runs(self):
        self.run_program("compare", *SMALL, "--methods", "ddp", "--workers", 2, "--epochs", 1, "--repeat", 2,
                         "--run-dir", "runs/study")
        self.watch("runs/study")
        self.visit("/")
        self.wait_for_text("#runs tbody", "^study.*ended.*alone.*ended.*ddp.*ended.*repeat-2/ddp")
        self.browser.click("tbody a")
        self.wait_for_text(".members tbody", "^alone.*ddp")
        self.wait_for_text("h1", "ddp|MNIST")

    def test_says_that_the_program_has_ended(self):
        program = self.watch()
        self.visit("/")
        program.kill()
        self.wait_for_text(".problem", "No connection to lockstep watch")


if __name__ == "__main__":
    unittest.main(verbosity=2)
