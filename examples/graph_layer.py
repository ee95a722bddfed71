"""Train a graph network whose edges learn their weights, on ranks that have some vertices each.

    python examples/graph_layer.py FOLDER               # three ranks, which are threads
    mpiexec -n 4 python examples/graph_layer.py FOLDER  # four, which are processes

Vertices of three groups have mostly links inside their group, and noisy features. The layer asks
each edge how well its ends fit (sampled dense-dense products), makes weights of the answers, and
mixes the neighbours' features by them (sparse times dense). The same layer with dense matrices on
one rank has the same losses. FOLDER/graph_layer.png shows the weights that were learnt.
"""

import sys
from pathlib import Path

import numpy as np
import picture
import torch

import partita as pt
from partita.sparse import DistTensor

N_GROUPS, N_VERTICES, N_FEATURES, N_STEPS = 3, 90, 8, 40


def a_graph() -> tuple[np.ndarray, torch.Tensor, torch.Tensor]:
    """Links as a dense matrix of truth values, features, and the group of each vertex."""
    random = np.random.default_rng(7)
    groups = np.arange(N_VERTICES) * N_GROUPS // N_VERTICES
    is_same = groups[:, None] == groups
    links = random.random((N_VERTICES, N_VERTICES)) < np.where(is_same, 0.25, 0.05)
    links |= np.eye(N_VERTICES, dtype=bool)
    features = random.normal(0, 1.5, (N_VERTICES, N_FEATURES))
    features[np.arange(N_VERTICES), groups] += 1.0
    return links, torch.tensor(features), torch.tensor(groups)


class Layer(torch.nn.Module):
    """Weights of edges by how well their ends fit, then a mixture of neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.asks, self.answers, self.tells = (
            torch.nn.Linear(N_FEATURES, width, bias=False, dtype=torch.float64)
            for width in (4, 4, N_GROUPS)
        )

    def on_ranks(self, links: DistTensor, rows: torch.Tensor, x: torch.Tensor) -> tuple:
        """Scores of this rank's vertices, and the weights of their edges."""
        import partita.torch.sparse as sparse

        fits = torch.exp(torch.tanh(sparse.sddmm(links, self.asks(x), self.answers(x))))
        # A rank has all edges of its vertices: their sums need nobody else.
        sums = torch.zeros(len(x), dtype=fits.dtype).index_add(0, rows, fits)
        weights = fits / sums[rows]
        return sparse.spmm(links, self.tells(x), weights), weights

    def dense(self, links: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The same for all vertices at once."""
        fits = torch.exp(torch.tanh(self.asks(x) @ self.answers(x).T)) * links
        return fits / fits.sum(dim=1, keepdim=True) @ self.tells(x)


def train_on_ranks(team: pt.Team, start: dict) -> tuple[list[float], np.ndarray | None]:
    """The losses of all steps, and the weights as a matrix on the first rank."""
    links, features, groups = a_graph()
    whole = np.nonzero(links)
    mine = slice(team.rank, None, team.size)
    shape = (N_VERTICES, N_VERTICES)
    ones = np.ones(len(whole[0]))[mine]
    pattern = DistTensor.from_coo(shape, [one[mine] for one in whole], ones, team=team)
    first = sum((N_VERTICES + rank) // team.size for rank in range(team.rank))
    own = slice(first, first + (N_VERTICES + team.rank) // team.size)
    rows = torch.from_numpy(pattern.to_scipy().tocoo().row.astype(np.int64))
    layer = Layer()
    layer.load_state_dict(start)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(N_STEPS):
        optimizer.zero_grad()
        scores, weights = layer.on_ranks(pattern, rows, features[own])
        loss = torch.nn.functional.cross_entropy(scores, groups[own], reduction="sum")
        loss = loss / N_VERTICES
        loss.backward()
        for parameter in layer.parameters():
            # Every rank has all parameters, and a part of what they shall change by.
            parts = team.allgather_data(parameter.grad.numpy())
            parameter.grad.copy_(torch.from_numpy(np.sum(parts, axis=0)))
        optimizer.step()
        losses.append(float(np.sum(team.allgather_data(loss.item()))))
    learnt = pattern.with_values(weights.detach().numpy()).gather(root=0)
    return losses, None if learnt is None else learnt.toarray()


def train_alone(start: dict) -> list[float]:
    """The losses of the layer with dense matrices."""
    links, features, groups = a_graph()
    layer = Layer()
    layer.load_state_dict(start)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(N_STEPS):
        optimizer.zero_grad()
        scores = layer.dense(torch.from_numpy(links.astype(float)), features)
        loss = torch.nn.functional.cross_entropy(scores, groups)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(3)
    start = Layer().state_dict()
    team = pt.world()
    if team.size == 1:
        losses, weights = pt.spmd(train_on_ranks, ranks=3, args=(start,))[0]
    else:
        losses, weights = train_on_ranks(team, start)
    if team.rank != 0:
        return
    alone = train_alone(start)
    for step in range(0, N_STEPS, 10):
        print(f"step {step:2}: dense {alone[step]:.10f}, on ranks {losses[step]:.10f}")
    print(f"largest difference {np.abs(np.subtract(alone, losses)).max():.1e}")
    assert np.allclose(alone, losses, rtol=1e-8)
    pixels = picture.colored(np.sqrt(weights), picture.HEAT)
    picture.save(folder / "graph_layer.png", pixels.repeat(3, axis=0).repeat(3, axis=1))


if __name__ == "__main__":
    main()
