"""The structure of the sources: which folder may include which, where torch begins, which code may call the
system, and that no files include each other in a circle. A failure names the file and the edge.

A module is a folder of src/, or a part of one: where some files of a folder lie below its sub-folders and others
above them, MODULES lists the files of one part by their names without suffix. All of base/ is one module. EDGES has the
modules that each module may include. To add a folder, add a line to EDGES; to use a folder that is not in your module's
line, add it there and say why in the commit. The order of the lines is the order of the layers: a module includes only
modules above it.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PUBLIC = ROOT / "include"

# Parts of folders, by file names without suffix. All other files belong to the module of their folder.
MODULES = {
    # The interface between a transport and its wire; transports of all kinds include it.
    "comm": ["comm/mesh/wire"],
    # Group itself, which knows every collective and transport.
    "comm/group": ["comm/group", "comm/group_core", "comm/operations", "comm/split", "comm/transports"],
    # Names and stored weights, which need no torch.
    "models/weights": ["models/checksum", "models/model_names", "models/safetensors", "models/safetensors_reader",
                       "models/safetensors_writer", "models/stored_tensor"],
    # Initial weights, which all engines share; and the list of all engines.
    "engine/seeded_model": ["engine/seeded_model"],
    "engine/built_in": ["engine/library_versions", "engine/make_engine"],
    # What the training loop reports; one training step and its data.
    "train/progress": ["train/progress"],
    "train/step": ["train/batch_norm_buffers", "train/batch_source", "train/batch_split", "train/convolution_choice",
                   "train/deliberate_faults", "train/feed", "train/replica", "train/replica_parts", "train/step_trace"],
    # The commands that `lockstep` hands over to lockstep-torch.
    "cli/handover": ["cli/torch_program"],
}

# The modules that a module may include, besides itself.
EDGES = {
    "base": "",
    "dataflow": "base",
    "comm": "base",
    "comm/flight": "base comm",
    "comm/collectives": "base comm",
    "comm/shared": "base comm",
    "comm/shm": "base comm comm/shared",
    "comm/mesh": "base comm comm/collectives",
    "comm/gloo": "base comm/mesh",
    "comm/mpi": "base comm comm/flight comm/mesh",
    "comm/hierarchy": "base comm comm/collectives comm/mesh comm/shared comm/shm",
    "comm/group": "base comm comm/collectives comm/flight comm/gloo comm/hierarchy comm/mpi comm/shm",
    "comm/recording": "base comm comm/collectives comm/group comm/hierarchy",
    "comm/thread": "base comm/group comm/shared",
    "simulate": "comm/recording",
    "launch/environment": "base",
    "launch/process": "base comm/flight comm/shm launch/environment",
    "launch/hosts": "base launch/process",
    "launch/rendezvous": "base comm comm/group comm/mpi comm/shared comm/thread launch/environment",
    "launch/elastic": "base comm/group launch/environment launch/process launch/rendezvous",
    "launch/nodes": "base launch/elastic launch/environment launch/process launch/rendezvous",
    "launch": "base comm/group launch/elastic launch/environment launch/hosts launch/nodes launch/process "
              "launch/rendezvous",
    "observe": "base launch/process",
    "run": "base observe",
    "data": "base",
    "data/fetch": "base data",
    "optim": "base",
    "sync/compression": "base comm comm/flight",
    "sync": "base comm optim",
    "sync/methods": "base comm comm/flight comm/group sync",
    "report/browser": "base launch/process",
    "report": "base observe report/browser run",
    "watch": "base report run",
    # It writes the requests that the program of simulate/ reads.
    "predict": "base comm comm/collectives comm/group comm/recording launch/process observe run simulate sync",
    "models/weights": "base data",
    "engine": "data models/weights observe sync",
    "train/config": "base comm/group data engine launch/elastic launch/hosts models/weights observe optim run sync",
    "train/progress": "run train/config",
    "train/checkpoint": "base comm models/weights run sync train/config train/progress",
    "train/step": "base comm comm/flight comm/group data engine models/weights observe optim run sync sync/methods "
                  "train/checkpoint train/config train/progress",
    "train/policy": "comm engine run train/checkpoint train/config train/step",
    "train/record": "comm observe run train/policy",
    "train/elastic": "base comm run sync train/checkpoint train/config train/record",
    "train": "base comm comm/flight engine launch/elastic models/weights observe optim run sync train/checkpoint "
             "train/config train/elastic train/policy train/progress train/record train/step",
    "study": "base launch/hosts models/weights run train/config",
    "ddp": "base comm/flight comm/group data sync sync/methods",
    "models": "base data models/weights",
    "engine/seeded_model": "base models",
    "engine/onednn/kernels": "base",
    "engine/onednn/plan": "base data engine sync",
    "engine/onednn/layers": "ddp engine engine/onednn/kernels engine/onednn/plan",
    "engine/onednn/choice": "base data engine/onednn/layers engine/onednn/plan launch/hosts",
    "engine/onednn": "base ddp engine engine/onednn/choice engine/onednn/layers engine/onednn/plan "
                     "engine/seeded_model models",
    "engine/torch": "base ddp engine engine/seeded_model models observe",
    "engine/built_in": "base engine engine/onednn engine/torch",
    "sequential_trainer": "base data ddp engine/onednn models optim sync sync/methods train/step",
    "cli": "base comm/group launch launch/environment launch/process launch/rendezvous observe report run watch",
    "cli/bench": "base cli comm comm/recording launch launch/environment observe report",
    "cli/data": "base cli data data/fetch",
    "cli/dataflow": "base cli dataflow report",
    "cli/doctor": "base cli comm comm/shm launch/hosts observe",
    "cli/launch": "cli launch launch/environment",
    "cli/train": "base cli cli/bench comm data engine/built_in launch launch/elastic launch/environment launch/hosts run "
                 "study sync train train/checkpoint train/config train/progress",
    "cli/predict": "base cli cli/bench cli/train comm launch/hosts observe predict report sync",
    "cli/handover": "cli cli/predict",
}
EDGES = {module: set(allowed.split()) for module, allowed in EDGES.items()}

# Tools that one command has to itself, and the program that one of them starts.
LEAVES = {"dataflow": {"cli/dataflow"}, "predict": {"cli/predict"}, "simulate": {"predict"}}

# Only these include torch. Everything else compiles, links and runs without it.
TORCH_MODULES = {"ddp", "models", "engine/seeded_model", "engine/onednn", "engine/onednn/layers", "engine/onednn/choice",
                 "engine/torch", "engine/built_in", "sequential_trainer"}
TORCH = re.compile(r"(torch|ATen|c10)/")
TORCH_HEADERS = {"lockstep/ddp.h", "lockstep/join.h", "lockstep/lockstep.h", "lockstep/sampler.h", "lockstep/tensor.h",
                 "lockstep/sequential_trainer.h", "lockstep/shared_state.h", "lockstep/sync_batch_norm.h"}

# Units (a header and the sources of the same name) that do need each other, and so count as one. Each circle is a
# header and a source that is written in terms of the other header's types.
CIRCLES = {unit: circle[0] for circle in (
    ("comm/flight/flight_record", "comm/flight/flight_words"),
    ("comm/mpi/mpi_calls", "comm/mpi/mpi_runtime"),
    ("launch/environment/environment", "launch/environment/slurm"),
    ("train/config/config", "train/config/options"),
    ("engine/onednn/choose_methods", "engine/onednn/onednn_engine", "engine/onednn/sequential_engine"),
    # Templates that are compiled once for each vector unit.
    ("engine/onednn/kernels/tile_convolve", "engine/onednn/kernels/tile_gradients", "engine/onednn/kernels/tile_kernels",
     "engine/onednn/kernels/tile_multiply", "engine/onednn/kernels/tile_stack", "engine/onednn/kernels/tile_vectors"),
) for unit in circle}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


# The calls that reach the operating system. Only base/ makes them, so that a simulator can replace them one day.
# simulate/ is a program of its own, which links nothing of src/.
SYSTEM_CALLERS = ("base/", "simulate/")
SYSTEM = {
    "sleeps (use base/sleep.h)": r"this_thread::sleep_|\b(usleep|nanosleep)\(",
    "reads a clock (use base/deadline.h or base/date.h)":
        r"[Cc]lock::now\(|\b(clock_gettime|gettimeofday|std::time)\(|\btime\(nullptr\)",
    "opens a socket (use base/net/socket.h)":
        r"(?<![\w.>])::(socket|connect|bind|listen|accept4?)\(|\bgetaddrinfo\(",
    # std::thread::id and std::thread::hardware_concurrency start nothing.
    "starts a thread (use base/thread.h)": r"std::j?thread\b(?!::)|std::async\b|\bpthread_create\(",
    "opens a file (use base/files.h or base/file_lines.h)":
        r"std::[io]?fstream|\b(f|gz)open\(|(?<![\w.>])::(open(at)?|creat)\(",
}

# Files of a run that have one owner: only run/ parses JSON text of a run folder. These parse other JSON.
JSON_PARSERS = {
    "cli/config_file.cpp": "the options of --config, with the line of each",
    "cli/bench/exchange.cpp": "results that the workers of bench send",
    "cli/dataflow/options.cpp": "--layers FILE",
    "dataflow/tensor_json.cpp": "tensors of dataflow",
    "engine/onednn/choice/choice_cache.cpp": "the cache of measured convolutions",
    "models/safetensors_reader.cpp": "the header of safetensors files",
    "predict/fit_file.cpp": "saved fits",
    "train/convolution_choice.cpp": "the choice that rank 0 broadcasts",
}


def source_files(folder):
    return sorted(file for file in folder.rglob("*")
                  if file.suffix in (".h", ".cpp", ".inl") and "missing" not in file.parts)


def unit_of(path):
    """A header and the sources of the same name are one unit."""
    return path.rsplit(".", 1)[0]


PARTS = {unit: module for module, units in MODULES.items() for unit in units}


def module_of(path):
    folder = path.rsplit("/", 1)[0]
    return PARTS.get(unit_of(path), "base" if folder.startswith("base/") else folder)


def read_includes():
    """By file below src/: what it includes in quotes, and in angle brackets."""
    includes = {}
    for file in source_files(SOURCE):
        found = INCLUDE.findall(file.read_text())
        includes[file.relative_to(SOURCE).as_posix()] = ([quoted for quoted, _ in found if quoted],
                                                         [angled for _, angled in found if angled])
    return includes


INCLUDES = read_includes()


def find_cycle(graph):
    """A path of nodes that ends where it began; empty if there is none."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return []
        path.append(node)
        for following in sorted(graph.get(node, ())):
            if cycle := visit(following):
                return cycle
        path.pop()
        done.add(node)
        return []

    for node in sorted(graph):
        if cycle := visit(node):
            return cycle
    return []


