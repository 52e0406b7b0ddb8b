"""The shipped data sets as they are published, and a test case that fetches them from a server on loopback."""
import hashlib
import io
import os
import pathlib
import tarfile

from data.file_server import FileServer
from program import ProgramTest

SHIPPED = pathlib.Path(__file__).resolve().parents[3] / "data"
BATCHES = {name: (SHIPPED / "cifar10" / name).read_bytes() for name in ("data_batch_1.bin", "test_batch.bin")}
MNIST = {file.name: file.read_bytes() for file in (SHIPPED / "mnist").glob("*.gz")}
ARCHIVE = "cifar-10-binary.tar.gz"
FOLDER = "cifar-10-batches-bin"


def tar_of(files, folder=FOLDER):
    """An archive like the published one: with a folder, and an unneeded file."""
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


class DataTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        for name in list(os.environ):  # a user's proxies and preference for colours
            if name.lower().endswith("_proxy") or name == "NO_COLOR":
                del os.environ[name]

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
