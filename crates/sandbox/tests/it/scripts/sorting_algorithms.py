import functools
import operator
import random

random.seed(7)
numbers = [random.randint(0, 100) for _ in range(15)]


def quick(items):
    if len(items) < 2:
        return items
    pivot, *rest = items
    return quick([x for x in rest if x < pivot]) + [pivot] + quick([x for x in rest if x >= pivot])


def merge(items):
    if len(items) < 2:
        return items
    left, right = merge(items[: len(items) // 2]), merge(items[len(items) // 2:])
    out = []
    while left and right:
        out.append((left if left[0] <= right[0] else right).pop(0))
    return out + left + right


print(numbers)
print(quick(numbers) == merge(numbers) == sorted(numbers), quick(numbers))
people = [{"n": "Bo", "a": 30}, {"n": "Al", "a": 30}, {"n": "Cy", "a": 25}]
print([p["n"] for p in sorted(people, key=operator.itemgetter("a", "n"))])
print(sorted("banana", key=functools.cmp_to_key(lambda a, b: (b > a) - (b < a))))
