"""A cluster on one machine: hosts that are network namespaces, with links of a known speed to one switch.

Their addresses exist only in the namespaces. All of it goes away with the process that made it: at its end, after a
failure, SIGINT and SIGTERM; what a killed one left behind goes when the next cluster is made.
"""
import atexit
import os
import pathlib
import re
import shutil
import signal
import subprocess

RATE = 125e6  # bytes a second, each way of each link
FAMILY = "lockstep"
_clusters = []


def _run(*command, check=True):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def why_not():
    """Why this machine cannot have a cluster; None if it can."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    for tool, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(tool) is None:
            return f"{tool} is missing: install {package}"
    try:
        with Cluster(1) as cluster:
            cluster.call(0, ["unshare", "--pid", "--fork", "--mount-proc", "true"])
    except RuntimeError as error:
        return f"this machine permits no network namespaces: {error}"
    return None


class Cluster:
    """`hosts` hosts with one interface each, eth0. Processes are started with start(); close() ends them."""

    def __init__(self, hosts, rate=RATE):
        self.rate = rate
        self.names = [f"{FAMILY}-{os.getpid()}-{host}" for host in range(hosts)]
        self.switch = f"{FAMILY}-{os.getpid()}-switch"
        self.processes = []
        remove_leftovers()
        _clusters.append(self)
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _make(self):
        _run("ip", "netns", "add", self.switch)
        _run("ip", "-n", self.switch, "link", "add", "switch", "type", "bridge")
        _run("ip", "-n", self.switch, "link", "set", "switch", "up")
        for host, name in enumerate(self.names):
            _run("ip", "netns", "add", name)
            _run("ip", "-n", name, "link", "set", "lo", "up")
            _run("ip", "-n", self.switch, "link", "add", f"port{host}", "type", "veth",
                 "peer", "name", "eth0", "netns", name)
            _run("ip", "-n", self.switch, "link", "set", f"port{host}", "master", "switch", "up")
            _run("ip", "-n", name, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
            _run("ip", "-n", name, "link", "set", "eth0", "up")
            for place, device in ((name, "eth0"), (self.switch, f"port{host}")):
                _run("ip", "netns", "exec", place, "tc", "qdisc", "add", "dev", device, "root", "tbf",
                     "rate", f"{int(self.rate * 8)}bit", "burst", max(16384, int(self.rate * 0.0021)), "latency", "50ms")

    def address(self, host):
        return f"10.83.0.{host + 1}"

    def pull_the_plug(self, host):
        """The host goes on, but nobody hears of it any more."""
        _run("ip", "-n", self.switch, "link", "set", f"port{host}", "down")

    def plug_in_again(self, host):
        _run("ip", "-n", self.switch, "link", "set", f"port{host}", "up")

    def call(self, host, command):
        return _run("ip", "netns", "exec", self.names[host], *command)

    def start(self, host, command, **options):
        """Starts a program on a host that sees no process but its own children."""
        apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        process = subprocess.Popen(["ip", "netns", "exec", self.names[host], *apart, *map(str, command)],
                                   stdin=subprocess.DEVNULL, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def close(self):
        if self not in _clusters:
            return
        for process in self.processes:
            process.kill()  # and with it, by --kill-child, all that it started
        for process in self.processes:
            process.wait()
        for name in [*self.names, self.switch]:
            _remove(name)
        _clusters.remove(self)


def _remove(namespace):
    """Ends what runs in a namespace, and takes it down."""
    for process in _run("ip", "netns", "pids", namespace, check=False).split():
        try:
            os.kill(int(process), signal.SIGKILL)
        except ProcessLookupError:
            pass
    _run("ip", "netns", "delete", namespace, check=False)


def namespaces_of(process):
    """The names of the namespaces that a process made, and that are still there."""
    return [line.split()[0] for line in _run("ip", "netns", "list").splitlines()
            if line.startswith(f"{FAMILY}-{process}-")]


def remove_leftovers():
    """Takes down what a process left behind that was killed."""
    for line in _run("ip", "netns", "list").splitlines():
        found = re.match(rf"{FAMILY}-(\d+)-\w+", line)
        if found and not pathlib.Path(f"/proc/{found[1]}").exists():
            _remove(found[0])


@atexit.register
def _close_all():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends already
    for cluster in list(_clusters):
        cluster.close()


def close_when_told_to_end():
    """SIGTERM, too, ends this process by an exception, which unittest lets pass: clusters are taken down on the way."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
