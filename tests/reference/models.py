"""Records the tensors of PyTorch's version of every model, for the tests to compare with: models.json.

Run by hand, with Debian's python3-torch, when a model is added or changed:

    /usr/bin/python3 tests/reference/models.py

For each model: the number of its parameters; then every entry of its state_dict when it is made after
torch.manual_seed(5000), as [shape, norm]. Equal norms of all tensors mean that both sides have the same default
initialisation and draw the weights in the same order.
"""
import json
import pathlib

import torch

from networks import NETWORKS

HERE = pathlib.Path(__file__).resolve().parent
SEED = 5000


def describe(name):
    torch.manual_seed(SEED)
    model = NETWORKS[name]()
    state = {key: [list(value.shape), value.double().norm().item()] for key, value in model.state_dict().items()}
    return {"parameters": sum(p.numel() for p in model.parameters()), "state": state}


def main():
    models = []
    for name in NETWORKS:
        found = describe(name)
        lines = ",\n".join(f"      {json.dumps(key)}: {json.dumps(value)}" for key, value in found["state"].items())
        models.append(f'  "{name}": {{\n    "parameters": {found["parameters"]},\n    "state": {{\n{lines}\n    }}\n  }}')
    made_by = f'  "made_by": "tests/reference/models.py with PyTorch {torch.__version__}"'
    (HERE / "models.json").write_text("{\n" + ",\n".join([made_by, *models]) + "\n}\n")


if __name__ == "__main__":
    main()
