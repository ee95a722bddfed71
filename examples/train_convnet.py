"""Train a small convolutional network on four ranks, each with a quarter of every image.

    python examples/train_convnet.py FOLDER               # ranks are threads
    mpiexec -n 4 python examples/train_convnet.py FOLDER  # ranks are processes

The same network is trained serially from the same start; the losses are compared and drawn into
FOLDER/training.svg. The images are 25 x 25, so no two ranks hold blocks of the same shape.
"""

import sys
from pathlib import Path

import numpy as np
import torch

import partita as pt
import partita.torch as ptt
from partita.distdl import CartesianPartition, Partition, split

GRID = (1, 1, 2, 2)  # batch, channel, height, width
SIZE, N_CLASSES, N_IMAGES, N_STEPS = 25, 3, 48, 30
CHANNELS = 8
FEATURES = CHANNELS * 7 * 7


def images() -> tuple[torch.Tensor, torch.Tensor]:
    """Noisy images of a horizontal, a vertical or a slanted bar, and which it is."""
    random = np.random.default_rng(4)
    labels = random.integers(0, N_CLASSES, N_IMAGES)
    pixels = random.normal(0, 0.5, (N_IMAGES, 1, SIZE, SIZE))
    row, column = np.indices((SIZE, SIZE))
    for image, label in zip(pixels, labels, strict=True):
        place = random.integers(3, SIZE - 3)
        distance = (row - place, column - place, row - column + place - SIZE // 2)[label]
        image[0, np.abs(distance) < 2] += 1.5
    return torch.tensor(pixels, dtype=torch.float64), torch.tensor(labels)


def serial_network() -> torch.nn.Sequential:
    """The network on one rank."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, CHANNELS, 5, padding=2),
        torch.nn.BatchNorm2d(CHANNELS),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(CHANNELS, CHANNELS, 3, stride=2, padding=2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(FEATURES, N_CLASSES),
    ).double()


def divided_network(P: CartesianPartition) -> torch.nn.Sequential:
    """The network on four ranks: space is divided, then channels, then the scores are on one."""
    by_channel = P.create_cartesian_topology_partition((1, 4, 1, 1))
    by_feature = P.create_cartesian_topology_partition((1, 4))
    first = P.create_partition_inclusive([0]).create_cartesian_topology_partition((1, 1))
    return torch.nn.Sequential(
        ptt.DistributedConv2d(P, 1, CHANNELS, 5, padding=2),
        ptt.DistributedBatchNorm(P, CHANNELS),
        torch.nn.ReLU(),
        ptt.DistributedMaxPool2d(P, 2),
        ptt.DistributedConv2d(P, CHANNELS, CHANNELS, 3, stride=2, padding=2),
        torch.nn.ReLU(),
        torch.nn.Sequential(ptt.Repartition(P, by_channel), torch.nn.Flatten()),
        ptt.DistributedLinear(by_feature, first, by_feature, FEATURES, N_CLASSES),
    ).double()


def copy_parameters(network: torch.nn.Sequential, start: torch.nn.Sequential) -> None:
    """Give the ranks that keep parameters those of the serial network."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.numel():
                whole = start.get_parameter(name)
                if name == "7.weight":
                    whole = whole[:, slice(*network[7].in_range)]
                parameter.copy_(whole)


def train(
    network: torch.nn.Module, loss: torch.nn.Module, x: torch.Tensor, labels: torch.Tensor
) -> list[float]:
    """The losses of all steps; the same loop for the serial and the divided network."""
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(N_STEPS):
        optimizer.zero_grad()
        value = loss(network(x), labels)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def train_divided(team: pt.Team, start: torch.nn.Sequential) -> list[float]:
    """This rank's part of the training: the first rank gets the losses, the others zeros."""
    P = Partition(team).create_cartesian_topology_partition(GRID)
    pixels, labels = images()
    rows, columns = (slice(*split(SIZE, 2)[P.index[axis]]) for axis in (2, 3))
    network = divided_network(P)
    copy_parameters(network, start)
    first = P.create_partition_inclusive([0])
    loss = ptt.DistributedCrossEntropyLoss(first)
    return train(network, loss, pixels[:, :, rows, columns], labels)


def draw(serial: list[float], divided: list[float], file: Path) -> None:
    """Both curves, and how far they are apart."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(2, 1, sharex=True, figsize=(6, 5))
    above.plot(serial, "o", fillstyle="none", label="one rank")
    above.plot(divided, "-", label="four ranks")
    above.set(ylabel="loss", title="A convolutional network, serial and divided in space")
    above.legend()
    apart = np.maximum(np.abs(np.subtract(serial, divided)), 1e-17)
    below.semilogy(apart, ".-")
    below.set(xlabel="step", ylabel="|difference|")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    folder.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    start, alone = serial_network(), serial_network()
    alone.load_state_dict(start.state_dict())
    team = pt.world()
    if team.size == 1:
        divided = pt.spmd(train_divided, ranks=4, args=(start,))[0]
    elif team.size == 4:
        divided = train_divided(team, start)
    else:
        raise SystemExit(f"{team.size} ranks; start this on 1 or 4")
    if team.rank != 0:
        return
    serial = train(alone, torch.nn.CrossEntropyLoss(), *images())
    for step in range(0, N_STEPS, 5):
        print(f"step {step:2}: serial {serial[step]:.12f}, four ranks {divided[step]:.12f}")
    print(f"largest difference {np.abs(np.subtract(serial, divided)).max():.1e}")
    assert np.allclose(serial, divided, rtol=1e-8)
    draw(serial, divided, folder / "training.svg")


if __name__ == "__main__":
    main()
