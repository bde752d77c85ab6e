def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    minor = lambda column: [row[:column] + row[column + 1:] for row in m[1:]]
    return sum((-1) ** c * m[0][c] * determinant(minor(c)) for c in range(len(m)))


a = [[2, 0, 1], [1, 3, 2], [1, 1, 4]]
identity = [[int(i == j) for j in range(3)] for i in range(3)]
print(multiply(a, identity) == a, determinant(a), [list(row) for row in zip(*a)])
power = identity
for _ in range(5):
    power = multiply(power, a)
for row in power:
    print(" ".join(f"{n:6d}" for n in row))
import array
import cmath
print(array.array("d", [1.5, 2.5]).tolist(), [round(abs(z), 3) for z in (3 + 4j, cmath.exp(1j))])
