"""A simulated cluster on one machine: hosts are network namespaces, with links of a given speed to one switch.

Their addresses exist only in the namespaces. The cluster is removed with the process that made it: at its end, after a
failure, SIGINT and SIGTERM. Leftovers of a killed process are removed when the next cluster is made.
"""
import atexit
import os
import pathlib
import re
import shutil
import signal
import subprocess

RATE = 125e6  # bytes per second, in each direction of each link
FAMILY = "lockstep"
_clusters = []


def _run(*command, check=True):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def why_not():
    """Returns why this machine cannot have a cluster; None if it can."""
    if os.geteuid() != 0:
        return "only root may create network namespaces"
    for tool, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(tool) is None:
            return f"{tool} is missing: install {package}"
    try:
        with Cluster(1) as cluster:
            cluster.call(0, ["unshare", "--pid", "--fork", "--mount-proc", "true"])
    except RuntimeError as error:
        return f"this machine does not permit network namespaces: {error}"
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

    def disconnect(self, host):
        """Cuts the link of a host, which continues to run."""
        _run("ip", "-n", self.switch, "link", "set", f"port{host}", "down")

    def reconnect(self, host):
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
            process.kill()  # --kill-child also ends its children
        for process in self.processes:
            process.wait()
        for name in [*self.names, self.switch]:
            _remove(name)
        _clusters.remove(self)


def _remove(namespace):
    """Ends the processes in a namespace, and removes it."""
    for process in _run("ip", "netns", "pids", namespace, check=False).split():
        try:
            os.kill(int(process), signal.SIGKILL)
        except ProcessLookupError:
            pass
    _run("ip", "netns", "delete", namespace, check=False)


def namespaces_of(process):
    """The names of the existing namespaces that a process made."""
    return [line.split()[0] for line in _run("ip", "netns", "list").splitlines()
            if line.startswith(f"{FAMILY}-{process}-")]


def remove_leftovers():
    """Removes the namespaces of processes that were killed."""
    for line in _run("ip", "netns", "list").splitlines():
        found = re.match(rf"{FAMILY}-(\d+)-\w+", line)
        if found and not pathlib.Path(f"/proc/{found[1]}").exists():
            _remove(found[0])


@atexit.register
def _close_all():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the process is already ending
    for cluster in list(_clusters):
        cluster.close()


def close_when_told_to_end():
    """Makes SIGTERM raise an exception, which unittest does not catch, so that clusters are removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
