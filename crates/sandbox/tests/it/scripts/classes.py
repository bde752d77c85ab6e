from abc import ABC, abstractmethod


class Shape(ABC):
    count = 0

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Shape.count += 1

    @property
    @abstractmethod
    def area(self): ...

    def __lt__(self, other):
        return self.area < other.area

    def __repr__(self):
        return f"{type(self).__name__}({self.area:.1f})"


class Square(Shape):
    def __init__(self, side):
        self._side = side

    @property
    def area(self):
        return self._side**2

    @classmethod
    def unit(cls):
        return cls(1)

    @staticmethod
    def corners():
        return 4


class Double(Square):
    @property
    def area(self):
        return 2 * super().area


print(sorted([Double(2), Square(3), Square.unit()]), Square.corners(), Shape.count, Double.__mro__[1].__name__)
try:
    Shape()
except TypeError as error:
    print(str(error).split(" with")[0])


class Money:
    __slots__ = ("cents",)

    def __init__(self, cents):
        self.cents = cents

    def __add__(self, other):
        return Money(self.cents + other.cents)

    def __eq__(self, other):
        return self.cents == other.cents

    def __getattr__(self, name):
        return f"no {name}"


print((Money(5) + Money(7)).cents, Money(1) == Money(1), Money(1).color, hasattr(Money, "__dict__"))
