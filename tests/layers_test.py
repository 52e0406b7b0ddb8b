"""Every folder of src/ includes only itself and the folders above it, and torch begins where it should."""
import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

# From the top to the bottom: each may include those before it.
LAYERS = ["base", "dataflow", "comm", "simulate", "launch", "observe", "data", "optim", "sync", "report", "predict", "ddp", "models",
          "engine", "train", "study", "cli"]
TORCH_BEGINS_AT = "ddp"

# Within comm, what is written for every transport must not know any of them.
TRANSPORT_FREE = ["comm/collectives", "comm/shared"]
TRANSPORTS = ["comm/thread", "comm/shm"]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
TORCH = re.compile(r"(torch|ATen|c10)/")
TORCH_HEADERS = ["lockstep/ddp.h", "lockstep/lockstep.h", "lockstep/sampler.h", "lockstep/sequential_trainer.h",
                 "lockstep/sync_batch_norm.h"]


def includes():
    """(file below src/, what it includes in quotes, what it includes in angle brackets); one of the two is empty."""
    for file in sorted(SOURCE.rglob("*")):
        if file.suffix in (".h", ".cpp"):
            for quoted, angled in INCLUDE.findall(file.read_text()):
                yield file.relative_to(SOURCE).as_posix(), quoted, angled


def folder_of(path):
    return path.split("/")[0]


class Layers(unittest.TestCase):
    def test_the_order_names_every_folder(self):
        folders = {path.name for path in SOURCE.iterdir() if path.is_dir()}
        self.assertEqual(folders - set(LAYERS), set(), "add new folders to the order")

    def test_files_include_only_the_folders_above_them(self):
        wrong = [f"{file} includes {quoted}" for file, quoted, _ in includes() if quoted
                 and LAYERS.index(folder_of(quoted)) > LAYERS.index(folder_of(file))]
        self.assertEqual(wrong, [])

    def test_files_include_each_other_by_the_path_below_src(self):
        wrong = [f"{file} includes {quoted}" for file, quoted, _ in includes()
                 if quoted and not (SOURCE / quoted).is_file()]
        self.assertEqual(wrong, [])

    def test_torch_begins_where_it_should(self):
        first = LAYERS.index(TORCH_BEGINS_AT)
        torch = {file: angled for file, _, angled in includes()
                 if TORCH.match(angled) or angled in TORCH_HEADERS}
        self.assertTrue(any(folder_of(file) == TORCH_BEGINS_AT for file in torch), "nothing was found")
        wrong = [f"{file} includes {angled}" for file, angled in torch.items()
                 if LAYERS.index(folder_of(file)) < first]
        self.assertEqual(wrong, [])

    def test_algorithms_do_not_know_the_transports(self):
        wrong = [f"{file} includes {quoted}" for file, quoted, _ in includes()
                 if any(file.startswith(folder + "/") for folder in TRANSPORT_FREE)
                 and any(quoted.startswith(folder + "/") for folder in TRANSPORTS)]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
