"""The programs of benches/dialects.py as text: a stencil, shallow water, chains of operations."""

from dataclasses import dataclass, field

ENVIRONMENT = "#dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>"
SHIFTS = {"c": (1, 1), "n": (0, 1), "s": (2, 1), "w": (1, 0), "e": (1, 2)}


@dataclass
class Text:
    """The body of a function on square arrays, whose inside is `border` away from all sides."""

    side: int
    border: int
    lines: list[str] = field(default_factory=list)

    @property
    def inside(self) -> int:
        """The side of the inside."""
        return self.side - 2 * self.border

    def give(self, text: str) -> str:
        """A line that gives a value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def view(self, array: str, row: int, column: int) -> str:
        """The inside of an array, shifted."""
        place = f"[{row}, {column}][{self.inside}, {self.inside}][1, 1]"
        return self.give(f"ndarray.subview {array}{place} : !all to !inside")

    def combine(self, operator: str, a: str, b: str, b_type: str = "!inside") -> str:
        """An operator on two arrays."""
        types = f"(!inside, {b_type}) -> !inside"
        return self.give(f"ndarray.ewbin {operator} {a}, {b} : {types}")

    def scale(self, array: str, number: str) -> str:
        """An array times one of the program's numbers."""
        return self.combine("mul", array, f"%{number}", "!number")

    def store(self, array: str, target: str) -> None:
        """Write the inside of an array."""
        place = f"[{self.border}, {self.border}][{self.inside}, {self.inside}][1, 1]"
        self.lines.append(f"ndarray.insert_slice {array} into {target}{place} : !inside into !all")


def program(text: Text, fields: dict[str, str], numbers: dict[str, float]) -> str:
    """A function that runs the text so many times and gives the sum of its first array."""
    inside, side = text.inside, text.side
    lines = [
        f"!all = !ndarray.ndarray<{side}x{side}xf64, {ENVIRONMENT}>",
        f"!inside = !ndarray.ndarray<{inside}x{inside}xf64, {ENVIRONMENT}>",
        "!number = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>",
        "func.func @f(%n_steps: index) -> !number {",
        "  %c0 = arith.constant 0 : index",
        "  %c1 = arith.constant 1 : index",
        f"  %side = arith.constant {side} : index",
    ]
    for name, number in numbers.items():
        lines += [
            f"  %x_{name} = arith.constant {number!r} : f64",
            f"  %{name} = ndarray.create value %x_{name} : (f64) -> !number",
        ]
    shape = "%side, %side"
    for name, start in fields.items():
        lines.append(
            f"  %{name} = ndarray.create {shape} value %x_{start} : (index, index, f64) -> !all"
        )
    body = [f"    {line}" for line in text.lines]
    first = next(iter(fields))
    lines += ["  scf.for %step = %c0 to %n_steps step %c1 {", *body, "  }"]
    lines += [
        f"  %sum = ndarray.reduction sum %{first} : !all -> !number",
        "  return %sum : !number",
        "}",
    ]
    return "\n".join(lines) + "\n"


def jacobi(side: int) -> str:
    """Each point inside becomes the mean of its four neighbours."""
    text = Text(side, 1)
    n, s, w, e = (text.view("%u", *SHIFTS[at]) for at in "nswe")
    ends = text.combine("add", text.combine("add", n, s), text.combine("add", w, e))
    text.store(text.scale(ends, "quarter"), "%u")
    return program(text, {"u": "warm"}, {"quarter": 0.25, "warm": 1.5})


def shallow_water(side: int) -> str:
    """A step of height and two velocities, with differences between the neighbours."""
    text = Text(side, 1)
    views = {
        name: {at: text.view(f"%{name}", *shift) for at, shift in SHIFTS.items()} for name in "huv"
    }
    h, u, v = views["h"], views["u"], views["v"]

    def product(a: str, b: str) -> str:
        return text.combine("mul", a, b)

    def difference(a: str, b: str) -> str:
        return text.combine("sub", a, b)

    def carried(one: dict[str, str]) -> str:
        along = product(u["c"], difference(one["e"], one["w"]))
        return text.combine("add", along, product(v["c"], difference(one["s"], one["n"])))

    def stepped(old: str, change: str) -> str:
        return difference(old, text.scale(change, "half_step"))

    across = difference(product(h["e"], u["e"]), product(h["w"], u["w"]))
    along = difference(product(h["s"], v["s"]), product(h["n"], v["n"]))
    height = stepped(h["c"], text.combine("add", across, along))
    push = text.scale(difference(h["e"], h["w"]), "gravity")
    east = stepped(u["c"], text.combine("add", carried(u), push))
    push = text.scale(difference(h["s"], h["n"]), "gravity")
    south = stepped(v["c"], text.combine("add", carried(v), push))
    for array, target in ((height, "%h"), (east, "%u"), (south, "%v")):
        text.store(array, target)
    numbers = {"half_step": 1e-4, "gravity": 9.81, "deep": 1.0, "slow": 0.1}
    return program(text, {"h": "deep", "u": "slow", "v": "slow"}, numbers)


def chain(n_operations: int, side: int) -> str:
    """A stencil of so many operations: shifted views, added and multiplied in turn."""
    border = 4
    text = Text(side, border)
    value = text.view("%u", border, border)
    for number in range(1, n_operations - 1):
        turn = number % 4
        if turn == 1:
            row, column = number // 4 % (2 * border + 1), number // 36 % (2 * border + 1)
            shifted = text.view("%u", row, column)
        elif turn == 2:
            value = text.combine("add", value, shifted)
        elif turn == 3:
            value = text.scale(value, "half")
        else:
            value = text.combine("sub", value, shifted)
    text.store(value, "%u")
    return program(text, {"u": "warm"}, {"half": 0.5, "warm": 1.5})