class Layers(unittest.TestCase):
    def edges(self):
        for file, (quoted, _) in INCLUDES.items():
            for other in quoted:
                yield file, other, module_of(file), module_of(other)

    def test_every_module_is_in_the_table(self):
        missing = {module_of(file) for file in INCLUDES} - set(EDGES)
        self.assertEqual(missing, set(), "add these to EDGES")
        units = {unit_of(file) for file in INCLUDES}
        self.assertEqual(set(PARTS) - units, set(), "MODULES names files that do not exist")

    def test_files_include_only_what_the_table_allows(self):
        wrong = [f"{file} includes {other}: {module} may not use {used}"
                 for file, other, module, used in self.edges()
                 if used != module and used not in EDGES.get(module, ())]
        self.assertEqual(wrong, [])

    def test_the_table_has_no_edge_that_nothing_uses(self):
        used = {(module, used) for _, _, module, used in self.edges()}
        unused = [f"{module} -> {allowed}" for module, all_allowed in EDGES.items()
                  for allowed in sorted(all_allowed) if (module, allowed) not in used]
        self.assertEqual(unused, [], "remove these from EDGES")

    def test_the_table_is_in_the_order_of_the_layers(self):
        order = list(EDGES)
        wrong = [f"{module} -> {used}" for module, allowed in EDGES.items() for used in sorted(allowed)
                 if used not in order or order.index(used) >= order.index(module)]
        self.assertEqual(wrong, [], "a module may use only modules above it: anything else makes a circle")

    def test_leaf_tools_are_used_by_their_command_only(self):
        wrong = [f"{file} includes {other}" for file, other, module, used in self.edges()
                 if used in LEAVES and module != used and module not in LEAVES[used]]
        self.assertEqual(wrong, [])

    def test_files_are_included_by_their_path_below_src(self):
        wrong = [f"{file} includes {other}" for file, other, _, _ in self.edges() if other not in INCLUDES]
        self.assertEqual(wrong, [])

    def test_no_files_include_each_other_in_a_circle(self):
        cycle = find_cycle({file: quoted for file, (quoted, _) in INCLUDES.items()})
        self.assertEqual(cycle, [])

    def test_no_units_need_each_other_in_a_circle(self):
        graph = {}
        for file, (quoted, _) in INCLUDES.items():
            unit = CIRCLES.get(unit_of(file), unit_of(file))
            used = {CIRCLES.get(unit_of(other), unit_of(other)) for other in quoted}
            graph.setdefault(unit, set()).update(used - {unit})
        self.assertEqual(find_cycle(graph), [])


