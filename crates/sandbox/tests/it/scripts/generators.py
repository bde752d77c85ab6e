from itertools import islice


def primes():
    found = []
    number = 2
    while True:
        if all(number % prime for prime in found):
            found.append(number)
            yield number
        number += 1


def flatten(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flatten(item)
    else:
        yield value


def average():
    total = count = 0
    result = None
    while True:
        total += yield result
        count += 1
        result = total / count


print(list(islice(primes(), 12)), list(flatten([1, [2, (3, [4])], 5])))
mean = average()
next(mean)
print([mean.send(n) for n in (10, 20, 60)])
mean.close()
print(sum(n * n for n in range(1000) if n % 3 == 0))
