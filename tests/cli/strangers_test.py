"""Unauthorised connections to the ports of a run: none joins, none stops the run, and the weights are those of an
undisturbed run."""
import contextlib
import hashlib
import hmac
import json
import os
import pathlib
import socket
import struct
import unittest

from program import BINARY, SMALL, ProgramTest, processes

MAGIC = b"LOCKSTP1"
JOB = [*SMALL, "--transport", "gloo", "--epochs", 10**9]


def listening_ports(session):
    """The listening ports of all processes of a session, from /proc."""
    listens = "0A"
    ports = {}
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == listens:
            ports[f"socket:[{fields[9]}]"] = int(fields[1].split(":")[1], 16)
    found = set()
    for process, _, its_session, _ in processes():
        if its_session != session:
            continue
        for descriptor in pathlib.Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if (target := os.readlink(descriptor)) in ports:
                    found.add(ports[target])
    return found


def token_of(session):
    for process, _, its_session, _ in processes():
        if its_session == session:
            for variable in pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                if variable.startswith(b"LOCKSTEP_TOKEN="):
                    return variable.split(b"=", 1)[1]
    raise AssertionError("no worker has a token")


def proof(token, side, server_nonce, client_nonce):
    parts = [side, b"rendezvous", server_nonce, client_nonce]
    return hmac.new(token, b"".join(struct.pack("<I", len(part)) + part for part in parts), hashlib.sha256).digest()


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def receive(connection, count):
    received = b""
    while len(received) < count and (more := connection.recv(count - len(received))):
        received += more
    return received


def answer_to(port, first):
    """The listener's answer to this greeting; it may close the connection at any time."""
    with connect(port) as connection, contextlib.suppress(ConnectionError, TimeoutError):
        greeting = receive(connection, len(MAGIC) + 32)
        connection.sendall(first(greeting[len(MAGIC):]))
        return receive(connection, 1 << 16)
    return b""


class Strangers(ProgramTest):
    def start_run(self, folder):
        program = self.start("launch", "--workers", 2, "--", BINARY, "train", *JOB, "--iterations", 600, "--log-every", 100,
                             "--run-dir", folder)
        self.wait_for(program, "iteration 100/")
        ports = listening_ports(program.pid)
        self.assertTrue(ports, "a run has a rendezvous")
        return program, ports

    def weights_of(self, program, folder):
        _, errors = self.finish(program, code=0)
        self.assertEqual(errors, "")
        return json.loads((self.folder / folder / "summary.json").read_text())["weights_sha256"]

    def test_do_not_disturb_a_run(self):
        self.run_program("launch", "--workers", 2, "--", BINARY, "train", *JOB, "--iterations", 600, "--run-dir", "alone")
        alone = json.loads((self.folder / "alone" / "summary.json").read_text())["weights_sha256"]
        program, ports = self.start_run("run")
        slow = [connect(port) for port in ports for _ in range(20)]  # silent connections
        recorded = MAGIC + os.urandom(32) + hmac.digest(b"0" * 64, b"", "sha256")
        for port in ports:
            for _ in range(200):
                connect(port).close()
            for first in [b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), MAGIC + os.urandom(1 << 16), b"\xff" * (1 << 20)]:
                self.assertIn(answer_to(port, lambda _: first), [b"", b"\2"])
            for _ in range(2):
                self.assertEqual(answer_to(port, lambda _: recorded), b"\2")  # refused, with no proof in return
        self.assertIsNone(program.poll())
        self.assertEqual(self.weights_of(program, "run"), alone)
        for connection in slow:
            connection.close()

    def test_a_recorded_proof_is_rejected(self):
        program, ports = self.start_run("run")
        token, recorded = token_of(program.pid), []

        def prove(server_nonce):
            client_nonce = b"c" * 32
            recorded.append(MAGIC + client_nonce + proof(token, b"client", server_nonce, client_nonce))
            return recorded[0]

        for port in ports:
            with connect(port) as connection:
                connection.sendall(prove(receive(connection, len(MAGIC) + 32)[len(MAGIC):]))
                self.assertEqual(receive(connection, 1), b"\1", "it proves the token")
            self.assertEqual(answer_to(port, lambda _: recorded[0]), b"\2")
        self.end(program)

    def test_a_peer_that_sends_invalid_messages_is_dropped(self):
        program, ports = self.start_run("run")
        token = token_of(program.pid)
        for port in ports:
            for nonsense in [b"\xff" * 4096, struct.pack("<I", 5) + b"\x63junk", struct.pack("<I", 0) * 1000,
                             struct.pack("<I", 60_000) + os.urandom(60_000), struct.pack("<I", 1000) + b"half a frame"]:
                def prove_and_talk(server_nonce):
                    client_nonce = os.urandom(32)
                    return MAGIC + client_nonce + proof(token, b"client", server_nonce, client_nonce) + nonsense
                with connect(port) as connection:
                    connection.sendall(prove_and_talk(receive(connection, len(MAGIC) + 32)[len(MAGIC):]))
                    self.assertEqual(receive(connection, 1), b"\1")
        self.weights_of(program, "run")


if __name__ == "__main__":
    unittest.main(verbosity=2)