class Sizes(unittest.TestCase):
    def test_no_file_has_more_than_400_lines(self):
        files = [file for folder in (SOURCE, PUBLIC, *map(ROOT.joinpath, ("tests", "benchmarks", "examples")))
                 for file in (*source_files(folder), *folder.rglob("*.py"))]
        lengths = {file: len(file.read_text().splitlines()) for file in files}
        self.assertEqual([f"{file}: {length}" for file, length in lengths.items() if length > 400], [])

    def test_no_folder_has_more_than_40_files(self):
        folders = [folder for root in (SOURCE, PUBLIC, ROOT / "tests") for folder in (root, *root.rglob("*")) if folder.is_dir()]
        counts = {folder: sum(file.is_file() for file in folder.iterdir()) for folder in folders}
        self.assertEqual([f"{folder}: {count}" for folder, count in counts.items() if count > 40], [])


class PublicHeaders(unittest.TestCase):
    def test_public_headers_include_only_public_headers(self):
        wrong, graph = [], {}
        for file in source_files(PUBLIC):
            name = file.relative_to(PUBLIC).as_posix()
            found = INCLUDE.findall(file.read_text())
            wrong += [f'{name} includes "{quoted}"' for quoted, _ in found if quoted]
            graph[name] = [angled for _, angled in found if angled.startswith("lockstep/")]
            wrong += [f"{name} includes <{angled}>" for _, angled in found
                      if "/" in angled and not angled.startswith("lockstep/") and not TORCH.match(angled)]
            wrong += [f"{name} includes <{angled}>, but is not in TORCH_HEADERS" for _, angled in found
                      if (TORCH.match(angled) or angled in TORCH_HEADERS) and name not in TORCH_HEADERS]
        self.assertEqual(wrong, [])
        self.assertEqual(find_cycle(graph), [])


