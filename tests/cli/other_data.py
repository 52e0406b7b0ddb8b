"""Copies of the shipped data in which one byte differs."""
import gzip
import pathlib
import shutil

SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "data"
LABELS, FIRST_LABEL = "train-labels-idx1-ubyte.gz", 8
TEST_IMAGES, FIRST_PIXEL = "t10k-images-idx3-ubyte.gz", 16


def copy_with_other_byte(folder, name, place):
    """Copies all sets; `name` is one of MNIST's files."""
    shutil.copytree(SHIPPED, folder)
    file = folder / "mnist" / name
    content = bytearray(gzip.decompress(file.read_bytes()))
    content[place] = (content[place] + 1) % 10
    file.write_bytes(gzip.compress(content))
