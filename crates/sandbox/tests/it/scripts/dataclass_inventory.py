from dataclasses import asdict, dataclass, field, replace


@dataclass(order=True)
class Item:
    price: float
    name: str = field(compare=False)
    tags: list[str] = field(default_factory=list, compare=False, repr=False)

    def __post_init__(self):
        if self.price < 0:
            raise ValueError(f"negative price for {self.name}")


items = [Item(3.5, "pen"), Item(1.25, "clip", ["metal"]), Item(20, "book")]
print(sorted(items), max(items).name)
print(asdict(items[1]), replace(items[0], price=4))
try:
    Item(-1, "debt")
except ValueError as error:
    print("error:", error)


@dataclass(frozen=True, slots=True)
class Point:
    x: int = 0
    y: int = 0


print({Point(1, 2): "a"}[Point(1, 2)], Point())
try:
    Point().x = 5
except Exception as error:
    print(type(error).__name__)