class Torch(unittest.TestCase):
    def test_torch_is_included_only_where_it_may_be(self):
        torch = {(file, angled) for file, (_, all_angled) in INCLUDES.items() for angled in all_angled
                 if TORCH.match(angled) or angled in TORCH_HEADERS}
        self.assertTrue(any(module_of(file) == "ddp" for file, _ in torch), "nothing was found")
        wrong = [f"{file} includes {angled}" for file, angled in sorted(torch) if module_of(file) not in TORCH_MODULES]
        self.assertEqual(wrong, [])

    def test_torch_free_modules_do_not_depend_on_torch_through_others(self):
        # The command alone brings both sides together: it passes the engines to the training loop.
        wrong = [f"{module} -> {used}" for module, allowed in EDGES.items() for used in sorted(allowed)
                 if used in TORCH_MODULES and module not in TORCH_MODULES
                 and (module, used) != ("cli/train", "engine/built_in")]
        self.assertEqual(wrong, [])


class OneOwner(unittest.TestCase):
    def check(self, pattern, owner, exceptions):
        """Files outside `owner` that match, without the exceptions; and exceptions that do not match."""
        expression = re.compile(pattern)
        found = {}
        for file in INCLUDES:
            for number, line in enumerate((SOURCE / file).read_text().splitlines(), 1):
                if not line.lstrip().startswith("//") and expression.search(line) and not file.startswith(owner):
                    found.setdefault(file, f"{file}:{number}: {line.strip()}")
        wrong = [line for file, line in found.items() if file not in exceptions]
        return wrong, sorted(set(exceptions) - set(found))

    def test_only_base_calls_the_system(self):
        for what, pattern in SYSTEM.items():
            with self.subTest(what):
                wrong, _ = self.check(pattern, SYSTEM_CALLERS, {})
                self.assertEqual(wrong, [], what)

    def test_only_run_parses_the_files_of_a_run(self):
        wrong, stale = self.check(r"json::parse\(", "run/", JSON_PARSERS)
        self.assertEqual(wrong, [])
        self.assertEqual(stale, [], "remove these from the exceptions")


if __name__ == "__main__":
    unittest.main(verbosity=2)
